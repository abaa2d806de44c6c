#include "simulation/cluster_run.hpp"

#include <algorithm>
#include <cmath>

#include "simulation/alone_run.hpp"
#include "simulation/run.hpp"
#include "simulation/utilization.hpp"
#include "units/text.hpp"

namespace trainyard::simulation {
namespace {

enum Token : std::uint64_t { kSubmit, kPass, kCutOff, kRecordedEnd };

constexpr std::int64_t kWatchedSteps = 3;
constexpr std::size_t kMostSpans = 20000;
constexpr std::size_t kJobsALink = 5;

/// What waking in the middle of steps and the neighbours' own errors leave, relative, 95 %:
/// measured on random scenarios against full detail (tests/simulation/sampling_test.cpp prints it).
constexpr double kSharedFloor = 0.001;

units::Nanoseconds instant(std::int64_t ns) {
  return units::Nanoseconds{ns};
}

/// Links matter only to jobs whose workload communicates.
bool communicates(const Scenario& scenario) {
  return std::any_of(scenario.jobs.begin(), scenario.jobs.end(), [&](const Job& job) {
    return job.workload >= 0 &&
           !scenario.workloads[static_cast<std::size_t>(job.workload)].collectives.empty();
  });
}

SharedLinks links_for(const Scenario& scenario) {
  if (!communicates(scenario)) {
    return {{}, std::vector<std::int32_t>(static_cast<std::size_t>(scenario.cluster->links()), -1)};
  }
  const bool private_too =
      std::any_of(scenario.workloads.begin(), scenario.workloads.end(),
                  [](const workload::Workload& step) { return overlaps_collectives(step); });
  return shared_links(*scenario.cluster, private_too);
}

}  // namespace

Outcome run(const Scenario& scenario) {
  const SharedLinks links = links_for(scenario);
  const auto network = engine::make_simgrid_network(links.resources);
  return ClusterRun{scenario, *network, links}.finish();
}

Outcome run_on_fluid_network(const Scenario& scenario) {
  const SharedLinks links = links_for(scenario);
  const auto network = engine::make_fluid_network(links.resources);
  return ClusterRun{scenario, *network, links}.finish();
}

ClusterRun::ClusterRun(const Scenario& scenario, engine::Network& network, const SharedLinks& links)
    : scenario_{scenario},
      network_{network},
      traffic_{*scenario.cluster, network, links},
      sampler_{traffic_, network, scenario.detail, *this},
      planner_{*scenario.cluster},
      policy_{scheduling::make_policy(scenario.scheduler)},
      policy_state_{policy_->make_state()},
      placement_{scheduling::make_placement(scenario.scheduler)},
      devices_{*scenario.cluster},
      live_(scenario.jobs.size()) {
  outcome_.cluster_gpus = scenario.cluster->gpus();
  for (const Job& job : scenario.jobs) {
    JobOutcome& result = outcome_.jobs.emplace_back();
    result.id = job.id;
    result.gpus = job.gpus;
    result.submit = job.submit;
    result.queue = job.queue;
    if (job.workload >= 0) {
      result.workload = scenario.workload_names[static_cast<std::size_t>(job.workload)];
    }
  }
}

// ---- The loop ---------------------------------------------------------------------------------

Outcome ClusterRun::finish() {
  if (!scenario_.jobs.empty()) {
    outcome_.first_submit = scenario_.jobs.front().submit;
    network_.after(outcome_.first_submit, *this, kSubmit);
  }
  if (scenario_.max_time) {
    cut_off_timer_ = network_.after(*scenario_.max_time, *this, kCutOff);
  }
  network_.run();
  outcome_.events = static_cast<std::int64_t>(network_.events());
  outcome_.utilization = utilization_rows(outcome_.jobs, outcome_.last_end);
  for (auto& [id, row] : links_) {
    row.link = id;
    row.peak_rate = std::max(row.peak_rate, traffic_.peak_rate(id));
    for (const auto& [job, bytes] : link_jobs_[id]) {
      row.jobs.emplace_back(scenario_.jobs[static_cast<std::size_t>(job)].id, bytes);
    }
    std::stable_sort(row.jobs.begin(), row.jobs.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    row.jobs.resize(std::min(row.jobs.size(), kJobsALink));
    outcome_.links.push_back(std::move(row));
  }
  return std::move(outcome_);
}

void ClusterRun::fire(std::uint64_t token) {
  if (cut_) {
    return;
  }
  switch (token) {
    case kSubmit:
      submit_due();
      break;
    case kPass:
      pass_requested_ = false;
      scheduling_pass();
      break;
    case kCutOff:
      cut_off();
      break;
    default:
      job_ended(static_cast<int>(token - kRecordedEnd));
  }
}

void ClusterRun::submit_due() {
  const auto now = network_.now();
  while (next_submit_ < scenario_.jobs.size() && scenario_.jobs[next_submit_].submit <= now) {
    const Job& job = scenario_.jobs[next_submit_];
    const int index = static_cast<int>(next_submit_++);
    queue_.push_back({index, job.gpus, job.submit, job.priority, job.queue});
    live_[static_cast<std::size_t>(index)].reason_since = now.count();
  }
  if (next_submit_ < scenario_.jobs.size()) {
    network_.after(scenario_.jobs[next_submit_].submit - now, *this, kSubmit);
  }
  request_pass();
}

/// One pass closes the instant: it is asked for at once and comes after what is already due.
void ClusterRun::request_pass() {
  if (!pass_requested_) {
    pass_requested_ = true;
    network_.after(instant(0), *this, kPass);
  }
}

void ClusterRun::scheduling_pass() {
  const scheduling::View view{network_.now(), queue_, running_, devices_, *placement_};
  const scheduling::Decisions decisions = policy_->decide(view, *policy_state_);
  std::vector<bool> started(decisions.actions().empty() ? 0 : scenario_.jobs.size());
  for (const scheduling::Action& action : decisions.actions()) {
    start(action);
    started[static_cast<std::size_t>(action.job)] = true;
  }
  if (!started.empty()) {
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                                [&](const scheduling::JobView& job) {
                                  return started[static_cast<std::size_t>(job.index)];
                                }),
                 queue_.end());
  }
  for (const auto& [job, reason] : decisions.holds()) {
    note_wait(job, reason);
  }
}

