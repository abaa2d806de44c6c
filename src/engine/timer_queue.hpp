#pragma once

#include <cstdint>
#include <vector>

#include "engine/network.hpp"

namespace trainyard::engine {

/// Pending timers by (time, order of the calls). Cancelled ones stay in the heap until they come
/// up.
class TimerQueue {
 public:
  TimerId add(std::int64_t time, Handler& handler, std::uint64_t token);
  void cancel(TimerId timer);
  [[nodiscard]] bool empty();         ///< nothing live is pending
  [[nodiscard]] std::int64_t next();  ///< time of the first; precondition: not empty

  struct Due {
    Handler* handler = nullptr;
    std::uint64_t token = 0;
  };
  Due pop();  ///< takes the first; precondition: not empty

 private:
  struct Entry {
    std::int64_t time = 0;
    std::uint64_t order = 0;
    TimerId id = 0;
  };
  struct Slot {
    std::uint32_t generation = 0;
    bool live = false;
    Due due{};
  };
  static bool later(const Entry& a, const Entry& b);
  void drop_cancelled();
  [[nodiscard]] Slot& slot_of(TimerId timer);
  void release(TimerId timer);

  std::vector<Entry> heap_{};
  std::vector<Slot> slots_{};
  std::vector<std::uint32_t> free_{};
  std::uint64_t order_ = 0;
};

}  // namespace trainyard::engine
