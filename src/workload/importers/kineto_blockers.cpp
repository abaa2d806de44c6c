#include "workload/importers/kineto_blockers.hpp"

namespace trainyard::workload {

bool Blockers::ended(int op, const Query& query) const {
  return op >= 0 && links_.ops[static_cast<std::size_t>(op)].end <= query.returned &&
         query.emitted[static_cast<std::size_t>(op)] >= 0;
}

std::vector<int> Blockers::find(const Instant& returned, int last_launch,
                                const std::vector<int>& emitted) const {
  const auto index = static_cast<std::size_t>(returned.call);
  const HostCall& call = file_.calls[index];
  const Query query{call.start - window_start_, returned.time, last_launch, emitted};
  if (call.kind == CallKind::copy) {
    const int copy = links_.launches[index].front();
    return ended(copy, query) ? std::vector<int>{copy} : std::vector<int>{};
  }
  const int sync = links_.sync_of[index];
  const SyncKind known =
      sync < 0 ? SyncKind::stream_waits : file_.syncs[static_cast<std::size_t>(sync)].kind;
  if (call.kind == CallKind::device_sync || known == SyncKind::context) {
    return last_of_each_lane(query);
  }
  int found = -1;
  if (known == SyncKind::stream || known == SyncKind::event) {
    found = recorded_blocker(static_cast<std::size_t>(sync), query);
  } else if (call.kind == CallKind::event_sync) {
    found = latest_of_any_lane(query, true);
  } else {
    found = stream_blocker(query);
  }
  // Releasing memory waits only sometimes: an op that had ended before shows no wait.
  const bool had_ended =
      found >= 0 && links_.ops[static_cast<std::size_t>(found)].end <= query.called;
  if (found < 0 || (call.kind == CallKind::free && had_ended)) {
    return {};
  }
  return {found};
}

std::vector<int> Blockers::last_of_each_lane(const Query& query) const {
  std::vector<int> found;
  for (std::size_t lane = 0; lane < links_.lanes.size(); ++lane) {
    const int op =
        links_.latest_ended(static_cast<int>(lane), query.called, query.returned, query.emitted);
    if (op >= 0) {
      found.push_back(op);
    }
  }
  return found;
}

int Blockers::recorded_blocker(std::size_t sync, const Query& query) const {
  const SyncRecord& record = file_.syncs[sync];
  const int lane = links_.find_lane(record.device, record.source);
  if (lane < 0) {
    return -1;
  }
  const int recorder = links_.recorder_of[sync];
  const std::int64_t before =
      recorder < 0 ? query.called
                   : file_.calls[static_cast<std::size_t>(recorder)].start - window_start_;
  return links_.latest_ended(lane, before, query.returned, query.emitted);
}

int Blockers::stream_blocker(const Query& query) const {
  if (query.last_launch >= 0) {
    const auto launch = static_cast<std::size_t>(query.last_launch);
    if (file_.calls[launch].kind == CallKind::copy) {
      const int copy = links_.launches[launch].front();
      if (ended(copy, query)) {
        return copy;
      }
    }
  }
  return latest_of_any_lane(query, false);
}

int Blockers::latest_of_any_lane(const Query& query, bool any_op) const {
  int best = -1;
  for (std::size_t i = 0; i < links_.lanes.size(); ++i) {
    const auto lane = static_cast<int>(i);
    const int op = any_op ? links_.latest_ended(lane, query.called, query.returned, query.emitted)
                          : links_.last_launched(lane, query.called);
    if (ended(op, query) && (best < 0 || links_.ops[static_cast<std::size_t>(op)].end >
                                             links_.ops[static_cast<std::size_t>(best)].end)) {
      best = op;
    }
  }
  return best;
}

}  // namespace trainyard::workload
