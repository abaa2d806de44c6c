// The network on SimGrid. One flat zone holds one one-way link a resource; each flow brings its own
// path. Time is ours: timers sit in a heap that SimGrid sees as one more model, and all call-backs
// come from that model's turn, when SimGrid's own state is settled.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "engine/network.hpp"
#include "engine/simgrid_shim.hpp"
#include "engine/timer_queue.hpp"

namespace trainyard::engine {
namespace {

namespace routing = simgrid::kernel::routing;
namespace s4u = simgrid::s4u;

using SimGridLink = simgrid::kernel::resource::StandardLinkImpl;

/// Flows share in proportion to 1 / latency that routing reports. A flow that pays no latency
/// counts as one with 1 s; others pay this part of what is reported, which is no time at all.
constexpr double kUnitLatency = 1.0;
constexpr double kNoTime = 1e-15;

/// SimGrid 3.32 ignores the rate of a communication without mailbox, so a flow's cap is a link of
/// its own. A platform cannot grow while it runs: this many are made with it.
constexpr std::size_t kCapLinks = 4096;

/// The zone answers every route with the path of the flow that is being started.
class PathZone final : public routing::NetZoneImpl {
 public:
  explicit PathZone(const std::string& name) : NetZoneImpl(name) {}

  void get_local_route(const routing::NetPoint* /*from*/, const routing::NetPoint* /*to*/,
                       routing::Route* into, double* latency) override {
    for (const ResourceId resource : current_->resources) {
      into->link_list_.push_back(links_[resource]);
    }
    if (cap_ != nullptr) {
      into->link_list_.push_back(cap_);
    }
    *latency += kUnitLatency / current_->weight;
  }
  void set_current(const FlowSpec* flow, SimGridLink* cap) {
    current_ = flow;
    cap_ = cap;
  }
  [[nodiscard]] double latency_factor() const { return current_->weight == 1.0 ? 0.0 : kNoTime; }
  void add(SimGridLink* link) { links_.push_back(link); }

 private:
  std::vector<SimGridLink*> links_{};
  const FlowSpec* current_ = nullptr;
  SimGridLink* cap_ = nullptr;
};

/// Our turn among SimGrid's models.
class Turn final : public simgrid::kernel::resource::Model {
 public:
  explicit Turn(std::function<double(double)> work) : Model("trainyard"), work_{std::move(work)} {}
  double next_occurring_event(double now) override { return work_(now); }
  void update_actions_state(double /*now*/, double /*delta*/) override {}

 private:
  std::function<double(double)> work_;
};

s4u::Engine make_engine() {
  static bool made = false;
  if (made) {
    throw std::logic_error{"SimGrid allows one network in a process"};
  }
  made = true;
  std::vector<std::string> words{"trainyard", "--cfg=network/model:CM02",
                                 "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e20",
                                 "--log=root.thresh:critical"};
  static std::vector<char*> arguments;
  static std::vector<std::string> kept;
  kept = std::move(words);
  arguments.reserve(kept.size() + 1);
  for (std::string& word : kept) {
    arguments.push_back(word.data());
  }
  static int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return s4u::Engine{&count, arguments.data()};
}

class SimGridNetwork final : public Network, private Handler {
 public:
  explicit SimGridNetwork(const std::vector<Resource>& resources)
      : engine_{make_engine()}, end_{s4u::Semaphore::create(0)} {
    build(resources);
    engine_.add_model(std::make_shared<Turn>([this](double now) { return turn(now); }));
    shim::on_completion([this](const void* comm) { completed(comm); });
  }

  [[nodiscard]] units::Nanoseconds now() const override { return units::Nanoseconds{now_}; }
  [[nodiscard]] std::uint64_t events() const override { return events_; }

  FlowId start(const FlowSpec& flow, Handler& handler, std::uint64_t token) override {
    const FlowId id = ++last_flow_;
    Flow& made = flows_[id];
    made.spec = flow;
    made.handler = &handler;
    made.token = token;
    if (flow.latency.count() > 0) {
      made.begin = timers_.add(now_ + flow.latency.count(), *this, id);
    } else {
      begin(id, made);
    }
    return id;
  }

