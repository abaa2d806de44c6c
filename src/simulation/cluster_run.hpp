#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "scheduling/policy.hpp"
#include "simulation/outcome.hpp"
#include "simulation/prepare.hpp"
#include "simulation/sampler.hpp"
#include "simulation/scenario.hpp"

namespace trainyard::simulation {

/// The life of a scenario: the main loop's call-backs. Submits put jobs into the queue; every
/// instant at which something was submitted or ended closes with one scheduling pass; what the
/// policy starts runs in the sampler until it ends.
class ClusterRun final : public engine::Handler, public Sampler::Owner {
 public:
  ClusterRun(const Scenario& scenario, engine::Network& network, const SharedLinks& links);

  Outcome finish();  ///< runs everything; call once

  void fire(std::uint64_t token) override;
  void job_ended(int job) override;
  void watched_collective(int job, int rank, int collective, std::int64_t arrival,
                          std::int64_t end) override;
  void watched_step(int job, std::int64_t step, std::int64_t boundary) override;

 private:
  /// A workload's step, made ready once.
  struct Ready {
    workload::Workload step{};
    Program program{};
  };
  struct Live {
    std::string reason = "order";  ///< why it waits
    std::int64_t reason_since = 0;
    std::int64_t last_boundary = 0;  ///< of the watched steps
  };

  void submit_due();
  void request_pass();
  void scheduling_pass();
  void start(const scheduling::Action& action);
  void start_steps(int index);
  [[nodiscard]] std::int64_t steps_of(int index, std::int64_t alone) const;
  void note_wait(int job, const std::string& reason);
  void close_job(int index, std::int64_t now, bool ended);
  void add_bytes(int job, double steps);
  void cut_off();
  const Ready& ready(int workload);
  void add_span(TimelineSpan span);

  const Scenario& scenario_;
  engine::Network& network_;
  Traffic traffic_;
  Sampler sampler_;
  collective::Planner planner_;
  std::unique_ptr<scheduling::Policy> policy_;
  std::unique_ptr<scheduling::PolicyState> policy_state_;
  std::unique_ptr<scheduling::Placement> placement_;
  scheduling::Devices devices_;
  std::vector<scheduling::JobView> queue_{};
  std::vector<scheduling::RunningView> running_{};
  std::vector<Live> live_{};
  std::map<int, Ready> ready_{};
  std::map<topology::LinkId, LinkRow> links_{};
  std::map<topology::LinkId, std::map<int, double>> link_jobs_{};
  std::size_t next_submit_ = 0;
  bool pass_requested_ = false;
  std::int64_t ended_ = 0;
  engine::TimerId cut_off_timer_ = 0;
  bool cut_ = false;
  Outcome outcome_{};
};

}  // namespace trainyard::simulation
