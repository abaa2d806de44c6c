#pragma once

#include <string>
#include <string_view>

#include "workload/step.hpp"

namespace trainyard::workload {

/// The name of the function in a demangled kernel name: no return type, template arguments or
/// parameters. "void at::native::reduce_kernel<512, 1>(Op)" gives "at::native::reduce_kernel".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

/// Communication kernels: NCCL, RCCL, DeepEP (`::ep::internode`), NVSHMEM, fused one-shot
/// all-reduce of TensorRT-LLM and vLLM.
[[nodiscard]] bool is_communication_kernel(std::string_view name);

/// How the kernel's time scales, guessed from its full name.
[[nodiscard]] Category kernel_category(std::string_view name);

/// The collective in a kernel name, a "nccl:..." range or a "Collective name"; nullopt when the
/// text does not say, or says only that it sends and receives.
[[nodiscard]] std::optional<CollectiveOp> collective_in(std::string_view text);

/// Direction of a copy from its name ("Memcpy HtoD (Pinned -> Device)").
[[nodiscard]] CopyKind copy_kind(std::string_view name);

}  // namespace trainyard::workload