  units::Bytes cancel(FlowId id) override {
    const auto found = flows_.find(id);
    const units::Bytes left = remaining_of(found->second);
    if (found->second.begin != 0) {
      timers_.cancel(found->second.begin);
    }
    if (found->second.comm) {
      flow_of_.erase(found->second.comm.get());
      found->second.comm->cancel();
      buried_.push_back(std::move(found->second.comm));
    }
    ended_.erase(std::remove(ended_.begin(), ended_.end(), id), ended_.end());
    give_back(found->second);
    flows_.erase(found);
    return left;
  }

  [[nodiscard]] units::Bytes remaining(FlowId id) override { return remaining_of(flows_.at(id)); }

  TimerId after(units::Nanoseconds delay, Handler& handler, std::uint64_t token) override {
    return timers_.add(now_ + delay.count(), handler, token);
  }
  void cancel_timer(TimerId timer) override { timers_.cancel(timer); }
  void stop() override { stopped_ = true; }

  void run() override {
    s4u::Actor::create("control", from_, [this] { end_->acquire(); });
    engine_.run();
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    if (!released_) {
      throw std::logic_error{"SimGrid stopped before the simulation had ended"};
    }
  }

 private:
  struct Flow {
    FlowSpec spec{};
    Handler* handler = nullptr;
    std::uint64_t token = 0;
    TimerId begin = 0;  ///< while its latency lasts
    s4u::CommPtr comm{};
    s4u::Link* cap = nullptr;  ///< while it is in use
    bool ended = false;
  };

  void build(const std::vector<Resource>& resources) {
    auto* root = s4u::create_full_zone("root");
    zone_ = new PathZone("paths");  // NOLINT(cppcoreguidelines-owning-memory): SimGrid owns zones
    auto* zone = zone_->get_iface();
    zone->set_parent(root);
    from_ = zone->create_host("from", 1.0);
    to_ = zone->create_host("to", 1.0);
    for (std::size_t i = 0; i < resources.size(); ++i) {
      auto* link = zone->create_link(fmt::format("l{}", i),
                                     std::vector<double>{resources[i].bandwidth.si()});
      link->seal();
      zone_->add(link->get_impl());
    }
    for (const Resource& resource : resources) {
      capacity_.push_back(resource.bandwidth.si());
    }
    for (std::size_t i = 0; i < std::min(kCapLinks, 64 * resources.size()); ++i) {
      caps_.push_back(zone->create_link(fmt::format("c{}", i), std::vector<double>{1.0})->seal());
    }
    shim::set_latency_factor(*root, [this] { return zone_->latency_factor(); });
    zone->seal();
    root->seal();
  }

  /// A flow's latency has passed.
  void fire(std::uint64_t id) override {
    --events_;  // ours, not the caller's
    begin(id, flows_.at(id));
  }

  void begin(FlowId id, Flow& flow) {
    flow.begin = 0;
    flow.cap = cap_link(flow.spec);
    zone_->set_current(&flow.spec, flow.cap != nullptr ? flow.cap->get_impl() : nullptr);
    flow.comm = s4u::Comm::sendto_init(from_, to_);
    flow_of_[flow.comm.get()] = id;
    // The size comes last: with it the communication is complete and may start.
    flow.comm->set_payload_size(
        static_cast<std::uint64_t>(std::max(std::llround(flow.spec.size.si()), 1LL)));
    shim::start(flow.comm);
    zone_->set_current(nullptr, nullptr);
  }

  /// A link as fast as the flow's cap; null where the cap cannot bind.
  s4u::Link* cap_link(const FlowSpec& flow) {
    const double cap = flow.cap.si();
    const bool binds =
        cap > 0.0 && std::all_of(flow.resources.begin(), flow.resources.end(),
                                 [&](ResourceId resource) { return cap < capacity_[resource]; });
    if (!binds) {
      return nullptr;
    }
    if (caps_.empty()) {
      throw std::runtime_error{"too many capped flows at once for SimGrid"};
    }
    s4u::Link* link = caps_.back();
    caps_.pop_back();
    link->set_bandwidth(cap);
    return link;
  }

