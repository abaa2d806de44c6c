#include "workload/importers/kineto_threads.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace trainyard::workload {
namespace {

bool is_kept(const KinetoFile& file, const Links& links, std::size_t call) {
  return !links.launches[call].empty() || blocks(file.calls[call].kind);
}

// A copy blocks when its call contains the end of its own copy.
bool contains_own_copy(const Links& links, const HostCall& call, std::size_t index) {
  if (call.kind != CallKind::copy || links.launches[index].empty()) {
    return false;
  }
  const std::int64_t end = links.ops[static_cast<std::size_t>(links.launches[index].front())].end;
  return end >= call.start && end <= call.end;
}

std::int64_t find_window_start(const KinetoFile& file, const Links& links) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < file.calls.size(); ++i) {
    if (is_kept(file, links, i)) {
      start = std::min(start, file.calls[i].start);
    }
  }
  for (const StepRange& step : file.steps) {
    start = std::min(start, step.start);
  }
  for (const GpuOp& op : links.ops) {
    start = std::min(start, op.start);
  }
  return start;
}

void add_calls(const KinetoFile& file, const Links& links, Threads& threads) {
  for (std::size_t i = 0; i < file.calls.size(); ++i) {
    if (!is_kept(file, links, i)) {
      continue;
    }
    const HostCall& call = file.calls[i];
    const auto index = static_cast<int>(i);
    const std::int64_t start = call.start - threads.window_start;
    const std::int64_t end = call.end - threads.window_start;
    threads.instants.push_back({start, call.thread, Instant::Kind::call, index, -1});
    if (blocks(call.kind) || contains_own_copy(links, call, i)) {
      const auto kind = end > start ? Instant::Kind::returned : Instant::Kind::returned_at_once;
      threads.instants.push_back({end, call.thread, kind, index, -1});
    }
  }
}

void add_steps(const KinetoFile& file, Threads& threads) {
  threads.steps = file.steps;
  for (StepRange& step : threads.steps) {
    step.start -= threads.window_start;
    step.end -= threads.window_start;
  }
  std::sort(threads.steps.begin(), threads.steps.end(), [](const StepRange& a, const StepRange& b) {
    return std::tie(a.start, a.end, a.name) < std::tie(b.start, b.end, b.name);
  });
  for (std::size_t i = 0; i < threads.steps.size(); ++i) {
    const StepRange& step = threads.steps[i];
    const auto index = static_cast<int>(i);
    threads.instants.push_back({step.start, step.thread, Instant::Kind::step_begin, -1, index});
    threads.instants.push_back({step.end, step.thread, Instant::Kind::step_end, -1, index});
  }
}

// Threads are numbered by their first instant: the numbers of the file depend on its event order.
void renumber(const KinetoFile& file, Threads& threads) {
  std::map<int, std::tuple<std::int64_t, int, std::int64_t>> first;  // time, kind, correlation
  for (const Instant& instant : threads.instants) {
    const std::int64_t correlation =
        instant.call < 0 ? -1 : file.calls[static_cast<std::size_t>(instant.call)].correlation;
    const std::tuple key{instant.time, static_cast<int>(instant.kind), correlation};
    const auto [found, is_new] = first.try_emplace(instant.thread, key);
    found->second = is_new ? key : std::min(found->second, key);
  }
  std::vector<std::pair<std::tuple<std::int64_t, int, std::int64_t>, int>> order;
  order.reserve(first.size());
  for (const auto& [thread, key] : first) {
    order.emplace_back(key, thread);
  }
  std::sort(order.begin(), order.end());
  std::map<int, int> numbers;
  for (const auto& [key, thread] : order) {
    numbers.emplace(thread, threads.count++);
  }
  for (Instant& instant : threads.instants) {
    instant.thread = numbers.at(instant.thread);
  }
  for (StepRange& step : threads.steps) {
    step.thread = numbers.at(step.thread);
  }
}

}  // namespace

bool blocks(CallKind kind) {
  return kind == CallKind::stream_sync || kind == CallKind::device_sync ||
         kind == CallKind::event_sync || kind == CallKind::free;
}

int Threads::step_at(std::int64_t time) const {
  for (std::size_t i = steps.size(); i > 0; --i) {
    if (steps[i - 1].start <= time && time < steps[i - 1].end) {
      return static_cast<int>(i - 1);
    }
  }
  return -1;
}

Threads find_instants(const KinetoFile& file, const Links& links) {
  Threads threads;
  threads.window_start = find_window_start(file, links);
  add_calls(file, links, threads);
  add_steps(file, threads);
  renumber(file, threads);
  const auto key = [&](const Instant& instant) {
    const std::int64_t correlation =
        instant.call < 0 ? -1 : file.calls[static_cast<std::size_t>(instant.call)].correlation;
    return std::tuple{instant.time, instant.thread, instant.kind, correlation, instant.step};
  };
  std::sort(threads.instants.begin(), threads.instants.end(),
            [&](const Instant& a, const Instant& b) { return key(a) < key(b); });
  return threads;
}

}  // namespace trainyard::workload
