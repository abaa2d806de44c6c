#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::scheduling {

/// Why a job waits at an instant. Where several apply the first of this list counts.
enum class WaitReason : std::uint8_t {
  quota,          ///< its queue may not hold more GPUs
  order,          ///< a job ahead of it waits, and the policy lets none pass
  reservation,    ///< starting it would delay a job that has a reservation
  capacity,       ///< fewer GPUs are free than it asks for
  topology,       ///< enough are free, but not on links or switches that the placement accepts
  fragmentation,  ///< enough are free, but they are scattered over nodes (span = "fit-node")
  repair          ///< GPUs that would do are being repaired
};

[[nodiscard]] std::string_view to_text(WaitReason reason);

class Decisions;

/// What a policy last said of each waiting job. Only changes are reported: with ten thousand jobs
/// in the queue, most passes change the reason of one.
class WaitBook {
 public:
  /// @param job  row of the job in the scenario's job list, >= 0
  void note(Decisions& decisions, int job, WaitReason reason);

 private:
  std::vector<WaitReason> last_{};  ///< by job; a job that just joined waits for order
};

}  // namespace trainyard::scheduling
