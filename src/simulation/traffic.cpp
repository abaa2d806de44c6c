#include "simulation/traffic.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

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

Traffic::Traffic(const topology::Cluster& cluster, engine::Network& network,
                 const SharedLinks& links)
    : cluster_{cluster}, network_{network}, links_{links}, uses_(links.resources.size()) {
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    uses_[i].capacity = links.resources[i].bandwidth.si();
  }
}

const Traffic::Use* Traffic::use_of(topology::LinkId link) const {
  const std::int32_t resource = links_.resource_of[static_cast<std::size_t>(link)];
  return resource < 0 ? nullptr : &uses_[static_cast<std::size_t>(resource)];
}

Traffic::Use* Traffic::use_of(topology::LinkId link) {
  return const_cast<Use*>(std::as_const(*this).use_of(link));
}

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
  traffic.shape_of = plan_shapes(collectives);
  traffic.collectives = std::move(collectives);
  std::vector<int> touched{job};
  for (const LinkLoad& load : traffic.loads) {
    if (Use* use = use_of(load.link)) {
      use->jobs.emplace_back(job, load.peak);
      update_use(*use, touched);
    }
  }
  return replan(std::move(touched));
}

std::vector<int> Traffic::leave(int job) {
  const JobTraffic traffic = std::move(jobs_.at(job));
  assert(traffic.active.empty());
  jobs_.erase(job);
  std::vector<int> touched;
  for (const LinkLoad& load : traffic.loads) {
    Use* use = use_of(load.link);
    if (use == nullptr) {
      continue;
    }
    auto& jobs = use->jobs;
    jobs.erase(std::remove_if(jobs.begin(), jobs.end(),
                              [&](const auto& entry) { return entry.first == job; }),
               jobs.end());
    update_use(*use, touched);
  }
  return replan(std::move(touched));
}

