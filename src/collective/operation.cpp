#include "collective/operation.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "input/error.hpp"

namespace trainyard::collective {
namespace {

using workload::CollectiveOp;

struct Name {
  std::string_view text;
  CollectiveOp op;
};

constexpr std::array<Name, 14> kNames{{{"all_reduce", CollectiveOp::all_reduce},
                                       {"all_gather", CollectiveOp::all_gather},
                                       {"reduce_scatter", CollectiveOp::reduce_scatter},
                                       {"broadcast", CollectiveOp::broadcast},
                                       {"reduce", CollectiveOp::reduce},
                                       {"all_to_all", CollectiveOp::all_to_all},
                                       {"alltoall", CollectiveOp::all_to_all},
                                       {"alltoallv", CollectiveOp::all_to_all},
                                       {"all_to_all_v", CollectiveOp::all_to_all},
                                       {"send_recv", CollectiveOp::send_recv},
                                       {"sendrecv", CollectiveOp::send_recv},
                                       {"gather", CollectiveOp::gather},
                                       {"scatter", CollectiveOp::scatter},
                                       {"barrier", CollectiveOp::barrier}}};

}  // namespace

std::optional<CollectiveOp> parse_op(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text) {
      return name.op;
    }
  }
  return std::nullopt;
}

std::string unknown_op(std::string_view text) {
  std::vector<std::string> known;
  known.reserve(kNames.size());
  for (const Name& name : kNames) {
    known.emplace_back(name.text);
  }
  return fmt::format(
      "must be a collective (all_reduce, all_gather, reduce_scatter, broadcast, "
      "reduce, alltoall, sendrecv, gather, scatter, barrier), got \"{}\"{}",
      text, input::suggestion(text, known));
}

double bus_factor(CollectiveOp op, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return (n - 1.0) / n;
    default:
      return 1.0;
  }
}

}  // namespace trainyard::collective
