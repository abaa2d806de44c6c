#include <zlib.h>

#include <catch2/catch.hpp>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "input/csv.hpp"
#include "support/recorded_loop.hpp"
#include "support/shared.hpp"

// Whole traces against what other, independent schedulers made of them. See the README of the
// scheduler reference in the shared data for how those numbers came about.

namespace trainyard {
namespace {

using test::RecordedJob;
using test::RecordedRun;

std::vector<RecordedRun> run_on_pool(int gpus, const std::string& policy,
                                     const std::vector<RecordedJob>& jobs) {
  const auto cluster = topology::flat_cluster(1, gpus);
  return test::RecordedLoop{cluster, "policy = \"" + policy + "\"\nplacement = \"count\"\n", jobs}
      .finish();
}

struct Summary {
  double mean_jct = 0.0;
  double mean_wait = 0.0;
  int waited = 0;
  std::int64_t makespan = 0;
};

Summary summarise(const std::vector<RecordedRun>& ran, const std::vector<RecordedJob>& jobs) {
  Summary summary;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const std::int64_t wait = ran[job].start - jobs[job].submit;
    summary.mean_wait += static_cast<double>(wait);
    summary.mean_jct += static_cast<double>(ran[job].end - jobs[job].submit);
    summary.waited += wait > 0 ? 1 : 0;
    summary.makespan = std::max(summary.makespan, ran[job].end);
  }
  summary.mean_wait /= static_cast<double>(jobs.size());
  summary.mean_jct /= static_cast<double>(jobs.size());
  return summary;
}

/// How many of the jobs do not wait exactly as long as their reasons add up to.
int wrong_waits(const std::vector<RecordedRun>& ran, const std::vector<RecordedJob>& jobs) {
  int wrong = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const auto& waits = ran[job].waits;
    const std::int64_t sum =
        std::accumulate(waits.begin(), waits.end(), std::int64_t{0},
                        [](std::int64_t total, const auto& wait) { return total + wait.second; });
    wrong += sum == ran[job].start - jobs[job].submit ? 0 : 1;
  }
  return wrong;
}

std::string inflate(const std::filesystem::path& path) {
  std::string text;
  std::string part(1U << 16U, '\0');
  const gzFile file = gzopen(path.c_str(), "rb");
  for (int count = 1; count > 0;) {
    count = gzread(file, part.data(), static_cast<unsigned>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(std::max(count, 0)));
  }
  gzclose(file);
  return text;
}

int number_at(const std::string& text, std::size_t from, std::size_t count) {
  int number = 0;
  std::from_chars(text.data() + from, text.data() + from + count, number);
  return number;
}

/// "2017-10-09 07:01:55" to seconds.
std::int64_t seconds_of(const std::string& text) {
  using namespace std::chrono;
  const sys_days day = year{number_at(text, 0, 4)} /
                       month{static_cast<unsigned>(number_at(text, 5, 2))} /
                       static_cast<unsigned>(number_at(text, 8, 2));
  return day.time_since_epoch().count() * std::int64_t{86400} + number_at(text, 11, 2) * 3600 +
         number_at(text, 14, 2) * 60 + number_at(text, 17, 2);
}

/// By submit, then row; submits from the earliest, durations cut to whole seconds.
std::vector<RecordedJob> read_philly(const std::filesystem::path& path) {
  const auto csv = input::Csv::parse(inflate(path), "philly.csv");
  std::vector<RecordedJob> jobs;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const auto row = csv.row(i);
    jobs.push_back({static_cast<int>(row.integer("num_gpus")),
                    static_cast<std::int64_t>(row.number("duration")),
                    seconds_of(row.text("timestamp"))});
  }
  std::ranges::stable_sort(jobs, {}, &RecordedJob::submit);
  const std::int64_t first = jobs.front().submit;
  for (RecordedJob& job : jobs) {
    job.submit -= first;
  }
  return jobs;
}

