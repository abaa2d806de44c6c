#include "simulation/traffic.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace trainyard::simulation {
namespace {

constexpr std::uint64_t kPartBits = 16;
constexpr std::uint64_t kWholePlan = (1U << kPartBits) - 1;

/// Demands are sums of rates that max-min found: equal to the bandwidth but for rounding.
constexpr double kSlack = 1.0 + 1e-9;

void sort_unique(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::int64_t transfer_time(double bytes, double rate) {
  return std::llround(bytes / rate * 1e9);
}

}  // namespace

SharedLinks shared_links(const topology::Cluster& cluster, bool private_too) {
  SharedLinks shared;
  shared.resource_of.assign(static_cast<std::size_t>(cluster.links()), -1);
  const auto add = [&](topology::LinkId id) {
    const topology::Link link = cluster.link(id);
    shared.resource_of[static_cast<std::size_t>(id)] =
        static_cast<std::int32_t>(shared.resources.size());
    shared.resources.push_back({"", link.bandwidth});
  };
  if (private_too) {
    for (topology::LinkId id = 0; id < cluster.links(); ++id) {
      add(id);
    }
  } else {
    for (const topology::LinkId id : cluster.shareable_links()) {
      add(id);
    }
  }
  return shared;
}

std::vector<LinkLoad> link_loads(const std::vector<PlannedCollective>& collectives,
                                 const topology::Cluster& cluster) {
  std::map<topology::LinkId, LinkLoad> loads;
  std::map<topology::LinkId, std::map<int, double>> lane_peaks;
  for (const PlannedCollective& planned : collectives) {
    const auto rates = collective::rates_alone(planned.plan.flows, cluster);
    std::map<topology::LinkId, double> now;
    for (std::size_t f = 0; f < rates.size(); ++f) {
      for (const topology::LinkId link : planned.plan.flows[f].links) {
        now[link] += rates[f].si();
        loads[link].bytes += planned.plan.flows[f].size.si();
      }
    }
    for (const auto& [link, rate] : now) {
      double& peak = lane_peaks[link][planned.lane];
      peak = std::max(peak, rate);
    }
  }
  std::vector<LinkLoad> result;
  for (auto& [link, load] : loads) {
    load.link = link;
    for (const auto& [lane, peak] : lane_peaks[link]) {
      load.peak += peak;
    }
    result.push_back(load);
  }
  return result;
}

Traffic::Traffic(const topology::Cluster& cluster, engine::Network& network,
                 const SharedLinks& links)
    : cluster_{cluster}, network_{network}, links_{links} {}

void Traffic::update_use(Use& use, std::vector<int>& touched) {
  use.demand = 0.0;
  for (const auto& [job, peak] : use.jobs) {
    use.demand += peak;
  }
  use.peak = std::max(use.peak, std::min(use.demand, use.capacity));
  const bool before = use.contended;
  use.contended = use.demand > use.capacity * kSlack;
  if (before || use.contended) {
    for (const auto& [job, peak] : use.jobs) {
      touched.push_back(job);
    }
  }
}

std::vector<int> Traffic::join(int job, std::vector<PlannedCollective> collectives) {
  JobTraffic& traffic = jobs_[job];
  traffic.loads = link_loads(collectives, cluster_);
  traffic.collectives = std::move(collectives);
  std::vector<int> touched{job};
  for (const LinkLoad& load : traffic.loads) {
    if (links_.resource_of[static_cast<std::size_t>(load.link)] < 0) {
      continue;
    }
    Use& use = uses_[load.link];
    if (use.capacity == 0.0) {
      use.capacity = cluster_.link(load.link).bandwidth.si();
    }
    use.jobs.emplace_back(job, load.peak);
    update_use(use, touched);
  }
  sort_unique(touched);
  for (const int other : touched) {
    replan(other);
  }
  return touched;
}

std::vector<int> Traffic::leave(int job) {
  const JobTraffic traffic = std::move(jobs_.at(job));
  assert(traffic.active.empty());
  jobs_.erase(job);
  std::vector<int> touched;
  for (const LinkLoad& load : traffic.loads) {
    const auto found = uses_.find(load.link);
    if (found == uses_.end()) {
      continue;
    }
    auto& jobs = found->second.jobs;
    jobs.erase(std::remove_if(jobs.begin(), jobs.end(),
                              [&](const auto& entry) { return entry.first == job; }),
               jobs.end());
    update_use(found->second, touched);
  }
  sort_unique(touched);
  for (const int other : touched) {
    replan(other);
  }
  return touched;
}

std::vector<int> Traffic::neighbours(int job) const {
  std::vector<int> result;
  for (const LinkLoad& load : jobs_.at(job).loads) {
    const auto found = uses_.find(load.link);
    if (found == uses_.end() || !found->second.contended) {
      continue;
    }
    for (const auto& [other, peak] : found->second.jobs) {
      if (other != job) {
        result.push_back(other);
      }
    }
  }
  sort_unique(result);
  return result;
}

const std::vector<LinkLoad>& Traffic::loads(int job) const {
  return jobs_.at(job).loads;
}

double Traffic::peak_rate(topology::LinkId link) const {
  const auto found = uses_.find(link);
  return found == uses_.end() ? 0.0 : found->second.peak;
}

bool Traffic::is_contended(topology::LinkId link) const {
  const auto found = uses_.find(link);
  return found != uses_.end() && found->second.contended;
}

/// A flow's cap: each uncontended link is shared with the plan's own flows only.
Traffic::PlanSplit Traffic::split(const collective::Plan& plan) const {
  std::unordered_map<topology::LinkId, int> crossings;
  for (const auto& flow : plan.flows) {
    for (const topology::LinkId link : flow.links) {
      ++crossings[link];
    }
  }
  PlanSplit result;
  result.known = true;
  for (const auto& flow : plan.flows) {
    FlowSplit& part = result.flows.emplace_back();
    part.cap = flow.cap.si();
    for (const topology::LinkId link : flow.links) {
      if (is_contended(link)) {
        part.resources.push_back(
            static_cast<engine::ResourceId>(links_.resource_of[static_cast<std::size_t>(link)]));
        continue;
      }
      const double share = cluster_.link(link).bandwidth.si() / crossings[link];
      part.cap = part.cap > 0.0 ? std::min(part.cap, share) : share;
    }
    result.contended = result.contended || !part.resources.empty();
  }
  return result;
}

const Traffic::PlanSplit& Traffic::split_of(int job, int collective) {
  JobTraffic& traffic = jobs_.at(job);
  PlanSplit& known = traffic.splits[static_cast<std::size_t>(collective)];
  if (!known.known) {
    known = split(traffic.collectives[static_cast<std::size_t>(collective)].plan);
  }
  return known;
}

void Traffic::start(int job, int collective, units::Nanoseconds delay, engine::Handler& handler,
                    std::uint64_t token) {
  JobTraffic& traffic = jobs_.at(job);
  const PlannedCollective& planned = traffic.collectives[static_cast<std::size_t>(collective)];
  const int slot = new_slot();
  traffic.active.push_back(slot);
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  transfer.job = job;
  transfer.collective = collective;
  transfer.handler = &handler;
  transfer.token = token;
  const std::int64_t start = (network_.now() + delay).count();
  transfer.begin = start + units::to_nanoseconds(planned.plan.latency).count();
  if (!split_of(job, collective).contended) {
    transfer.end = start + planned.alone.count();
    run_as_timer(slot, transfer.end - network_.now().count());
    return;
  }
  std::vector<double> bytes;
  for (const auto& flow : planned.plan.flows) {
    bytes.push_back(flow.size.si());
  }
  run_as_flows(slot, bytes);
}

void Traffic::run_as_timer(int slot, std::int64_t remaining) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  transfer.whole = network_.after(units::Nanoseconds{std::max<std::int64_t>(remaining, 0)}, *this,
                                  static_cast<std::uint64_t>(slot) << kPartBits | kWholePlan);
}

