#pragma once

#include <string>

#include "validation/report.hpp"

namespace trainyard::validation {

/// Times of nccl-tests tables, in us. Columns: `topology` (a name of ours), `gpus`, `bytes` (as
/// nccl-tests counts them), `time_us`; and optional `id` (the table: a family), `collective`
/// (all_reduce), `nodes` (1), `nics` (all), `nccl_version`, `system`, `notes` ("1 process": one
/// process drives all GPUs). GPUs are spread evenly, the first ones of each node.
///
/// Not scored, but shown: rows below 1 MiB, and tables that the shipped unscored.csv names.
/// @throws InputError: missing columns, unknown names, more GPUs than the topology has, ...
[[nodiscard]] Report validate_nccl(const std::string& path);

/// The published table that ships.
[[nodiscard]] std::string published_nccl();

}  // namespace trainyard::validation
