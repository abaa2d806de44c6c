// The host side of an export of Nsight Systems.
#include <array>
#include <limits>
#include <optional>
#include <tuple>

#include "workload/importers/kineto_fields.hpp"
#include "workload/importers/nsys_process.hpp"

namespace trainyard::workload {
namespace {

constexpr const char* kNoEnd = "calls without an end (running when the session ended)";
constexpr std::int64_t kNoStream = std::numeric_limits<std::uint32_t>::max();

void read_runtime(const Sqlite& database, const NsysStrings& strings, NsysProcesses& processes) {
  std::unordered_map<std::int64_t, CallKind> kinds;
  SqliteRows rows = database.select("CUPTI_ACTIVITY_KIND_RUNTIME",
                                    {"start", "end", "globalTid", "correlationId"}, {"nameId"});
  while (rows.next()) {
    const std::int64_t thread = rows.integer_or(2, 0);
    NsysProcess* const in = find_process(processes, thread);
    if (in == nullptr) {
      continue;  // a process without GPU work
    }
    const auto start = rows.integer(0);
    const auto end = rows.integer(1);
    if (!start || !end || *end < *start) {
      ++in->file.skipped[kNoEnd];
      continue;
    }
    const auto [kind, is_new] = kinds.try_emplace(rows.integer_or(4, 0), CallKind::other);
    if (is_new) {
      kind->second = call_kind(strings.text(kind->first));
    }
    in->file.calls.push_back({checked_time(rows, *start), checked_time(rows, *end),
                              rows.integer_or(3, 0), in->thread(thread), kind->second});
  }
}

/// A cudaEventRecord: where it stands.
struct RecordedEvent {
  std::int64_t stream = -1;
  std::int64_t correlation = 0;
};

// (process, context, event, number of its recording).
using EventKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

class SyncReader {
 public:
  SyncReader(const Sqlite& database, NsysProcesses& processes)
      : database_{database}, processes_{processes} {}

  void read() {
    SqliteRows rows = database_.select(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {"correlationId"},
        {"globalPid", "contextId", "streamId", "eventId", "eventSyncId", "deviceId"});
    bool first = true;
    while (rows.next()) {
      if (first) {
        read_events();
        index_calls();
        first = false;
      }
      add(rows);
    }
  }

 private:
  void read_events() {
    SqliteRows rows =
        database_.select("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"eventId", "streamId", "correlationId"},
                         {"globalPid", "contextId", "eventSyncId"});
    while (rows.next()) {
      const std::int64_t recording = rows.integer_or(5, 0);
      if (recording > 0) {
        events_[{rows.integer_or(3, 0), rows.integer_or(4, 0), rows.integer_or(0, 0), recording}] =
            {rows.integer_or(1, -1), rows.integer_or(2, 0)};
      }
    }
  }

  void index_calls() {
    for (const auto& [id, process] : processes_) {
      auto& kinds = kinds_[id];
      for (const HostCall& call : process.file.calls) {
        if (call.kind != CallKind::other) {
          kinds.emplace(call.correlation, call.kind);
        }
      }
      auto& streams = streams_[id];
      for (const GpuEvent& event : process.file.gpu) {
        streams[{event.device, event.stream}] = true;
      }
    }
  }

  // The kind of the call decides: files of 2025.5 number stream synchronisation as stream waits.
  void add(const SqliteRows& rows) {
    const std::int64_t global_id = rows.integer_or(1, 0);
    NsysProcess* const in = find_process(processes_, global_id);
    if (in == nullptr) {
      return;
    }
    const std::int64_t id = process_of(global_id);
    SyncRecord record;
    record.correlation = rows.integer_or(0, 0);
    const auto& kinds = kinds_[id];
    const auto kind = kinds.find(record.correlation);
    if (kind == kinds.end()) {
      return;
    }
    // The device of these rows is wrong in processes that see several.
    const std::int64_t context = rows.integer_or(2, 0);
    const auto device = in->device_of_context.find(context);
    record.device = device == in->device_of_context.end() ? static_cast<int>(rows.integer_or(6, 0))
                                                          : device->second;
    const std::int64_t stream = rows.integer_or(3, kNoStream);
    const auto event =
        events_.find({global_id, context, rows.integer_or(4, 0), rows.integer_or(5, 0)});
    if (complete(record, kind->second, id, stream == kNoStream ? -1 : stream,
                 event == events_.end() ? nullptr : &event->second)) {
      in->file.syncs.push_back(record);
    }
  }

  // False where too little is known: then the graph guesses, as without a record.
  bool complete(SyncRecord& record, CallKind kind, std::int64_t id, std::int64_t stream,
                const RecordedEvent* event) {
    switch (kind) {
      case CallKind::stream_sync:
        record.kind = SyncKind::stream;
        record.source = stream;
        return stream >= 0;
      case CallKind::device_sync:
        record.kind = SyncKind::context;
        return true;
      case CallKind::event_sync:
        record.kind = SyncKind::event;
        break;
      case CallKind::stream_wait:
        record.kind = SyncKind::stream_waits;
        record.stream = stream;
        // A stream without work of its own keeps nothing waiting.
        if (stream >= 0 && !streams_[id].contains({record.device, stream})) {
          return true;
        }
        break;
      default:
        return false;
    }
    if (event == nullptr) {
      return false;
    }
    record.source = event->stream;
    record.record_correlation = event->correlation;
    return true;
  }

  const Sqlite& database_;
  NsysProcesses& processes_;
  std::map<EventKey, RecordedEvent> events_{};
  std::map<std::int64_t, std::unordered_map<std::int64_t, CallKind>> kinds_{};
  std::map<std::int64_t, std::map<std::pair<int, std::int64_t>, bool>> streams_{};
};

}  // namespace

void read_calls(const Sqlite& database, const NsysStrings& strings, NsysProcesses& processes) {
  read_runtime(database, strings, processes);
  SyncReader{database, processes}.read();
}

}  // namespace trainyard::workload
