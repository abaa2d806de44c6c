// NVTX ranges of an export of Nsight Systems.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "workload/importers/nsys_process.hpp"
#include "workload/importers/nsys_steps.hpp"

namespace trainyard::workload {
namespace {

// ENUM_NSYS_EVENT_TYPE of the exports.
constexpr std::int64_t kPushPop = 59;
constexpr std::int64_t kStartEnd = 60;

/// How NCCL names the ranges around its calls, and what the call does as profiles of PyTorch name
/// it. The end of a group launches what stands in it, and single messages may be parts of an
/// all-to-all: only the kernel says what these are.
struct NcclRange {
  std::string_view name{};
  std::string_view operation{};
};

const NcclRange* nccl_range(std::string_view text) {
  static constexpr std::array<NcclRange, 12> kRanges{{{"ncclAllReduce", "allreduce"},
                                                      {"ncclAllGather", "allgather"},
                                                      {"ncclReduceScatter", "reducescatter"},
                                                      {"ncclBroadcast", "broadcast"},
                                                      {"ncclBcast", "broadcast"},
                                                      {"ncclReduce", "reduce"},
                                                      {"ncclAlltoAll", "alltoall"},
                                                      {"ncclGather", "gather"},
                                                      {"ncclScatter", "scatter"},
                                                      {"ncclSend", ""},
                                                      {"ncclRecv", ""},
                                                      {"ncclGroupEnd", ""}}};
  const auto* const found = std::find_if(
      kRanges.begin(), kRanges.end(), [&](const NcclRange& range) { return range.name == text; });
  return found == kRanges.end() ? nullptr : found;
}

// Ranges that PyTorch makes for its operators ("aten::add, op_id = 12") are far too many.
bool may_be_step(std::string_view text) {
  return !text.empty() && text.find("op_id = ") == std::string_view::npos &&
         !text.starts_with("aten::") && !text.starts_with("nccl");
}

void add_range(const SqliteRows& rows, std::string_view text, TextStore& store, NsysProcess& in) {
  NvtxRange range;
  range.start = checked_time(rows, rows.needed(0));
  range.end = checked_time(rows, rows.needed(1));
  if (const NcclRange* const known = nccl_range(text)) {
    const auto number = static_cast<int>(in.file.communication.size());
    in.file.communication.emplace_back().collective = known->operation;
    in.file.ranges.push_back({range.start, range.end, in.thread(rows.integer_or(2, 0)), number});
  } else if (may_be_step(text)) {
    range.thread = in.thread(rows.integer_or(2, 0));
    range.text = store.emplace_back(valid_text(text, in.file));
    in.ranges.push_back(range);
  }
}

std::vector<std::int64_t> launch_times(const KinetoFile& file) {
  std::unordered_set<std::int64_t> launching;
  for (const GpuEvent& event : file.gpu) {
    launching.insert(event.correlation);
  }
  std::vector<std::int64_t> times;
  for (const HostCall& call : file.calls) {
    if (launching.contains(call.correlation)) {
      times.push_back(call.start);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

void read_ranges(const Sqlite& database, const NsysStrings& strings, TextStore& store,
                 NsysProcesses& processes) {
  SqliteRows rows = database.select("NVTX_EVENTS", {"start", "end", "globalTid"},
                                    {"eventType", "text", "textId"});
  while (rows.next()) {
    const std::int64_t type = rows.integer_or(3, kPushPop);
    const auto start = rows.integer(0);
    const auto end = rows.integer(1);
    NsysProcess* const in = find_process(processes, rows.integer_or(2, 0));
    if ((type != kPushPop && type != kStartEnd) || !start || !end || *end < *start ||
        in == nullptr) {
      continue;
    }
    const std::string_view text = rows.text(4);
    add_range(rows, text.empty() ? strings.text(rows.integer_or(5, -1)) : text, store, *in);
  }
  for (auto& [id, process] : processes) {
    if (!process.ranges.empty()) {
      process.file.steps = find_nvtx_steps(process.ranges, launch_times(process.file));
    }
  }
}

}  // namespace trainyard::workload
