#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workload/importers/kineto_events.hpp"
#include "workload/importers/recording.hpp"
#include "workload/importers/sqlite.hpp"

namespace trainyard::workload {

/// A closed NVTX range of one thread; times as in the file.
struct NvtxRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  int thread = 0;
  std::string_view text{};
};

/// One process of an export of Nsight Systems. Its KinetoFile has the GPU work of all its devices.
struct NsysProcess {
  KinetoFile file{};
  std::map<std::int64_t, int> device_of_context{};
  std::unordered_map<std::int64_t, int> name_numbers{};  ///< by id of the text
  std::unordered_map<std::int64_t, int> threads{};       ///< by globalTid
  std::vector<NvtxRange> ranges{};                       ///< that may be steps

  /// Number of a thread, given at first sight.
  [[nodiscard]] int thread(std::int64_t global_thread);
};

/// The texts of the export by id.
class NsysStrings {
 public:
  NsysStrings(const Sqlite& database, TextStore& store);
  /// Empty for an unknown id.
  [[nodiscard]] std::string_view text(std::int64_t id) const;

 private:
  std::unordered_map<std::int64_t, std::string_view> texts_{};
};

/// Processes by their number: global ids without the part of the thread. 0 where an export has
/// none.
using NsysProcesses = std::map<std::int64_t, NsysProcess>;

/// The part of a globalPid or globalTid that names the process (hardware, virtual machine, pid).
[[nodiscard]] std::int64_t process_of(std::int64_t global_id);

/// The pid alone.
[[nodiscard]] std::int64_t pid_of(std::int64_t process);

/// The process of a call or range: the only one where the GPU work does not say whose it is; null
/// for a process without GPU work.
[[nodiscard]] NsysProcess* find_process(NsysProcesses& processes, std::int64_t global_id);

/// A time in ns that sums of a recording can hold. @throws InputError at the row
[[nodiscard]] std::int64_t checked_time(const SqliteRows& rows, std::int64_t time);

/// Kernels, copies, fills and graphs that ran as a whole.
void read_gpu_work(const Sqlite& database, const NsysStrings& strings, TextStore& store,
                   NsysProcesses& processes);

/// Runtime and driver calls, and what the synchronising ones waited for. After `read_gpu_work`.
void read_calls(const Sqlite& database, const NsysStrings& strings, NsysProcesses& processes);

/// NVTX ranges: those of NCCL as communication ranges, the others that may be steps.
void read_ranges(const Sqlite& database, const NsysStrings& strings, TextStore& store,
                 NsysProcesses& processes);

}  // namespace trainyard::workload
