#include "engine/timer_queue.hpp"

#include <algorithm>

namespace trainyard::engine {
namespace {

constexpr unsigned kGenerationShift = 32;

std::uint32_t index_of(TimerId timer) {
  return static_cast<std::uint32_t>(timer) - 1;
}

}  // namespace

bool TimerQueue::later(const Entry& a, const Entry& b) {
  return a.time != b.time ? a.time > b.time : a.order > b.order;
}

TimerId TimerQueue::add(std::int64_t time, Handler& handler, std::uint64_t token) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.live = true;
  slot.due = {&handler, token};
  const TimerId id = (static_cast<TimerId>(slot.generation) << kGenerationShift) | (index + 1U);
  heap_.push_back({time, order_++, id});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return id;
}

TimerQueue::Slot& TimerQueue::slot_of(TimerId timer) {
  return slots_[index_of(timer)];
}

void TimerQueue::release(TimerId timer) {
  Slot& slot = slot_of(timer);
  slot.live = false;
  ++slot.generation;
  free_.push_back(index_of(timer));
}

void TimerQueue::cancel(TimerId timer) {
  const Slot& slot = slot_of(timer);
  if (slot.live && slot.generation == timer >> kGenerationShift) {
    release(timer);
  }
}

void TimerQueue::drop_cancelled() {
  while (!heap_.empty()) {
    const TimerId id = heap_.front().id;
    const Slot& slot = slot_of(id);
    if (slot.live && slot.generation == id >> kGenerationShift) {
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
}

bool TimerQueue::empty() {
  drop_cancelled();
  return heap_.empty();
}

std::int64_t TimerQueue::next() {
  drop_cancelled();
  return heap_.front().time;
}

TimerQueue::Due TimerQueue::pop() {
  drop_cancelled();
  const TimerId id = heap_.front().id;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  const Due due = slot_of(id).due;
  release(id);
  return due;
}

}  // namespace trainyard::engine