void Traffic::run_as_flows(int slot, const std::vector<double>& bytes) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  transfer.parts.assign(bytes.size(), {});
  transfer.open = static_cast<int>(bytes.size());
  assert(bytes.size() < kWholePlan);
  for (std::size_t part = 0; part < bytes.size(); ++part) {
    start_part(slot, part, bytes[part]);
  }
}

void Traffic::start_part(int slot, std::size_t index, double bytes) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  const FlowSplit& flow = split_of(transfer.job, transfer.collective).flows[index];
  Part& part = transfer.parts[index];
  part.size = bytes;
  part.rate = flow.cap;
  const std::int64_t latency = std::max<std::int64_t>(transfer.begin - network_.now().count(), 0);
  const std::uint64_t token = static_cast<std::uint64_t>(slot) << kPartBits | index;
  if (flow.resources.empty() || bytes <= 0.0) {
    const std::int64_t moving = bytes > 0.0 ? transfer_time(bytes, part.rate) : 0;
    part.timer = network_.after(units::Nanoseconds{latency + moving}, *this, token);
    return;
  }
  part.flow = network_.start({flow.resources, units::Bytes{bytes}, units::BytesPerSecond{flow.cap},
                              units::Nanoseconds{latency}, 1.0},
                             *this, token);
}

