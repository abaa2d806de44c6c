// The network without SimGrid: all rates anew after every change. For cross-checks and for single
// jobs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/max_min.hpp"
#include "engine/network.hpp"
#include "engine/timer_queue.hpp"

namespace trainyard::engine {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class FluidNetwork final : public Network, private Handler {
 public:
  explicit FluidNetwork(const std::vector<Resource>& resources) {
    for (const Resource& resource : resources) {
      capacity_.push_back(resource.bandwidth.si());
    }
  }

  [[nodiscard]] units::Nanoseconds now() const override { return units::Nanoseconds{now_}; }
  [[nodiscard]] std::uint64_t events() const override { return events_; }

  FlowId start(const FlowSpec& flow, Handler& handler, std::uint64_t token) override {
    const FlowId id = ++last_flow_;
    Flow& made = flows_[id];
    made.spec = flow;
    made.left = flow.size.si();
    made.handler = &handler;
    made.token = token;
    if (flow.latency.count() > 0) {
      made.begin = timers_.add(now_ + flow.latency.count(), *this, id);
    } else {
      begin(made);
    }
    return id;
  }

  units::Bytes cancel(FlowId id) override {
    const auto found = flows_.find(id);
    const units::Bytes left = remaining(id);
    if (found->second.begin != 0) {
      timers_.cancel(found->second.begin);
    }
    flows_.erase(found);
    changed_ = true;
    return left;
  }

  [[nodiscard]] units::Bytes remaining(FlowId id) override {
    const Flow& flow = flows_.at(id);
    const double gone = flow.rate * (static_cast<double>(now_) - flow.since) * 1e-9;
    return units::Bytes{flow.begin != 0 ? flow.left : std::max(flow.left - gone, 0.0)};
  }

  TimerId after(units::Nanoseconds delay, Handler& handler, std::uint64_t token) override {
    return timers_.add(now_ + delay.count(), handler, token);
  }
  void cancel_timer(TimerId timer) override { timers_.cancel(timer); }
  void stop() override { stopped_ = true; }

  void run() override {
    while (!stopped_) {
      if (changed_) {
        share();
      }
      const auto [flow, end] = next_end();
      const std::int64_t timer = timers_.empty() ? kNever : timers_.next();
      if (flow == 0 && timer == kNever) {
        return;
      }
      now_ = std::max(now_, std::min(end, timer));
      ++events_;
      if (flow != 0 && end <= timer) {
        finish(flow);
      } else {
        const TimerQueue::Due due = timers_.pop();
        due.handler->fire(due.token);
      }
    }
  }

 private:
  struct Flow {
    FlowSpec spec{};
    double left = 0.0;  ///< bytes at `since`
    double rate = 0.0;
    double since = 0.0;  ///< ns, not rounded: ends are where fluid theory puts them
    TimerId begin = 0;   ///< while its latency lasts
    Handler* handler = nullptr;
    std::uint64_t token = 0;
  };

  void fire(std::uint64_t id) override {
    --events_;  // ours, not the caller's
    begin(flows_.at(id));
  }

  void begin(Flow& flow) {
    flow.begin = 0;
    flow.since = static_cast<double>(now_);
    changed_ = true;
  }

  /// Moves all flows up to now and shares anew.
  void share() {
    std::vector<Sharer> sharers;
    std::vector<Flow*> moving;
    const auto now = static_cast<double>(now_);
    for (auto& [id, flow] : flows_) {
      if (flow.begin == 0) {
        flow.left = std::max(flow.left - flow.rate * (now - flow.since) * 1e-9, 0.0);
        flow.since = now;
        moving.push_back(&flow);
        sharers.push_back({&flow.spec.resources, flow.spec.cap.si(), flow.spec.weight, 0.0});
      }
    }
    share_max_min(sharers, capacity_);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      moving[i]->rate = sharers[i].rate;
    }
    changed_ = false;
  }

  /// The flow that ends first, the one started first of equals.
  [[nodiscard]] std::pair<FlowId, std::int64_t> next_end() const {
    std::pair<FlowId, std::int64_t> first{0, kNever};
    for (const auto& [id, flow] : flows_) {
      if (flow.begin != 0) {
        continue;
      }
      const auto end =
          static_cast<std::int64_t>(std::llround(flow.since + flow.left / flow.rate * 1e9));
      if (end < first.second) {
        first = {id, end};
      }
    }
    return first;
  }

  void finish(FlowId id) {
    const auto found = flows_.find(id);
    Handler* handler = found->second.handler;
    const std::uint64_t token = found->second.token;
    flows_.erase(found);
    changed_ = true;
    handler->fire(token);
  }

  std::vector<double> capacity_{};
  std::map<FlowId, Flow> flows_{};
  TimerQueue timers_{};
  FlowId last_flow_ = 0;
  std::int64_t now_ = 0;
  std::uint64_t events_ = 0;
  bool changed_ = false;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Network> make_fluid_network(const std::vector<Resource>& resources) {
  return std::make_unique<FluidNetwork>(resources);
}

}  // namespace trainyard::engine