/// Charges the time since the last note to the reason that held until now.
void ClusterRun::note_wait(int job, const std::string& reason) {
  Live& live = live_[static_cast<std::size_t>(job)];
  const std::int64_t now = network_.now().count();
  if (now > live.reason_since) {
    outcome_.jobs[static_cast<std::size_t>(job)].waits[live.reason] +=
        instant(now - live.reason_since);
  }
  live.reason = reason;
  live.reason_since = now;
}

// ---- Starts and ends --------------------------------------------------------------------------

void ClusterRun::start(const scheduling::Action& action) {
  const auto now = network_.now();
  note_wait(action.job, "order");
  devices_.take(action.gpus);
  JobOutcome& result = outcome_.jobs[static_cast<std::size_t>(action.job)];
  result.start = now;
  result.placement = action.gpus;
  const Job& job = scenario_.jobs[static_cast<std::size_t>(action.job)];
  running_.push_back(
      {{action.job, job.gpus, job.submit, job.priority, job.queue}, now, &result.placement});
  outcome_.decisions.push_back({now, "start", job.id, action.why});
  if (job.workload >= 0) {
    start_steps(action.job);
  } else {
    network_.after(*job.amount.duration, *this,
                   kRecordedEnd + static_cast<std::uint64_t>(action.job));
  }
}

const ClusterRun::Ready& ClusterRun::ready(int workload) {
  const auto found = ready_.find(workload);
  if (found != ready_.end()) {
    return found->second;
  }
  const auto& whole = scenario_.workloads[static_cast<std::size_t>(workload)];
  const int step = workload::representative_step(whole);
  Ready made;
  made.step = workload::only_step(whole, step);
  made.program = prepare(made.step, reference_times(made.step));
  return ready_.emplace(workload, std::move(made)).first->second;
}

void ClusterRun::start_steps(int index) {
  const Job& job = scenario_.jobs[static_cast<std::size_t>(index)];
  JobOutcome& result = outcome_.jobs[static_cast<std::size_t>(index)];
  const Ready& prepared = ready(job.workload);
  auto planned = plan_collectives(prepared.step, result.placement, planner_, *scenario_.cluster);
  std::vector<std::int64_t> alone;
  alone.reserve(planned.size());
  for (const auto& collective : planned) {
    alone.push_back(collective.alone.count());
  }
  const AloneRun pace = alone_run(prepared.program, job.gpus, alone);
  const std::int64_t steps = steps_of(index, std::llround(pace.step));
  result.steps = steps;
  result.alone = instant(steps > 0 ? pace.end_of(steps) : 0);
  const std::int64_t watch =
      outcome_.timeline.size() < kMostSpans ? std::min(steps, kWatchedSteps) : 0;
  live_[static_cast<std::size_t>(index)].last_boundary = network_.now().count();
  sampler_.start(index, prepared.program, job.gpus, std::move(planned), steps, watch);
}

std::int64_t ClusterRun::steps_of(int index, std::int64_t alone) const {
  const Job& job = scenario_.jobs[static_cast<std::size_t>(index)];
  const auto& step = scenario_.workloads[static_cast<std::size_t>(job.workload)];
  if (job.amount.steps) {
    return *job.amount.steps;
  }
  if (job.amount.samples) {
    const double a_step = *step.samples_per_step * job.gpus / step.world_size;
    return std::max<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(*job.amount.samples / a_step)), 1);
  }
  const auto duration = static_cast<double>(job.amount.duration->count());
  return std::max<std::int64_t>(
      std::llround(duration / static_cast<double>(std::max<std::int64_t>(alone, 1))), 1);
}