std::vector<int> Traffic::neighbours(int job) const {
  std::vector<int> result;
  for (const LinkLoad& load : jobs_.at(job).loads) {
    const Use* use = use_of(load.link);
    if (use == nullptr || !use->contended) {
      continue;
    }
    for (const auto& [other, peak] : use->jobs) {
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
  const Use* use = use_of(link);
  return use == nullptr ? 0.0 : use->peak;
}

bool Traffic::is_contended(topology::LinkId link) const {
  const Use* use = use_of(link);
  return use != nullptr && use->contended;
}

std::vector<int> Traffic::connected(const std::vector<int>& jobs) const {
  std::set<int> found{jobs.begin(), jobs.end()};
  std::vector<int> open{jobs};
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    for (const int other : neighbours(next)) {
      if (found.insert(other).second) {
        open.push_back(other);
      }
    }
  }
  return {found.begin(), found.end()};
}

/// Splits the plans of jobs that are connected, one of each shape.
void Traffic::split(const std::vector<int>& jobs) {
  std::vector<const collective::Plan*> plans;
  for (const int job : jobs) {
    const JobTraffic& traffic = jobs_.at(job);
    int next = 0;
    for (std::size_t i = 0; i < traffic.shape_of.size(); ++i) {
      if (traffic.shape_of[i] == next) {
        plans.push_back(&traffic.collectives[i].plan);
        ++next;
      }
    }
  }
  auto splits = split_plans(plans, cluster_, links_,
                            [this](topology::LinkId link) { return is_contended(link); });
  auto from = std::make_move_iterator(splits.begin());
  for (const int job : jobs) {
    JobTraffic& traffic = jobs_.at(job);
    const auto shapes = traffic.shape_of.empty() ? 0
                                                 : 1 + *std::max_element(traffic.shape_of.begin(),
                                                                         traffic.shape_of.end());
    traffic.splits.assign(from, from + shapes);
    from += shapes;
  }
}

const PlanSplit& Traffic::split_of(int job, int collective) const {
  const JobTraffic& traffic = jobs_.at(job);
  const int shape = traffic.shape_of[static_cast<std::size_t>(collective)];
  return traffic.splits[static_cast<std::size_t>(shape)];
}

void Traffic::start(int job, int collective, units::Nanoseconds delay, const Progress& progress,
                    engine::Handler& handler, std::uint64_t token) {
  JobTraffic& traffic = jobs_.at(job);
  const PlannedCollective& planned = traffic.collectives[static_cast<std::size_t>(collective)];
  const int slot = new_slot();
  traffic.active.push_back(slot);
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  transfer.job = job;
  transfer.collective = collective;
  transfer.handler = &handler;
  transfer.token = token;
  const std::int64_t now = network_.now().count();
  const std::int64_t latency = units::to_nanoseconds(planned.plan.latency).count();
  transfer.begin = now + delay.count() + std::max<std::int64_t>(latency - progress.elapsed, 0);
  if (!split_of(job, collective).contended) {
    const std::int64_t left =
        progress.total > 0 ? progress.total - progress.elapsed : planned.alone.count();
    transfer.end = now + delay.count() + left;
    run_as_timer(slot, transfer.end - now);
    return;
  }
  double share = 1.0;  // of the bytes, still to move
  if (progress.elapsed > latency && progress.total > latency) {
    share = static_cast<double>(progress.total - progress.elapsed) /
            static_cast<double>(progress.total - latency);
  }
  std::vector<double> bytes;
  for (const FlowSplit& part : split_of(job, collective).flows) {
    bytes.push_back(planned.plan.flows[part.flow].size.si() * share);
  }
  run_as_flows(slot, bytes);
}

void Traffic::abort(int job) {
  JobTraffic& traffic = jobs_.at(job);
  for (const int slot : traffic.active) {
    static_cast<void>(stop(transfers_[static_cast<std::size_t>(slot)]));
    transfers_[static_cast<std::size_t>(slot)] = {};
    free_slots_.push_back(slot);
  }
  traffic.active.clear();
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

/// Takes a transfer out of the network; returns what each flow of its plan still has to move.
std::vector<double> Traffic::stop(Transfer& transfer) {
  const auto& planned =
      jobs_.at(transfer.job).collectives[static_cast<std::size_t>(transfer.collective)];
  const std::int64_t now = network_.now().count();
  std::vector<double> left;
  if (transfer.whole != 0) {
    network_.cancel_timer(transfer.whole);
    transfer.whole = 0;
    const std::int64_t moving =
        (planned.alone - units::to_nanoseconds(planned.plan.latency)).count();
    const std::int64_t still = transfer.end - std::max(now, transfer.begin);
    const double share =
        moving > 0 ? std::min(static_cast<double>(still) / static_cast<double>(moving), 1.0) : 0.0;
    for (const auto& flow : planned.plan.flows) {
      left.push_back(flow.size.si() * share);
    }
    return left;
  }
  std::vector<double> parts;
  for (const Part& part : transfer.parts) {
    double bytes = 0.0;
    if (part.flow != 0) {
      bytes = network_.cancel(part.flow).si();
    } else if (part.timer != 0) {
      network_.cancel_timer(part.timer);
      const double gone = static_cast<double>(std::max<std::int64_t>(now - transfer.begin, 0));
      bytes = std::max(part.size - part.rate * gone * 1e-9, 0.0);
    }
    parts.push_back(bytes);
  }
  for (const std::size_t part : split_of(transfer.job, transfer.collective).part_of) {
    left.push_back(parts[part]);
  }
  return left;
}

/// Goes on with what each flow of the plan has left. Flows that are one part from now on may have
/// different amounts left: the largest decides when the collective ends.
void Traffic::restart(int slot, const std::vector<double>& left) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
  const PlanSplit& plan = split_of(transfer.job, transfer.collective);
  std::vector<double> bytes(plan.flows.size(), 0.0);
  for (std::size_t flow = 0; flow < left.size(); ++flow) {
    double& part = bytes[plan.part_of[flow]];
    part = std::max(part, left[flow]);
  }
  run_as_flows(slot, bytes);
  // What moved before must not count again where a part is a timer.
  transfer.begin = std::max(transfer.begin, network_.now().count());
}

/// After a change of who uses which link: splits the plans of all jobs it reaches and moves their
/// transfers over. Returns those jobs.
std::vector<int> Traffic::replan(std::vector<int> touched) {
  sort_unique(touched);
  std::vector<int> reached = connected(touched);
  std::vector<std::pair<int, std::vector<double>>> stopped;
  for (const int job : reached) {
    for (const int slot : jobs_.at(job).active) {
      Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
      if (transfer.whole == 0) {
        stopped.emplace_back(slot, stop(transfer));
      }
    }
  }
  split(reached);
  for (const int job : reached) {
    for (const int slot : jobs_.at(job).active) {
      Transfer& transfer = transfers_[static_cast<std::size_t>(slot)];
      if (transfer.whole != 0 && split_of(job, transfer.collective).contended) {
        restart(slot, stop(transfer));
      }
    }
  }
  for (const auto& [slot, left] : stopped) {
    restart(slot, left);
  }
  return reached;
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
