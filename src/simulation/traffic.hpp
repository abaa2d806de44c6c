#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collective/plan.hpp"
#include "engine/network.hpp"
#include "simulation/link_loads.hpp"
#include "simulation/traffic_split.hpp"
#include "topology/cluster.hpp"

namespace trainyard::simulation {

/// Moves the bytes of collectives. A link is contended when the summed peak demand of the jobs that
/// are running on it exceeds its bandwidth. A collective that crosses no contended link is a timer;
/// otherwise its flows go to the network back end over their contended links only, with a rate cap
/// from the others. When the set of jobs on a link changes, flows in flight are cancelled and
/// restarted with what remains (no second latency).
class Traffic final : public engine::Handler {
 public:
  Traffic(const topology::Cluster& cluster, engine::Network& network, const SharedLinks& links);

  /// A job begins to use the network. Returns the running jobs (itself included) that the change
  /// reaches over contended links, ascending.
  std::vector<int> join(int job, std::vector<PlannedCollective> collectives);
  /// The job has ended; none of its collectives is in flight.
  std::vector<int> leave(int job);

  /// Running jobs that share a contended link with `job`, itself left out, ascending.
  [[nodiscard]] std::vector<int> neighbours(int job) const;
  [[nodiscard]] const std::vector<LinkLoad>& loads(int job) const;
  /// Largest sum of demands seen on a link, at most its bandwidth, in bytes/s.
  [[nodiscard]] double peak_rate(topology::LinkId link) const;

  /// How far a collective had come while its job slept: `elapsed` of `total` ns. 0 of 0: not begun.
  struct Progress {
    std::int64_t elapsed = 0;
    std::int64_t total = 0;
  };
  /// Starts a collective of a running job `delay` from now; `handler.fire(token)` at its end.
  void start(int job, int collective, units::Nanoseconds delay, const Progress& progress,
             engine::Handler& handler, std::uint64_t token);
  /// Stops all collectives of a job; they will not fire.
  void abort(int job);

  void fire(std::uint64_t token) override;

 private:
  struct Use {
    double capacity = 0.0;
    double demand = 0.0;
    double peak = 0.0;
    bool contended = false;
    std::vector<std::pair<int, double>> jobs{};
  };
  struct JobTraffic {
    std::vector<PlannedCollective> collectives{};
    std::vector<int> shape_of{};      ///< by collective: those of one shape differ in size only
    std::vector<PlanSplit> splits{};  ///< by shape, made anew when contention changes
    std::vector<LinkLoad> loads{};
    std::vector<int> active{};  ///< slots of transfers in flight
  };
  struct Part {
    engine::FlowId flow = 0;    ///< in the network, or
    engine::TimerId timer = 0;  ///< on its own at `rate`
    double size = 0.0;          ///< bytes when it was (re)started
    double rate = 0.0;
  };
  struct Transfer {
    int job = -1;
    int collective = -1;
    std::int64_t begin = 0;     ///< ns, when the latency has passed
    std::int64_t end = 0;       ///< ns, only while it is one timer
    engine::TimerId whole = 0;  ///< the timer of an uncontended plan
    std::vector<Part> parts{};
    int open = 0;
    engine::Handler* handler = nullptr;
    std::uint64_t token = 0;
  };

  /// nullptr: not in the back end, so never shared.
  [[nodiscard]] const Use* use_of(topology::LinkId link) const;
  [[nodiscard]] Use* use_of(topology::LinkId link);
  static void update_use(Use& use, std::vector<int>& touched);
  [[nodiscard]] bool is_contended(topology::LinkId link) const;
  [[nodiscard]] std::vector<int> connected(const std::vector<int>& jobs) const;
  void split(const std::vector<int>& jobs);
  [[nodiscard]] const PlanSplit& split_of(int job, int collective) const;
  void run_as_timer(int slot, std::int64_t remaining);
  void run_as_flows(int slot, const std::vector<double>& bytes);
  void start_part(int slot, std::size_t index, double bytes);
  [[nodiscard]] std::vector<double> stop(Transfer& transfer);
  std::vector<int> replan(std::vector<int> touched);
  void restart(int slot, const std::vector<double>& left);
  void finish(int slot);
  int new_slot();

  const topology::Cluster& cluster_;
  engine::Network& network_;
  const SharedLinks& links_;
  std::vector<Use> uses_;                       ///< by resource of `links_`
  std::unordered_map<int, JobTraffic> jobs_{};  // looked up, never iterated
  std::vector<Transfer> transfers_{};
  std::vector<int> free_slots_{};
};

}  // namespace trainyard::simulation
