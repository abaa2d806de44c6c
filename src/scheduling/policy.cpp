#include "scheduling/policy.hpp"

#include <algorithm>

namespace trainyard::scheduling {

bool Trial::place(const JobView& job) {
  // Looked up before the placement is asked: a long queue repeats a handful of GPU counts.
  if (job.gpus > devices().free() || std::ranges::find(refused_, job.gpus) != refused_.end()) {
    return false;
  }
  auto gpus = placement_->place(devices(), job);
  if (!gpus) {
    refused_.push_back(job.gpus);
    return false;
  }
  if (!after_) {
    after_ = *before_;
  }
  after_->take(*gpus);
  last_ = *std::move(gpus);
  return true;
}

WaitReason why_refused(const Devices& devices, const JobView& job) {
  return devices.free() < job.gpus ? WaitReason::capacity : WaitReason::fragmentation;
}

void Decisions::start(JobIndex job, std::vector<topology::GpuId> gpus, std::string why) {
  actions_.push_back({ActionKind::start, job, std::move(gpus), std::move(why)});
}

void Decisions::hold(JobIndex job, std::string_view reason) {
  holds_.emplace_back(job, reason);
}

std::unique_ptr<PolicyState> Policy::make_state() const {
  return std::make_unique<PolicyState>();
}

}  // namespace trainyard::scheduling