/// Takes a transfer out of the network; returns what each flow still has to move.
std::vector<double> Traffic::stop(Transfer& transfer) {
  const auto& planned =
      jobs_.at(transfer.job).collectives[static_cast<std::size_t>(transfer.collective)];
  const std::int64_t now = network_.now().count();
  std::vector<double> left;
  if (transfer.whole != 0) {
    network_.cancel_timer(transfer.whole);
    transfer.whole = 0;
    const std::int64_t moving = transfer.end - transfer.begin;
    const std::int64_t gone = std::max<std::int64_t>(now - transfer.begin, 0);
    const double share =
        moving > 0 ? 1.0 - static_cast<double>(gone) / static_cast<double>(moving) : 0.0;
    for (const auto& flow : planned.plan.flows) {
      left.push_back(flow.size.si() * share);
    }
    return left;
  }
  for (Part& part : transfer.parts) {
    double bytes = 0.0;
    if (part.flow != 0) {
      bytes = network_.cancel(part.flow).si();
    } else if (part.timer != 0) {
      network_.cancel_timer(part.timer);
      const double gone = static_cast<double>(std::max<std::int64_t>(now - transfer.begin, 0));
      bytes = std::max(part.size - part.rate * gone * 1e-9, 0.0);
    }
    left.push_back(bytes);
  }
  return left;
}

void Traffic::replan(int job) {
  JobTraffic& traffic = jobs_.at(job);
  traffic.splits.assign(traffic.collectives.size(), {});
  for (const int slot : traffic.active) {
    Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
    if (transfer.whole != 0 && !split_of(job, transfer.collective).contended) {
      continue;
    }
    const std::vector<double> left = stop(transfer);
    run_as_flows(slot, left);
    // What has moved before does not count towards the timers' progress again.
    transfer.begin = std::max(transfer.begin, network_.now().count());
  }
}

void Traffic::fire(std::uint64_t token) {
  const int slot = static_cast<int>(token >> kPartBits);
  const std::uint64_t index = token & kWholePlan;
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  if (index != kWholePlan) {
    Part& part = transfer.parts[index];
    part.flow = 0;
    part.timer = 0;
    if (--transfer.open > 0) {
      return;
    }
  }
  finish(slot);
}

void Traffic::finish(int slot) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  auto& active = jobs_.at(transfer.job).active;
  active.erase(std::find(active.begin(), active.end(), slot));
  engine::Handler* handler = transfer.handler;
  const std::uint64_t token = transfer.token;
  transfer = {};
  free_slots_.push_back(slot);
  handler->fire(token);
}

int Traffic::new_slot() {
  if (free_slots_.empty()) {
    transfers_.emplace_back();
    return static_cast<int>(transfers_.size()) - 1;
  }
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

}  // namespace trainyard::simulation
