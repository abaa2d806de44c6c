#pragma once

#include <vector>

#include "workload/importers/recording.hpp"
#include "workload/importers/sqlite.hpp"

namespace trainyard::workload {

/// The database is an export of Nsight Systems: it has its metadata or its string table.
[[nodiscard]] bool is_nsys(const Sqlite& database);

/// Reads `nsys export --type sqlite`: one recording for each GPU of each process, ordered by
/// process and device. Columns are found by name, tables may be missing, except that there must be
/// GPU work. Times are ns since the session began, `KinetoFile::base` its start since the epoch.
///
///   * Launches are joined by process and correlation id; a process with several GPUs gives each
///     its own launches, and all of its other calls.
///   * Kernels that a graph ran are listed, or, with the default of the tool, only the graph as a
///     whole: then it is one kernel-like operation named `kGraphRun`.
///   * NVTX ranges are steps where `find_nvtx_steps` finds some; ranges of NCCL are communication
///     ranges.
///
/// @throws InputError: no GPU work, a missing column, text for a number, an end before its start
[[nodiscard]] std::vector<Recording> read_nsys(const Sqlite& database);

}  // namespace trainyard::workload