void ClusterRun::job_ended(int job) {
  if (cut_) {
    return;
  }
  close_job(job, network_.now().count(), true);
  ++ended_;
  if (ended_ == static_cast<std::int64_t>(scenario_.jobs.size()) && cut_off_timer_ != 0) {
    network_.cancel_timer(cut_off_timer_);
  }
  request_pass();
}

/// Takes a job off its devices and writes down what it did.
void ClusterRun::close_job(int index, std::int64_t now, bool ended) {
  JobOutcome& result = outcome_.jobs[static_cast<std::size_t>(index)];
  const Job& job = scenario_.jobs[static_cast<std::size_t>(index)];
  if (ended) {
    result.end = instant(now);
    devices_.give_back(result.placement);
    running_.erase(std::find_if(running_.begin(), running_.end(),
                                [&](const auto& view) { return view.job.index == index; }));
  }
  outcome_.last_end = std::max(outcome_.last_end, instant(now));
  result.run = instant(now) - *result.start;
  const auto run = static_cast<double>(result.run.count());
  if (job.workload < 0) {
    result.compute_busy_ns = run * job.gpus;
    return;
  }
  const Sampled sampled = sampler_.result(index, now);
  result.steps = sampled.steps;
  result.detailed_steps = sampled.detailed_steps;
  result.run_interval = run > 0.0 ? sampled.error / run : 0.0;
  if (sampled.shared && scenario_.detail == Detail::sampled) {
    result.run_interval += kSharedFloor;
  }
  const auto& step = scenario_.workloads[static_cast<std::size_t>(job.workload)];
  if (step.samples_per_step) {
    result.samples =
        *step.samples_per_step * job.gpus / step.world_size * static_cast<double>(sampled.steps);
  }
  const Program& program = ready(job.workload).program;
  const auto programs = static_cast<int>(program.ranks.size());
  for (int rank = 0; rank < job.gpus; ++rank) {
    result.compute_busy_ns +=
        static_cast<double>(program.ranks[static_cast<std::size_t>(rank % programs)].compute_busy) *
        static_cast<double>(sampled.steps);
  }
  result.compute_busy_ns = std::min(result.compute_busy_ns, run * job.gpus);
  result.communicating_ns =
      std::clamp(sampled.communicating, 0.0, run * job.gpus - result.compute_busy_ns);
  add_bytes(index, static_cast<double>(sampled.steps));
}

void ClusterRun::add_bytes(int job, double steps) {
  for (const LinkLoad& load : sampler_.loads(job)) {
    LinkRow& row = links_[load.link];
    row.bytes += load.bytes * steps;
    row.peak_rate = std::max(row.peak_rate, load.peak);
    link_jobs_[load.link][job] += load.bytes * steps;
  }
}

/// The time is up: what runs is written down as far as it has come, what waits never started.
void ClusterRun::cut_off() {
  cut_ = true;
  outcome_.reached_max_time = true;
  const std::int64_t now = network_.now().count();
  for (const auto& view : std::vector<scheduling::RunningView>(running_)) {
    close_job(view.job.index, now, false);
  }
  for (const auto& job : queue_) {
    note_wait(job.index, "order");
  }
  outcome_.last_end = instant(now);
  network_.stop();
}

// ---- The timeline -----------------------------------------------------------------------------

void ClusterRun::add_span(TimelineSpan span) {
  if (outcome_.timeline.size() >= kMostSpans) {
    ++outcome_.timeline_left_out;
    return;
  }
  outcome_.timeline.push_back(std::move(span));
}

void ClusterRun::watched_collective(int job, int rank, int collective, std::int64_t arrival,
                                    std::int64_t end) {
  const Job& description = scenario_.jobs[static_cast<std::size_t>(job)];
  const auto& what =
      ready(description.workload).step.collectives[static_cast<std::size_t>(collective)];
  std::string name = workload::to_text(what.op);
  if (what.bytes) {
    name += " " + units::to_text(*what.bytes);
  }
  add_span({description.id, rank, name, true, instant(arrival), instant(end)});
}

void ClusterRun::watched_step(int job, std::int64_t step, std::int64_t boundary) {
  Live& live = live_[static_cast<std::size_t>(job)];
  if (step < kWatchedSteps) {
    add_span({scenario_.jobs[static_cast<std::size_t>(job)].id, -1, "step " + std::to_string(step),
              false, instant(live.last_boundary), instant(boundary)});
  }
  live.last_boundary = boundary;
}

}  // namespace trainyard::simulation
