#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "collective/shape.hpp"

namespace trainyard::collective {

/// How one algorithm would run the call; nothing where it cannot.
/// @param request  group of at least two GPUs
using MakeShape = std::optional<Shape> (*)(const Context& context, const Request& request);

struct Algorithm {
  std::string_view name;
  MakeShape make;
};

/// All of them. A planner takes the one that ends first alone. An own one is a file and a row.
[[nodiscard]] const std::vector<Algorithm>& algorithms();

/// Rings over all members: the calls that are not pairwise.
std::optional<Shape> ring(const Context& context, const Request& request);
/// Double binary tree between nodes, a chain inside each: all_reduce over several nodes.
std::optional<Shape> tree(const Context& context, const Request& request);
/// Reduction inside NVSwitch (NVLS): all_reduce on the GPUs of one switch plane.
std::optional<Shape> nvls(const Context& context, const Request& request);
/// NVLS in each node, double binary trees between them.
std::optional<Shape> nvls_tree(const Context& context, const Request& request);
/// Reduction in the switches of the fabric (SHARP), where it says that it can: all_reduce.
std::optional<Shape> sharp(const Context& context, const Request& request);
/// Along all dimensions of a torus in both directions at once: all_reduce, all_gather and
/// reduce_scatter over one GPU of each of its nodes.
/// @source bytes: hardware-facts of TPU pods, 2 S (n-1)/n over four links a chip
std::optional<Shape> torus(const Context& context, const Request& request);
/// Messages between pairs: all_to_all, send_recv, gather, scatter.
std::optional<Shape> pairwise(const Context& context, const Request& request);

[[nodiscard]] bool is_pairwise(workload::CollectiveOp op);

}  // namespace trainyard::collective
