#include "scheduling/wait_reason.hpp"

#include <cassert>

#include "scheduling/policy.hpp"

namespace trainyard::scheduling {

std::string_view to_text(WaitReason reason) {
  switch (reason) {
    case WaitReason::quota:
      return "quota";
    case WaitReason::order:
      return "order";
    case WaitReason::reservation:
      return "reservation";
    case WaitReason::capacity:
      return "capacity";
    case WaitReason::topology:
      return "topology";
    case WaitReason::fragmentation:
      return "fragmentation";
    case WaitReason::repair:
      return "repair";
  }
  assert(false);
  return "";
}

void WaitBook::note(Decisions& decisions, int job, WaitReason reason) {
  const auto row = static_cast<std::size_t>(job);
  if (row >= last_.size()) {
    last_.resize(row + 1, WaitReason::order);
  }
  if (last_[row] != reason) {
    last_[row] = reason;
    decisions.hold(job, to_text(reason));
  }
}

}  // namespace trainyard::scheduling
