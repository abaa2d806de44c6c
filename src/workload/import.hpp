#pragma once

#include <string>
#include <vector>

#include "workload/step.hpp"

namespace trainyard::workload {

/// Counts and times of one rank as recorded: what `workload show` prints, meaning what
/// profiles/README.md says of the columns of the same name. Times in ns.
struct DeviceStatistics {
  int rank = -1;  ///< -1 unknown
  int device = 0;
  std::string gpu{};
  std::int64_t n_kernels = 0, n_comm = 0, n_memcpy = 0, n_memset = 0, n_steps = 0;
  units::Nanoseconds kernel{}, comm_kernel{}, memcpy{}, memset{}, gpu_span{}, busy{}, idle{},
      compute_union{}, comm_union{}, overlap{}, exposed_comm{};
  std::int64_t memcpy_bytes = 0, memset_bytes = 0;
  std::vector<units::Nanoseconds> step{};  ///< each marked step, in order
};

enum class ProfileFormat { automatic, kineto, nsys, nvprof };

[[nodiscard]] const char* to_text(ProfileFormat format);

/// Profiles as one workload. Several paths (or a folder) are the ranks of one job; one file may
/// hold several of them. The format of each is told by its content.
/// @param format  what every profile must be, unless automatic
/// @throws InputError as `import_kineto`; for a file in another format; for several formats
[[nodiscard]] Workload import_profiles(const std::vector<std::string>& paths, std::string_view name,
                                       ProfileFormat format = ProfileFormat::automatic);

/// Profiles of PyTorch as one workload: `import_profiles` of that format.
/// @throws InputError: missing or empty file, truncated gzip, JSON cut in the middle (with the byte
///         offset), no GPU events, ranks that disagree on a collective, two files of one rank.
[[nodiscard]] Workload import_kineto(const std::vector<std::string>& paths, std::string_view name);

/// Statistics of a workload's timelines, as recorded (collectives with their recorded duration).
[[nodiscard]] std::vector<DeviceStatistics> statistics(const Workload& workload);

}  // namespace trainyard::workload
