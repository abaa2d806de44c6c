#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/section.hpp"
#include "scheduling/devices.hpp"
#include "scheduling/wait_reason.hpp"
#include "units/nanoseconds.hpp"

namespace trainyard::scheduling {

using JobIndex = int;  ///< row of the job in the scenario's job list

/// What a policy and a placement may see of a job.
struct JobView {
  JobIndex index = 0;
  int gpus = 1;  ///< a gang: all or nothing
  units::Nanoseconds submit{};
  int priority = 0;
  std::string_view queue{};
};

struct RunningView {
  JobView job{};
  units::Nanoseconds start{};
  const std::vector<topology::GpuId>* gpus = nullptr;
};

/// Chooses devices for one job. GPUs come back in rank order: node by node, ascending inside a
/// node. Contract: same free devices and job, same answer; changes nothing; of a job it looks at
/// the number of GPUs only; taking more devices never makes a refused job fit.
class Placement {
 public:
  virtual ~Placement() = default;
  /// nullopt: the job does not fit now.
  [[nodiscard]] virtual std::optional<std::vector<topology::GpuId>> place(
      const Devices& devices, const JobView& job) const = 0;
};

/// Free devices as the placement sees them while a policy makes up its mind. Copies the devices
/// only once a job fits, so that a pass in which nothing can start costs next to nothing.
class Trial {
 public:
  Trial(const Devices& devices, const Placement& placement)
      : before_{&devices}, placement_{&placement} {}
  Trial(Devices&& devices, const Placement& placement) = delete;
  /// Places the job and keeps the devices if it fits.
  bool place(const JobView& job);
  [[nodiscard]] const std::vector<topology::GpuId>& last() const { return last_; }
  [[nodiscard]] const Devices& devices() const { return after_ ? *after_ : *before_; }

 private:
  const Devices* before_;
  std::optional<Devices> after_{};
  const Placement* placement_;
  std::vector<int> refused_{};  ///< GPU counts that did not fit: a trial only takes devices
  std::vector<topology::GpuId> last_{};
};

/// Why a job that the trial refused waits: too few free GPUs, or enough of them but scattered.
[[nodiscard]] WaitReason why_refused(const Devices& devices, const JobView& job);

/// The world at one instant.
class View {
 public:
  View(units::Nanoseconds now, const std::vector<JobView>& queue,
       const std::vector<RunningView>& running, const Devices& devices, const Placement& placement)
      : now_{now}, queue_{queue}, running_{running}, devices_{devices}, placement_{placement} {}
  [[nodiscard]] units::Nanoseconds now() const { return now_; }
  [[nodiscard]] const std::vector<JobView>& queue() const {
    return queue_;
  }  ///< by submit, then file
  [[nodiscard]] const std::vector<RunningView>& running() const { return running_; }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  [[nodiscard]] Trial trial() const { return Trial{devices_, placement_}; }

 private:
  units::Nanoseconds now_;
  const std::vector<JobView>& queue_;
  const std::vector<RunningView>& running_;
  const Devices& devices_;
  const Placement& placement_;
};

enum class ActionKind { start };

struct Action {
  ActionKind kind = ActionKind::start;
  JobIndex job = 0;
  std::vector<topology::GpuId> gpus{};
  std::string why{};
};

class Decisions {
 public:
  void start(JobIndex job, std::vector<topology::GpuId> gpus, std::string why);
  /// Why a job that waits was not started (a text of WaitReason). It holds until the job starts or
  /// is given another reason; a job that just joined the queue waits for "order".
  void hold(JobIndex job, std::string_view reason);
  void wake_at(units::Nanoseconds time) { wake_ = time; }
  [[nodiscard]] const std::vector<Action>& actions() const { return actions_; }
  [[nodiscard]] const std::vector<std::pair<JobIndex, std::string>>& holds() const {
    return holds_;
  }
  [[nodiscard]] std::optional<units::Nanoseconds> wake() const { return wake_; }

 private:
  std::vector<Action> actions_{};
  std::vector<std::pair<JobIndex, std::string>> holds_{};
  std::optional<units::Nanoseconds> wake_{};
};

/// What a policy remembers between instants; a policy that needs more derives from it.
struct PolicyState {
  virtual ~PolicyState() = default;
};

/// Decides what to start, stop or move at one instant. Called after ends, events and submits of
/// that instant. Contract: must not keep the view; actions that free devices come before actions
/// that take them; the same input gives the same answer (ties: earlier submit, then file order);
/// what it may know stands in its docstring.
class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::unique_ptr<PolicyState> make_state() const;
  [[nodiscard]] virtual Decisions decide(const View& view, PolicyState& state) = 0;
};

/// The two visible tables: name -> maker, which reads its own parameters from [scheduler].
using MakePolicy = std::unique_ptr<Policy> (*)(const input::Section& scheduler);
using MakePlacement = std::unique_ptr<Placement> (*)(const input::Section& scheduler);
[[nodiscard]] const std::map<std::string_view, MakePolicy>& policies();
[[nodiscard]] const std::map<std::string_view, MakePlacement>& placements();

/// Unknown name: InputError at the value's place that lists the known ones.
[[nodiscard]] std::unique_ptr<Policy> make_policy(const input::Section& scheduler);
[[nodiscard]] std::unique_ptr<Placement> make_placement(const input::Section& scheduler);

}  // namespace trainyard::scheduling
