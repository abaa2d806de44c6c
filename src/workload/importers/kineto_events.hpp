#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workload/importers/inflate.hpp"

namespace trainyard::workload {

/// What a profile says of one communication call: on the kernel, on `record_param_comms`, or on the
/// "nccl:..." range around the launch. Empty and -1: not said. Texts point into the profile.
struct CommunicationInfo {
  std::string_view collective{};  ///< "allreduce", "_allgather_base", "nccl:all_to_all", ...
  std::int64_t in_elements = -1;
  std::int64_t out_elements = -1;
  std::string_view dtype{};  ///< "Float", "c10::Half", "long int", ...
  int group_size = -1;
  std::string_view group{};  ///< process group name, or its id
  std::string_view ranks{};  ///< "[0, 1]", possibly cut with an ellipsis
  int rank_start = -1;
  int rank_stride = -1;
  int source = -1;  ///< send and receive: global ranks
  int destination = -1;
};

enum class GpuWork { kernel, copy, fill };

/// A kernel, copy or fill. Times in ns on the profile's clock, relative to its base time.
struct GpuEvent {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t correlation = 0;  ///< 0: none
  std::int64_t stream = 0;
  std::int64_t bytes = -1;
  int device = 0;
  int name = 0;            ///< index into KinetoFile::names
  int communication = -1;  ///< index into KinetoFile::communication
  GpuWork work = GpuWork::kernel;
};

/// What a runtime or driver call may do besides launching.
enum class CallKind { other, copy, stream_wait, stream_sync, device_sync, event_sync, free };

struct HostCall {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t correlation = 0;
  int thread = 0;  ///< number given at first sight
  CallKind kind = CallKind::other;
};

struct StepRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  int thread = 0;
  std::string name{};
};

/// A `record_param_comms` or "nccl:..." range on a host thread.
struct CommunicationRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  int thread = 0;
  int communication = 0;  ///< index into KinetoFile::communication
};

enum class SyncKind { stream, event, context, stream_waits };

/// A `cuda_sync` record: what a synchronising call waited for. Streams -1: not said, or all.
struct SyncRecord {
  SyncKind kind = SyncKind::stream;
  int device = -1;
  std::int64_t correlation = 0;
  std::int64_t stream = -1;              ///< stream_waits: the stream that waits
  std::int64_t source = -1;              ///< stream waited for
  std::int64_t record_correlation = -1;  ///< of the cudaEventRecord call
};

struct ProcessGroup {
  std::string name{};
  std::vector<int> ranks{};
};

/// One profile, parsed into what the step graph needs; everything else is counted and dropped.
struct KinetoFile {
  std::int64_t base = 0;  ///< baseTimeNanoseconds
  int rank = -1;
  int world_size = -1;
  std::map<std::int64_t, std::string> devices{};  ///< names by device id
  std::vector<ProcessGroup> groups{};
  std::vector<std::string_view> names{};  ///< kernel names as written between the quotes
  std::vector<GpuEvent> gpu{};
  std::vector<HostCall> calls{};
  std::vector<StepRange> steps{};
  std::vector<CommunicationInfo> communication{};
  std::vector<CommunicationRange> ranges{};
  std::vector<SyncRecord> syncs{};
  std::map<std::string, std::int64_t> skipped{};
};

/// Parses a Kineto Chrome trace in one pass. Any key order; an object or a bare array of events,
/// the array with or without its closing bracket.
/// @param text  must outlive the result, which points into it; a missing bracket is added to it
/// @param name  what errors call it (a path)
/// @throws InputError at name:line:column for text that is not JSON, is cut, or has a kept event
///         with a negative duration or a time that is no finite number
[[nodiscard]] KinetoFile parse_kineto(PaddedText& text, std::string_view name);

}  // namespace trainyard::workload