TEST_CASE("fifo starts and ends every job when the Tiresias simulator does", "[reference]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  // 16 GPUs and 60 jobs; 64 GPUs and 992 jobs
  const auto [file, gpus, rows] = GENERATE(table<std::string, int, std::size_t>(
      {{"60_job.s1n2g8.fifo.count.csv", 16, 60}, {"trace3.s1n8g8.fifo.count.csv", 64, 992}}));
  const auto csv =
      input::Csv::parse_file((*shared / "scheduler-reference" / "tiresias" / file).string());
  REQUIRE(csv.size() == rows);
  // The file is by end; the scheduler breaks ties of submit by job_id.
  std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < rows; ++i) {
    order.emplace_back(csv.row(i).integer("submit_s"), csv.row(i).integer("job_id"), i);
  }
  std::ranges::sort(order);
  std::vector<RecordedJob> jobs;
  for (const auto& [submit, id, i] : order) {
    jobs.push_back(
        {static_cast<int>(csv.row(i).integer("num_gpu")), csv.row(i).integer("service_s"), submit});
  }
  const auto ran = run_on_pool(gpus, "fifo", jobs);
  int different = 0;
  for (std::size_t job = 0; job < rows; ++job) {
    const auto row = csv.row(std::get<2>(order[job]));
    different += ran[job].start == row.integer("first_start_s") ? 0 : 1;
    different += ran[job].end == row.integer("end_s") ? 0 : 1;
  }
  CHECK(different == 0);
  CHECK(wrong_waits(ran, jobs) == 0);
}

TEST_CASE("82,247 Philly jobs have the totals of an independent program", "[reference]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto jobs = read_philly(*shared / "job-traces" / "philly-flat" / "philly.csv.gz");
  const auto totals = input::Csv::parse_file(
      (*shared / "scheduler-reference" / "oracle" / "philly_summary.csv").string());
  const auto [policy, row_name] =
      GENERATE(table<std::string, std::string>({{"fifo", "strict"}, {"fifo-best-effort", "skip"}}));
  INFO(policy);
  const auto ran = run_on_pool(768, policy, jobs);
  const Summary summary = summarise(ran, jobs);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto row = totals.row(i);
    if (row.text("policy") != row_name) {
      continue;
    }
    REQUIRE(row.integer("jobs") == static_cast<std::int64_t>(jobs.size()));
    // the file has four decimals
    CHECK(summary.mean_jct == Approx(row.number("mean_jct_s")).margin(6e-5).epsilon(0));
    CHECK(summary.mean_wait == Approx(row.number("mean_wait_s")).margin(6e-5).epsilon(0));
    CHECK(summary.waited == row.integer("jobs_that_waited"));
    CHECK(summary.makespan == row.integer("makespan_s"));
  }
  CHECK(wrong_waits(ran, jobs) == 0);
}

/// 100,000 jobs on 128 nodes of 8 GPUs, offered about 85 % of what those can do: one job every 10
/// s, mean 1 x 0.7 + 4 x 0.1 + 8 x 0.15 + 16 x 0.05 = 3.1 GPUs for 2800 s is 868 of 1024 GPUs.
std::vector<RecordedJob> synthetic_jobs() {
  std::vector<RecordedJob> jobs;
  std::uint64_t state = 1;
  const auto next = [&] {  // Knuth's 64-bit linear congruential generator, upper bits
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>(state >> 33U);
  };
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const std::int64_t kind = next() % 100;
    const int gpus = kind < 70 ? 1 : kind < 80 ? 4 : kind < 95 ? 8 : 16;
    jobs.push_back({gpus, 1 + next() % 5600, 10 * i});
  }
  return jobs;
}

TEST_CASE("100,000 jobs keep the order of submit under fifo", "[scale]") {
  const auto cluster = topology::flat_cluster(128, 8);
  const auto jobs = synthetic_jobs();
  const std::string placement = GENERATE("count", "pack", "spread");
  INFO(placement);
  const auto ran =
      test::RecordedLoop{
          cluster, "policy = \"fifo\"\nplacement = \"" + placement + "\"\nspan = \"fit-node\"\n",
          jobs}
          .finish();
  CHECK(std::ranges::is_sorted(ran, {}, &RecordedRun::start));
  CHECK(wrong_waits(ran, jobs) == 0);
  CHECK(std::ranges::all_of(ran, [](const auto& job) {
    return job.gpus.size() > 8 || job.gpus.front() / 8 == job.gpus.back() / 8;
  }));
}

}  // namespace
}  // namespace trainyard
