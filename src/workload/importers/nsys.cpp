#include "workload/importers/nsys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "input/error.hpp"
#include "workload/importers/nsys_process.hpp"

namespace trainyard::workload {
namespace {

// Names of GPUs by (process, device as the process numbers them).
class GpuNames {
 public:
  explicit GpuNames(const Sqlite& database) {
    SqliteRows gpus = database.select("TARGET_INFO_GPU", {"id", "name"}, {"cuDevice"});
    while (gpus.next()) {
      const std::int64_t id = gpus.integer_or(0, 0);
      by_id_[id] = gpus.text(1);
      by_cuda_[gpus.integer_or(2, id)] = gpus.text(1);
    }
    SqliteRows devices = database.select("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId"}, {"pid"});
    while (devices.next()) {
      const auto found = by_id_.find(devices.integer_or(0, -1));
      if (found != by_id_.end()) {
        by_process_[{devices.integer_or(2, 0), devices.integer_or(1, 0)}] = found->second;
      }
    }
  }

  [[nodiscard]] std::string name(std::int64_t process, int device) const {
    const auto exact = by_process_.find({pid_of(process), device});
    if (exact != by_process_.end()) {
      return exact->second;
    }
    const auto numbered = by_cuda_.find(device);
    return numbered == by_cuda_.end() ? std::string{} : numbered->second;
  }

 private:
  std::map<std::int64_t, std::string> by_id_{};
  std::map<std::int64_t, std::string> by_cuda_{};
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> by_process_{};
};

std::int64_t session_start(const Sqlite& database) {
  SqliteRows rows = database.select("TARGET_INFO_SESSION_START_TIME", {}, {"utcEpochNs"});
  return rows.next() ? checked_time(rows, rows.integer_or(0, 0)) : 0;
}

std::vector<int> devices_of(const KinetoFile& file) {
  std::set<int> devices;
  for (const GpuEvent& event : file.gpu) {
    devices.insert(event.device);
  }
  return {devices.begin(), devices.end()};
}

// The part of a process that concerns one of its GPUs: calls that launch on others are left out.
KinetoFile only_device(const KinetoFile& file, int device) {
  KinetoFile part = file;
  std::unordered_map<std::int64_t, bool> launches;  // correlation: on this device
  for (const GpuEvent& event : file.gpu) {
    launches[event.correlation] = launches[event.correlation] || event.device == device;
  }
  std::erase_if(part.gpu, [&](const GpuEvent& event) { return event.device != device; });
  std::erase_if(part.calls, [&](const HostCall& call) {
    const auto found = launches.find(call.correlation);
    return call.correlation != 0 && found != launches.end() && !found->second;
  });
  return part;
}

std::set<std::string> step_names(const KinetoFile& file) {
  std::set<std::string> names;
  for (const StepRange& step : file.steps) {
    names.insert(step.name);
  }
  return names;
}

// A session begins in the middle of different steps of its processes: where steps have numbers,
// only those that every rank has are steps.
void keep_common_steps(std::vector<Recording>& recordings) {
  std::set<std::string> common = step_names(recordings.front().file);
  for (const Recording& recording : recordings) {
    const std::set<std::string> names = step_names(recording.file);
    if (names.size() < recording.file.steps.size()) {
      return;
    }
    std::erase_if(common, [&](const std::string& name) { return !names.contains(name); });
  }
  if (common.empty()) {
    return;  // each rank has names of its own
  }
  for (Recording& recording : recordings) {
    std::erase_if(recording.file.steps,
                  [&](const StepRange& step) { return !common.contains(step.name); });
  }
}

}  // namespace

// --- shared by the readers of tables ------------------------------------------------------------

int NsysProcess::thread(std::int64_t global_thread) {
  return threads.try_emplace(global_thread, static_cast<int>(threads.size())).first->second;
}

NsysStrings::NsysStrings(const Sqlite& database, TextStore& store) {
  SqliteRows rows = database.select("StringIds", {"id", "value"});
  while (rows.next()) {
    texts_.emplace(rows.needed(0), store.emplace_back(rows.text(1)));
  }
}

std::string_view NsysStrings::text(std::int64_t id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::string_view{} : found->second;
}

std::int64_t process_of(std::int64_t global_id) {
  return global_id >> 24;
}

std::int64_t pid_of(std::int64_t process) {
  return process & 0xffffff;
}

NsysProcess* find_process(NsysProcesses& processes, std::int64_t global_id) {
  const auto found = processes.find(process_of(global_id));
  if (found != processes.end()) {
    return &found->second;
  }
  const bool unknown = processes.size() == 1 && processes.begin()->first == 0;
  return unknown ? &processes.begin()->second : nullptr;
}

std::int64_t checked_time(const SqliteRows& rows, std::int64_t time) {
  static constexpr std::int64_t kLimit = 4'000'000'000'000'000'000;
  if (time < -kLimit || time > kLimit) {
    rows.fail(fmt::format("{} is no time in ns, expected one within {}", time, kLimit));
  }
  return time;
}

// --- the file -----------------------------------------------------------------------------------

bool is_nsys(const Sqlite& database) {
  return database.has_table("META_DATA_EXPORT") || database.has_table("EXPORT_META_DATA") ||
         database.has_table("StringIds");
}

std::vector<Recording> read_nsys(const Sqlite& database) {
  const auto store = std::make_shared<TextStore>();
  const NsysStrings strings{database, *store};
  const GpuNames gpus{database};
  const std::int64_t base = session_start(database);
  NsysProcesses processes;
  read_gpu_work(database, strings, *store, processes);
  read_calls(database, strings, processes);
  read_ranges(database, strings, *store, processes);

  std::vector<Recording> recordings;
  for (auto& [id, process] : processes) {
    const std::vector<int> devices = devices_of(process.file);
    for (const int device : devices) {
      Recording& recording = recordings.emplace_back();
      recording.path = database.path();
      recording.format = to_text(ProfileFormat::nsys);
      recording.store = store;
      recording.file =
          devices.size() > 1 ? only_device(process.file, device) : std::move(process.file);
      recording.file.base = base;
      if (const std::string name = gpus.name(id, device); !name.empty()) {
        recording.file.devices[device] = name;
      }
      // What the process left out is told once.
      process.file.skipped.clear();
    }
  }
  if (recordings.empty()) {
    throw input::InputError{{database.path()},
                            "the export has no GPU events, expected kernels, copies or fills (was "
                            "CUDA traced, and did the session last?)"};
  }
  keep_common_steps(recordings);
  return recordings;
}

}  // namespace trainyard::workload
