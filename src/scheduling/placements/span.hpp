#pragma once

#include "scheduling/devices.hpp"
#include "scheduling/policy.hpp"

namespace trainyard::scheduling {

/// How far a job may be spread: `span = "any" | "fit-node"` of [scheduler]. With fit-node a job of
/// at most a node's GPUs (the largest node's, where they differ) must sit in one node.
enum class Span { any, fit_node };

/// Absent: any. @throws InputError for another word.
[[nodiscard]] Span read_span(const input::Section& scheduler);

/// Must this job sit in one node?
[[nodiscard]] bool in_one_node(Span span, const Devices& devices, const JobView& job);

/// Node indices, most free GPUs first; ties: lowest index.
[[nodiscard]] std::vector<int> emptiest_first(const Devices& devices);

/// GPUs to take from a node.
struct Share {
  int node = 0;
  int gpus = 0;
};

/// The lowest-indexed free GPUs of each node, in rank order: nodes ascending, GPUs ascending.
/// Precondition: each node is named once and has as many free.
[[nodiscard]] std::vector<topology::GpuId> gpus_of(const Devices& devices,
                                                   std::vector<Share> shares);

}  // namespace trainyard::scheduling
