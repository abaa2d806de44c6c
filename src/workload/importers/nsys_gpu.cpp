// GPU work of an export of Nsight Systems. Column names and enumerations: the exporter's schema
// (ENUM_CUDA_MEMCPY_OPER and others in the file itself).
#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "workload/importers/nsys_process.hpp"

namespace trainyard::workload {
namespace {

constexpr const char* kLostTime = "GPU events with time 0 and duration 0 (time stamp lost)";
constexpr const char* kNoEnd = "GPU events without an end (still running when the session ended)";
constexpr const char* kGraphs =
    "CUDA graphs traced as a whole (kept, their kernels are not listed)";

// Ids of texts are not negative: these number the names that are not in the file.
constexpr std::int64_t kFillName = -1;
constexpr std::int64_t kGraphName = -2;
constexpr std::int64_t kFirstCopyName = -100;

std::string_view copy_name(std::int64_t kind) {
  switch (kind) {
    case 1:
    case 3:   // to an array
    case 11:  // moved by unified memory
      return "Memcpy HtoD";
    case 2:
    case 4:
    case 12:
      return "Memcpy DtoH";
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return "Memcpy DtoD";
    case 10:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

class GpuReader {
 public:
  GpuReader(const Sqlite& database, const NsysStrings& strings, TextStore& store,
            NsysProcesses& processes)
      : database_{database}, strings_{strings}, store_{store}, processes_{processes} {}

  void read() {
    read_kernels();
    read_copies();
    read_fills();
    read_graphs();
  }

 private:
  enum Column : std::size_t { start, end, device, stream, correlation, process, context, node };

  [[nodiscard]] SqliteRows select(std::string_view table,
                                  std::initializer_list<std::string_view> more) const {
    std::vector<std::string_view> optional{"globalPid", "contextId", "graphNodeId"};
    optional.insert(optional.end(), more);
    return database_.select(table, {"start", "end", "deviceId", "streamId", "correlationId"},
                            optional);
  }
  static constexpr std::size_t kMore = 8;  ///< first column of `more`

  // The times of the row are whole.
  static bool has_times(const SqliteRows& rows, NsysProcess& in) {
    const auto first = rows.integer(start);
    const auto last = rows.integer(end);
    if (!first || !last) {
      ++in.file.skipped[kNoEnd];
      return false;
    }
    if (*first == 0 && *last == 0) {
      ++in.file.skipped[kLostTime];
      return false;
    }
    if (*last < *first) {
      rows.fail(fmt::format("the end {} is before the start {}", *last, *first));
    }
    return true;
  }

  // The row as an event of `in`; null if it is left out.
  GpuEvent* add(const SqliteRows& rows, NsysProcess& in, GpuWork work) {
    if (!has_times(rows, in)) {
      return nullptr;
    }
    GpuEvent event;
    event.start = checked_time(rows, rows.needed(start));
    event.duration = checked_time(rows, rows.needed(end)) - event.start;
    event.correlation = rows.integer_or(correlation, 0);
    event.stream = rows.integer_or(stream, 0);
    const std::int64_t number = rows.integer_or(device, 0);
    if (number < 0 || number > std::numeric_limits<std::int16_t>::max()) {
      rows.fail(fmt::format("deviceId is {}, expected a small number", number));
    }
    event.device = static_cast<int>(number);
    event.work = work;
    in.device_of_context.try_emplace(rows.integer_or(context, 0), event.device);
    return &in.file.gpu.emplace_back(event);
  }

  NsysProcess& process_in(const SqliteRows& rows) {
    return processes_[process_of(rows.integer_or(process, 0))];
  }

  int number_of(NsysProcess& in, std::int64_t id, std::string_view name) {
    const auto [found, is_new] =
        in.name_numbers.try_emplace(id, static_cast<int>(in.file.names.size()));
    if (is_new) {
      in.file.names.push_back(store_.emplace_back(valid_text(name, in.file)));
    }
    return found->second;
  }

  void read_kernels() {
    SqliteRows rows =
        select("CUPTI_ACTIVITY_KIND_KERNEL", {"demangledName", "shortName", "mangledName"});
    while (rows.next()) {
      NsysProcess& in = process_in(rows);
      GpuEvent* const event = add(rows, in, GpuWork::kernel);
      if (event == nullptr) {
        continue;
      }
      std::int64_t name = 0;
      for (std::size_t i = 0; i < 3 && name == 0; ++i) {
        name = rows.integer_or(kMore + i, 0);
      }
      event->name = number_of(in, name, strings_.text(name));
      note_node(rows);
    }
  }

  void read_copies() {
    SqliteRows rows = select("CUPTI_ACTIVITY_KIND_MEMCPY", {"bytes", "copyKind"});
    while (rows.next()) {
      NsysProcess& in = process_in(rows);
      if (GpuEvent* const event = add(rows, in, GpuWork::copy)) {
        const std::int64_t kind = rows.integer_or(kMore + 1, 0);
        event->bytes = rows.integer_or(kMore, -1);
        event->name = number_of(in, kFirstCopyName - kind, copy_name(kind));
        note_node(rows);
      }
    }
  }

  void read_fills() {
    SqliteRows rows = select("CUPTI_ACTIVITY_KIND_MEMSET", {"bytes"});
    while (rows.next()) {
      NsysProcess& in = process_in(rows);
      if (GpuEvent* const event = add(rows, in, GpuWork::fill)) {
        event->bytes = rows.integer_or(kMore, -1);
        event->name = number_of(in, kFillName, "Memset");
        note_node(rows);
      }
    }
  }

  // A graph is either listed by its nodes or traced as a whole; files with both name it twice.
  void read_graphs() {
    SqliteRows rows = select("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {});
    while (rows.next()) {
      if (nodes_.contains({rows.integer_or(process, 0), rows.integer_or(correlation, 0)})) {
        continue;
      }
      NsysProcess& in = process_in(rows);
      if (GpuEvent* const event = add(rows, in, GpuWork::kernel)) {
        event->name = number_of(in, kGraphName, kGraphRun);
        ++in.file.skipped[kGraphs];
      }
    }
  }

  void note_node(const SqliteRows& rows) {
    if (rows.integer(node)) {
      nodes_.emplace(rows.integer_or(process, 0), rows.integer_or(correlation, 0));
    }
  }

  const Sqlite& database_;
  const NsysStrings& strings_;
  TextStore& store_;
  NsysProcesses& processes_;
  std::set<std::pair<std::int64_t, std::int64_t>> nodes_{};  ///< (process, launch) of graph nodes
};

}  // namespace

void read_gpu_work(const Sqlite& database, const NsysStrings& strings, TextStore& store,
                   NsysProcesses& processes) {
  GpuReader{database, strings, store, processes}.read();
}

}  // namespace trainyard::workload
