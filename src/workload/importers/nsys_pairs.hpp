#pragma once

#include <vector>

#include "workload/importers/recording.hpp"

namespace trainyard::workload {

/// Groups the communication kernels of profiles that say nothing of communicators.
///
/// Where the n-th stream with communication has the same operations on every rank, nothing is done:
/// `match_collectives` takes them as those of one group of all ranks. Else (a window that cuts a
/// collective on some ranks, several communicators) kernels of one operation that end on several
/// ranks within `kEndsTogether` are one collective of these ranks, for a collective ends everywhere
/// at the same time. What has no partner, or would change the order of its group on some rank, is a
/// group of its own rank, and is counted.
/// Precondition: every KinetoFile::rank is set, and different.
void pair_communication(std::vector<Recording>& recordings);

/// The ends of one collective on the GPUs of one job, of one clock, are a few us apart.
inline constexpr std::int64_t kEndsTogether = 100'000;  // ns

}  // namespace trainyard::workload
