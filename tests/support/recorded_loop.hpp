#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "input/section.hpp"
#include "scheduling/policy.hpp"

namespace trainyard::test {

/// job(GPUs, run seconds, submit second), as the textbook cases write it.
struct RecordedJob {
  int gpus = 1;
  std::int64_t run = 0;
  std::int64_t submit = 0;
};

/// What became of a job; seconds.
struct RecordedRun {
  std::int64_t start = -1;
  std::int64_t end = -1;
  std::vector<topology::GpuId> gpus{};
  std::map<std::string, std::int64_t> waits{};  ///< by reason
  std::string why{};
};

/// Runs jobs of known duration under a policy and a placement. One instant: ends, then submits,
/// then one scheduling pass. It keeps the books of wait reasons as the simulation does.
class RecordedLoop {
 public:
  /// @param jobs       by submit
  /// @param scheduler  text of the [scheduler] table
  RecordedLoop(const topology::Cluster& cluster, const std::string& scheduler,
               std::vector<RecordedJob> jobs)
      : jobs_{std::move(jobs)},
        section_{input::Document::parse(scheduler, "loop.toml").root()},
        policy_{scheduling::make_policy(section_)},
        placement_{scheduling::make_placement(section_)},
        devices_{cluster},
        ran_(jobs_.size()),
        reason_(jobs_.size(), {"order", 0}) {}

  std::vector<RecordedRun> finish() {
    const auto state = policy_->make_state();
    while (next_ < jobs_.size() || !ends_.empty()) {
      now_ = next_instant();
      end_due();
      submit_due();
      pass(*state);
    }
    return std::move(ran_);
  }

 private:
  using End = std::pair<std::int64_t, int>;

  [[nodiscard]] std::int64_t next_instant() const {
    if (ends_.empty()) {
      return jobs_[next_].submit;
    }
    return next_ < jobs_.size() ? std::min(jobs_[next_].submit, ends_.top().first)
                                : ends_.top().first;
  }

  void end_due() {
    while (!ends_.empty() && ends_.top().first == now_) {
      devices_.give_back(ran_[static_cast<std::size_t>(ends_.top().second)].gpus);
      ends_.pop();
    }
  }

  void submit_due() {
    for (; next_ < jobs_.size() && jobs_[next_].submit == now_; ++next_) {
      queue_.push_back({static_cast<int>(next_), jobs_[next_].gpus,
                        units::Nanoseconds{now_ * 1'000'000'000}, 0, ""});
      reason_[next_].second = now_;
    }
  }

  void pass(scheduling::PolicyState& state) {
    const std::vector<scheduling::RunningView> running;  // no policy here looks at it
    const scheduling::View view{units::Nanoseconds{now_ * 1'000'000'000}, queue_, running, devices_,
                                *placement_};
    const auto decisions = policy_->decide(view, state);
    for (const auto& action : decisions.actions()) {
      start(action);
    }
    std::erase_if(queue_, [&](const auto& job) {
      return ran_[static_cast<std::size_t>(job.index)].start >= 0;
    });
    for (const auto& [job, reason] : decisions.holds()) {
      charge(static_cast<std::size_t>(job), reason);
    }
  }

  void start(const scheduling::Action& action) {
    const auto job = static_cast<std::size_t>(action.job);
    charge(job, "");
    devices_.take(action.gpus);
    ran_[job].start = now_;
    ran_[job].end = now_ + jobs_[job].run;
    ran_[job].gpus = action.gpus;
    ran_[job].why = action.why;
    ends_.emplace(ran_[job].end, action.job);
  }

  void charge(std::size_t job, const std::string& next_reason) {
    auto& [reason, since] = reason_[job];
    if (now_ > since) {
      ran_[job].waits[reason] += now_ - since;
    }
    reason = next_reason;
    since = now_;
  }

  std::vector<RecordedJob> jobs_;
  input::Section section_;
  std::unique_ptr<scheduling::Policy> policy_;
  std::unique_ptr<scheduling::Placement> placement_;
  scheduling::Devices devices_;
  std::vector<RecordedRun> ran_;
  std::vector<std::pair<std::string, std::int64_t>> reason_;
  std::vector<scheduling::JobView> queue_{};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_{};
  std::size_t next_ = 0;
  std::int64_t now_ = 0;
};

/// [start, end) of every job, as the textbook's tables have it.
inline std::vector<std::pair<std::int64_t, std::int64_t>> intervals(
    const std::vector<RecordedRun>& ran) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const RecordedRun& job : ran) {
    result.emplace_back(job.start, job.end);
  }
  return result;
}

}  // namespace trainyard::test
