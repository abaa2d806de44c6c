#include "simulation/job_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "simulation/unsupported.hpp"
#include "units/text.hpp"
#include "workload/file.hpp"

namespace trainyard::simulation {
namespace {

using input::InputError;

constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr std::int64_t kMostCopies = 1'000'000;
constexpr std::int64_t kMostPriority = 1'000'000;
constexpr units::Nanoseconds kLatestSubmit{200LL * 365 * 86400 * 1'000'000'000};

/// Keys of a [[job]] that the format has and this version does not act on: the what-if keys and
/// those of schedulers to come.
std::vector<std::string_view> unsupported_keys() {
  return {"gpu",      "batch",    "precision",   "bucket",       "accumulate",      "overlap",
          "graphs",   "network",  "straggler",   "estimate",     "deadline",        "gpu_kind",
          "min_gpus", "max_gpus", "mig_profile", "gpu_fraction", "checkpoint_every"};
}

std::string text_or(const input::Section& section, std::string_view key, std::string usual) {
  const auto value = section.find(key);
  return value ? value->text() : std::move(usual);
}

void read_steps(const input::Value& value, Amount& amount) {
  amount.steps = value.integer_in(1, kMostSteps);
}

void read_samples(const input::Value& value, Amount& amount) {
  amount.samples = value.number();
  if (!(*amount.samples > 0.0)) {
    value.fail("must be above 0");
  }
}

void read_duration(const input::Value& value, Amount& amount) {
  amount.duration = value.nanoseconds();
  if (*amount.duration == units::Nanoseconds{}) {
    value.fail("must be above 0");
  }
}

Amount read_amount(const input::Section& section) {
  using Read = void (*)(const input::Value&, Amount&);
  constexpr std::array<std::pair<std::string_view, Read>, 3> kKeys{
      {{"steps", &read_steps}, {"samples", &read_samples}, {"duration", &read_duration}}};
  Amount amount;
  std::string_view given;
  for (const auto& [key, read] : kKeys) {
    const auto value = section.find(key);
    if (!value) {
      continue;
    }
    if (!given.empty()) {
      value->fail(
          fmt::format("and '{}' exclude each other: expected one of 'steps', 'samples' "
                      "and 'duration'",
                      given));
    }
    given = key;
    read(*value, amount);
  }
  if (given.empty()) {
    section.fail("a job needs one of 'steps', 'samples' and 'duration'");
  }
  return amount;
}

/// What a [[job]] says by itself; its workload is not looked up yet.
Job read_job(const input::Section& section) {
  Job job;
  job.place = section.place();
  const auto name = section.require("name");
  job.id = name.text();
  if (job.id.empty()) {
    name.fail("must not be empty");
  }
  job.gpus =
      static_cast<int>(section.require("gpus").integer_in(1, std::numeric_limits<int>::max()));
  if (const auto submit = section.find("submit")) {
    job.submit = submit->nanoseconds();
  }
  job.queue = text_or(section, "queue", "");
  job.user = text_or(section, "user", "");
  job.job_class = text_or(section, "class", job.job_class);
  if (const std::string wrong = check_class(job.job_class); !wrong.empty()) {
    section.require("class").fail(wrong);
  }
  if (const auto priority = section.find("priority")) {
    job.priority = static_cast<int>(priority->integer_in(-kMostPriority, kMostPriority));
  }
  if (const auto memory = section.find("memory")) {
    job.memory = memory->bytes();
    if (!(job.memory->si() > 0.0)) {
      memory->fail("must be above 0");
    }
  }
  job.amount = read_amount(section);
  return job;
}

/// `count = N` stands for N jobs name-0 .. name-(N-1), `submit_every` apart.
std::vector<Job> copies(const input::Section& section, const Job& job) {
  const auto count = section.find("count");
  const auto every = section.find("submit_every");
  if (every && !count) {
    every->fail("needs 'count', the number of jobs");
  }
  if (!count) {
    return {job};
  }
  const std::int64_t number = count->integer_in(1, kMostCopies);
  const auto apart = every ? every->nanoseconds() : units::Nanoseconds{};
  if (apart.count() > (kLatestSubmit - job.submit).count() / number) {
    every->fail(fmt::format("puts the last of {} jobs beyond 200 y", number));
  }
  std::vector<Job> jobs(static_cast<std::size_t>(number), job);
  for (std::int64_t i = 0; i < number; ++i) {
    Job& copy = jobs[static_cast<std::size_t>(i)];
    copy.id = fmt::format("{}-{}", job.id, i);
    copy.submit += apart * i;
  }
  return jobs;
}

Amount amount_of(const input::CsvRow& cells, const JobRow& given, bool recorded) {
  if (recorded) {
    if (!given.duration) {
      cells.fail("duration_s", "is needed at recorded speed");
    }
    return {std::nullopt, std::nullopt, given.duration};
  }
  if (given.workload.empty()) {
    cells.fail("workload",
               "is needed at simulated speed; speed = \"recorded\" runs a job for its duration_s");
  }
  if (given.steps || given.samples) {
    return {given.steps, given.samples, std::nullopt};
  }
  if (!given.duration) {
    cells.fail("duration_s", "is empty, and so are 'steps' and 'samples': expected one of them");
  }
  return {std::nullopt, std::nullopt, given.duration};
}

/// The kind of GPU with least memory of those that say how much they have.
std::optional<topology::GpuKind> smallest_memory(const topology::Cluster& cluster) {
  const topology::GpuKind* smallest = nullptr;
  for (topology::GpuId gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const topology::GpuKind& kind = cluster.gpu_kind(gpu);
    if (kind.memory.si() > 0.0 && (smallest == nullptr || kind.memory < smallest->memory)) {
      smallest = &kind;
    }
  }
  return smallest == nullptr ? std::nullopt : std::optional{*smallest};
}

/// Every communicator spans all ranks: then the job can have any number of GPUs, each doing the
/// work of a recorded one.
bool scales(const workload::Workload& workload) {
  return std::ranges::all_of(workload.groups, [&](const workload::Group& group) {
    return static_cast<int>(group.ranks.size()) == workload.world_size;
  });
}

}  // namespace

JobList::JobList(const topology::Cluster& cluster, bool described, InputFiles& files)
    : cluster_{cluster}, described_{described}, files_{files} {
  if (described) {
    smallest_ = smallest_memory(cluster);
  }
}

void JobList::add_section(const input::Section& section) {
  const auto workload = section.find("workload");
  Job job = read_job(section);
  const std::vector<Job> jobs = copies(section, job);
  refuse_unsupported(section, unsupported_keys());
  section.reject_unknown();
  if (!workload && !job.amount.duration) {
    section.require(job.amount.steps ? "steps" : "samples")
        .fail("needs a 'workload'; without one a job runs for its 'duration'");
  }
  const int index = workload ? workload_index(workload->text(), workload->place()) : -1;
  for (Job copy : jobs) {
    copy.workload = index;
    add(std::move(copy), [&](std::string_view key) { return section.require(key).place(); });
  }
}

void JobList::add_trace_of(const input::Section& section) {
  const auto trace = section.find("trace");
  const auto speed = section.find("speed");
  refuse_unsupported(section, {"generate"});
  section.reject_unknown();
  const input::Value file = section.require("trace");
  const std::string word = speed ? speed->text() : "simulated";
  if (word != "simulated" && word != "recorded") {
    speed->fail(fmt::format(R"(must be "simulated" or "recorded", got "{}")", word));
  }
  const auto path = files_.find(file.text(), file.place(), {}, {});
  files_.record(path, file.text());
  const auto csv = input::Csv::parse_file(path.string());
  const auto rows = read_job_rows(csv);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    add_row(csv, row, rows[row], word == "recorded");
  }
  if (has_estimates(csv)) {
    notes_.emplace_back("estimate_s is not used: no policy of this version reads run times");
  }
}

void JobList::add_row(const input::Csv& csv, std::size_t row, const JobRow& given, bool recorded) {
  const input::CsvRow cells = csv.row(row);
  Job job;
  job.id = given.id;
  job.gpus = given.gpus;
  job.submit = given.submit;
  job.queue = given.queue;
  job.user = given.user;
  job.priority = given.priority;
  job.job_class = given.job_class;
  job.memory = given.memory;
  job.place = cells.place("job_id");
  job.amount = amount_of(cells, given, recorded);
  if (!recorded) {
    job.workload = workload_index(given.workload, cells.place("workload"));
  }
  add(std::move(job), [&](std::string_view key) {
    return cells.place(key == "name" ? "job_id" : key == "memory" ? "memory_bytes" : key);
  });
}

void JobList::add(Job job, const PlaceOf& place_of) {
  check_name(job, place_of);
  if (job.gpus > cluster_.gpus()) {
    throw InputError{place_of("gpus"),
                     fmt::format("job \"{}\" asks for {} GPUs, the cluster has {}", job.id,
                                 job.gpus, cluster_.gpus())};
  }
  if (job.workload >= 0) {
    check_workload(job, place_of);
  }
  check_memory(job, place_of);
  jobs_.push_back(std::move(job));
}

int JobList::workload_index(const std::string& name, const input::Place& place) {
  if (!described_) {
    throw InputError{place,
                     "a workload needs a cluster with a topology; on a flat one jobs run at "
                     "recorded speed"};
  }
  const auto known = std::ranges::find(workload_names_, name);
  if (known != workload_names_.end()) {
    return static_cast<int>(known - workload_names_.begin());
  }
  const auto path = files_.find(name, place, {"workloads"}, {".json", ".json.gz"});
  workloads_.push_back(workload::read_workload(path.string()));
  files_.record(path, name);
  workload_names_.push_back(name);
  return static_cast<int>(workloads_.size()) - 1;
}

void JobList::check_name(const Job& job, const PlaceOf& place_of) {
  const auto [first, is_new] = seen_.emplace(job.id, job.place);
  if (!is_new) {
    throw InputError{place_of("name"),
                     fmt::format("two jobs are called \"{}\"", job.id),
                     {input::prefix(first->second) + "the other one"}};
  }
}

void JobList::check_workload(const Job& job, const PlaceOf& place_of) {
  const auto& workload = workloads_[static_cast<std::size_t>(job.workload)];
  const std::string& name = workload_names_[static_cast<std::size_t>(job.workload)];
  if (job.amount.samples && !workload.samples_per_step) {
    throw InputError{place_of("samples"),
                     fmt::format("workload \"{}\" does not say how many samples a step has: "
                                 "expected 'steps' or 'duration'",
                                 name)};
  }
  if (job.gpus == workload.world_size) {
    return;
  }
  if (!scales(workload)) {
    throw InputError{place_of("gpus"),
                     fmt::format("job \"{}\" asks for {} GPUs, workload \"{}\" has {} ranks in "
                                 "groups that do not span them all: expected {}",
                                 job.id, job.gpus, name, workload.world_size, workload.world_size)};
  }
  auto& scaled = scaled_.try_emplace({job.workload, job.gpus}, job.id, 0).first->second;
  ++scaled.second;
}

void JobList::check_memory(const Job& job, const PlaceOf& place_of) {
  const auto needed = job.memory || job.workload < 0
                          ? job.memory
                          : workloads_[static_cast<std::size_t>(job.workload)].memory_per_gpu;
  if (!needed && job.workload >= 0) {
    unknown_memory_.insert(job.workload);
  }
  if (needed && smallest_ && *needed > smallest_->memory) {
    throw InputError{
        place_of(job.memory ? "memory" : "workload"),
        fmt::format("job \"{}\" needs {} a GPU, {} has {}", job.id, units::to_text(*needed),
                    smallest_->name, units::to_text(smallest_->memory))};
  }
}

void JobList::note_memory(Scenario& scenario) const {
  for (const int workload : unknown_memory_) {
    scenario.notes.push_back(
        fmt::format("the memory that workload \"{}\" needs is unknown: not checked where a job "
                    "does not say 'memory'",
                    workload_names_[static_cast<std::size_t>(workload)]));
  }
}

void JobList::note_scaling(Scenario& scenario) const {
  for (const auto& [what, jobs] : scaled_) {
    const auto index = static_cast<std::size_t>(what.first);
    const auto& workload = workloads_[index];
    const std::string more = jobs.second > 1 ? fmt::format(" and {} more", jobs.second - 1) : "";
    scenario.notes.push_back(fmt::format(
        "job \"{}\"{}: workload \"{}\" was recorded on {} GPUs and runs on {}; each does what a "
        "recorded one did{}",
        jobs.first, more, workload_names_[index], workload.world_size, what.second,
        workload.groups.empty() ? ", and they exchange nothing" : " (weak scaling)"));
  }
}

void JobList::move_into(Scenario& scenario) {
  scenario.notes = notes_;
  note_memory(scenario);
  note_scaling(scenario);
  std::ranges::stable_sort(jobs_, {}, &Job::submit);
  scenario.jobs = std::move(jobs_);
  scenario.workloads = std::move(workloads_);
  scenario.workload_names = std::move(workload_names_);
}

}  // namespace trainyard::simulation