  void give_back(const Flow& flow) {
    if (flow.cap != nullptr) {
      caps_.push_back(flow.cap);
    }
  }

  [[nodiscard]] static units::Bytes remaining_of(const Flow& flow) {
    if (flow.ended) {
      return {};
    }
    return flow.comm ? units::Bytes{flow.comm->get_remaining()} : flow.spec.size;
  }

  void completed(const void* comm) {
    const auto found = flow_of_.find(comm);
    if (found != flow_of_.end()) {
      ended_.push_back(found->second);
      flows_.at(found->second).ended = true;
      flow_of_.erase(found);
    }
  }

  /// SimGrid asks when we next have something to do. Whatever is due is done here.
  /// @returns seconds from `now`; 0: ask again; -1: never
  double turn(double now) {
    if (released_) {
      return -1.0;
    }
    try {
      old_buried_.clear();
      old_buried_.swap(buried_);
      set_clock(now);
      if (work()) {
        return 0.0;
      }
    } catch (...) {
      failure_ = std::current_exception();
      stopped_ = true;
    }
    const bool idle = timers_.empty();
    if (stopped_ || (idle && flows_.empty())) {
      released_ = true;
      end_->release();
      return 0.0;
    }
    if (idle) {
      target_ = kNever;
      return -1.0;
    }
    target_ = timers_.next();
    return std::max(seconds(target_) - now, 0.0);
  }

  [[nodiscard]] static double seconds(std::int64_t time) {
    return static_cast<double>(time) * 1e-9;
  }

  /// SimGrid's clock is a double; ours counts nanoseconds and meets our own targets exactly.
  void set_clock(double now) {
    const double slack =
        std::max(0.5e-9, 2.0 * std::abs(now) * std::numeric_limits<double>::epsilon());
    if (target_ != kNever && now + slack >= seconds(target_)) {
      now_ = std::max(now_, target_);
      return;
    }
    const std::int64_t rounded = std::llround(now * 1e9);
    now_ = std::clamp(rounded, now_, std::max(now_, target_ - 1));
  }

  /// Ended flows first, then due timers. True if there was anything.
  bool work() {
    bool any = false;
    std::sort(ended_.begin(), ended_.end());
    while (!ended_.empty() && !stopped_) {
      const FlowId id = ended_.front();
      ended_.erase(ended_.begin());
      const auto found = flows_.find(id);
      Handler* handler = found->second.handler;
      const std::uint64_t token = found->second.token;
      give_back(found->second);
      flows_.erase(found);
      any = true;
      ++events_;
      handler->fire(token);
    }
    while (!stopped_ && ended_.empty() && !timers_.empty() && timers_.next() <= now_) {
      const TimerQueue::Due due = timers_.pop();
      any = true;
      ++events_;
      due.handler->fire(due.token);
    }
    return any && !stopped_;
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  s4u::Engine engine_;
  s4u::SemaphorePtr end_;
  PathZone* zone_ = nullptr;
  s4u::Host* from_ = nullptr;
  s4u::Host* to_ = nullptr;
  TimerQueue timers_{};
  std::unordered_map<FlowId, Flow> flows_{};           // looked up, never iterated
  std::unordered_map<const void*, FlowId> flow_of_{};  // looked up, never iterated
  std::vector<double> capacity_{};
  std::vector<s4u::Link*> caps_{};  ///< free ones
  std::vector<FlowId> ended_{};
  // Cancelled communications: SimGrid still looks at them until it has passed its own turn.
  std::vector<s4u::CommPtr> buried_{};
  std::vector<s4u::CommPtr> old_buried_{};
  FlowId last_flow_ = 0;
  std::int64_t now_ = 0;
  std::int64_t target_ = kNever;
  std::uint64_t events_ = 0;
  bool stopped_ = false;
  bool released_ = false;
  std::exception_ptr failure_{};
};

}  // namespace

std::unique_ptr<Network> make_simgrid_network(const std::vector<Resource>& resources) {
  return std::make_unique<SimGridNetwork>(resources);
}

}  // namespace trainyard::engine
