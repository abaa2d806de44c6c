#include "topology/mig.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "input/csv.hpp"
#include "support/shared.hpp"

using namespace trainyard;
using topology::MigInstance;
using topology::MigTable;

namespace {

const input::Place kHere{"jobs.csv", 3, 9};

const topology::Catalog& catalog() {
  static const auto kCatalog = topology::Catalog::load();
  return kCatalog;
}

const topology::GpuKind& a100() {
  return catalog().gpu("a100-sxm4-40gb", kHere);
}

std::vector<int> starts(const std::vector<MigInstance>& existing, const std::string& profile) {
  static const auto kTable = MigTable::load();
  return kTable.can_place(a100(), existing, profile, kHere);
}

/// Adds instances until no profile fits, in every way; calls `visit` for each full GPU.
template <typename Visit>
void fill(const MigTable& table, const topology::GpuKind& gpu, std::vector<MigInstance>& held,
          const Visit& visit) {
  bool full = true;
  for (const auto& profile : table.profiles(gpu)) {
    for (const int start : table.can_place(gpu, held, profile.name, kHere)) {
      full = false;
      // In ascending order only: each set comes once.
      if (held.empty() || start > held.back().start) {
        held.push_back({profile.name, start});
        fill(table, gpu, held, visit);
        held.pop_back();
      }
    }
  }
  if (full) {
    visit();
  }
}

}  // namespace

TEST_CASE("an empty A100 offers every start of a profile", "[mig]") {
  using Starts = std::vector<int>;
  CHECK(starts({}, "1g.5gb") == Starts{0, 1, 2, 3, 4, 5, 6});
  CHECK(starts({}, "1g.10gb") == Starts{0, 2, 4, 6});
  CHECK(starts({}, "2g.10gb") == Starts{0, 2, 4});
  CHECK(starts({}, "3g.20gb") == Starts{0, 4});
  CHECK(starts({}, "4g.20gb") == Starts{0});
  CHECK(starts({}, "7g.40gb") == Starts{0});
}

TEST_CASE("instances shut the starts that their memory slices cover", "[mig]") {
  // By hand: 3g holds slices s..s+3, 2g s..s+1, 1g one.
  const auto [held, profile, expected] =
      GENERATE(table<std::vector<MigInstance>, std::string, std::vector<int>>({
          {{{"3g.20gb", 0}}, "3g.20gb", {4}},
          {{{"3g.20gb", 0}}, "4g.20gb", {}},
          {{{"3g.20gb", 4}}, "4g.20gb", {0}},
          {{{"3g.20gb", 0}}, "1g.5gb", {4, 5, 6}},
          {{{"3g.20gb", 4}}, "1g.5gb", {0, 1, 2, 3}},
          {{{"3g.20gb", 0}, {"3g.20gb", 4}}, "1g.5gb", {}},
          {{{"1g.5gb", 6}}, "3g.20gb", {0}},
          {{{"1g.5gb", 3}}, "3g.20gb", {4}},
          {{{"1g.5gb", 3}}, "4g.20gb", {}},
          {{{"1g.5gb", 1}, {"1g.5gb", 5}}, "3g.20gb", {}},
          {{{"1g.5gb", 1}, {"1g.5gb", 5}}, "2g.10gb", {2}},
          {{{"2g.10gb", 0}, {"2g.10gb", 2}, {"2g.10gb", 4}}, "1g.5gb", {6}},
          {{{"2g.10gb", 0}, {"2g.10gb", 2}, {"2g.10gb", 4}}, "1g.10gb", {6}},
          {{{"4g.20gb", 0}, {"2g.10gb", 4}}, "1g.5gb", {6}},
          {{{"1g.5gb", 0}}, "7g.40gb", {}},
          {{{"7g.40gb", 0}}, "1g.5gb", {}},
      }));
  CAPTURE(profile);
  CHECK(starts(held, profile) == expected);
}

TEST_CASE("compute slices and instances never exceed the GPU's", "[mig]") {
  const auto mig = MigTable::load();
  const auto [name, most_slices] =
      GENERATE(table<std::string, int>({{"a100-sxm4-40gb", 7}, {"h100-sxm-80gb", 7}, {"a30", 4}}));
  const auto& gpu = catalog().gpu(name, kHere);
  int most = 0;
  std::vector<MigInstance> held;
  fill(mig, gpu, held, [&] {
    int compute = 0;
    for (const auto& instance : held) {
      compute += mig.profile(gpu, instance.profile, kHere).compute_slices;
    }
    most = std::max(most, static_cast<int>(held.size()));
    if (compute > most_slices) {
      FAIL_CHECK(name << " holds " << compute << " compute slices");
    }
  });
  CHECK(most == gpu.mig_instances);
}

TEST_CASE("each profile fits as often as the guide says", "[mig]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const std::map<std::string, std::string> names{{"A100-40GB", "a100-sxm4-40gb"},
                                                 {"A100-80GB", "a100-sxm4-80gb"},
                                                 {"H100-80GB", "h100-sxm-80gb"},
                                                 {"A30-24GB", "a30"}};
  const auto guide = input::Csv::parse_file((*shared / "published/mig-profiles.csv").string());
  const auto mig = MigTable::load();
  for (std::size_t i = 0; i < guide.size(); ++i) {
    const auto row = guide.row(i);
    const auto& gpu = catalog().gpu(names.at(row.text("gpu")), kHere);
    const auto& profile = mig.profile(gpu, row.text("profile"), kHere);
    CAPTURE(gpu.name, profile.name);
    CHECK(profile.compute_slices == row.number("compute_slices"));
    CHECK(profile.sms == row.number("sm_count"));
    CHECK(profile.memory_slices == row.number("memory_slices_of_8"));
    CHECK(profile.memory.si() == Approx(row.number("memory_gb") * 1e9));
    std::vector<MigInstance> held;
    for (auto free = mig.can_place(gpu, held, profile.name, kHere); !free.empty();
         free = mig.can_place(gpu, held, profile.name, kHere)) {
      held.push_back({profile.name, free.front()});
    }
    CHECK(static_cast<double>(held.size()) == row.number("max_instances"));
  }
}

TEST_CASE("only GPUs that can be split have profiles", "[mig]") {
  const auto mig = MigTable::load();
  for (const auto& gpu : catalog().gpus()) {
    CAPTURE(gpu.name);
    CHECK((gpu.mig_instances > 0 || mig.profiles(gpu).empty()));
    const bool a100_or_h100 = gpu.name.starts_with("a100") || gpu.name.starts_with("h100");
    CHECK((mig.profiles(gpu).empty() || a100_or_h100 || gpu.name == "a30"));
    CHECK((!a100_or_h100 || mig.profiles(gpu).size() == 6));
  }
}

TEST_CASE("unknown profiles and GPUs that cannot be split are errors", "[mig]") {
  REQUIRE_THROWS_WITH(starts({}, "1g.6gb"),
                      "jobs.csv:3:9: error: \"1g.6gb\" is no MIG profile of a a100-sxm4-40gb, did "
                      "you mean \"1g.5gb\"?");
  REQUIRE_THROWS_WITH(starts({{"9g.90gb", 0}}, "1g.5gb"),
                      Catch::StartsWith("jobs.csv:3:9: error: \"9g.90gb\" is no MIG profile"));
  const auto mig = MigTable::load();
  const auto& v100 = catalog().gpu("v100-sxm2-16gb", kHere);
  CHECK(mig.profiles(v100).empty());
  REQUIRE_THROWS_WITH(mig.profile(v100, "1g.5gb", kHere),
                      "jobs.csv:3:9: error: a v100-sxm2-16gb cannot be split by MIG");
  REQUIRE_THROWS_WITH(mig.profile(catalog().gpu("h200-sxm-141gb", kHere), "1g.18gb", kHere),
                      "jobs.csv:3:9: error: the MIG profiles of a h200-sxm-141gb are not known");
}

TEST_CASE("a wrong MIG table is an error at the place of the mistake", "[mig]") {
  const auto error_of = [](const std::string& gpus, const std::string& profiles) {
    const std::string text =
        "[[mig]]\ngpus = " + gpus + "\nmemory_slices = 8\nprofiles = [" + profiles + "]\n";
    try {
      static_cast<void>(MigTable::parse(input::Document::parse(text, "m.toml"), catalog()));
    } catch (const input::InputError& error) {
      return std::string{error.what()};
    }
    return std::string{"no error"};
  };
  const auto profile = [](const std::string& starts, int slices = 2) {
    return "{ name = \"p\", compute_slices = 1, sms = 14, memory_slices = " +
           std::to_string(slices) + ", memory = \"5 GB\", starts = " + starts + " }";
  };
  CHECK(error_of("[\"a30\"]", profile("[0, 6]")) == "no error");
  CHECK_THAT(error_of("[\"a31\"]", profile("[0]")),
             Catch::StartsWith("m.toml:2:9: error: unknown GPU \"a31\", did you mean \"a30\"?"));
  CHECK_THAT(error_of("[\"a30\", \"a30\"]", profile("[0]")),
             Catch::Contains("m.toml:2:16: error: 'gpus[1]' \"a30\" has profiles already"));
  CHECK_THAT(error_of("[\"a30\"]", profile("[0, 7]")),
             Catch::Contains("must be an integer from 0 to 6, got 7"));
  CHECK_THAT(error_of("[\"a30\"]", profile("[2, 0]")),
             Catch::Contains("must be larger than the start before it"));
  CHECK_THAT(error_of("[\"a30\"]", profile("[0]", 9)),
             Catch::Contains("must be an integer from 1 to 8, got 9"));
  CHECK_THAT(error_of("[\"a30\"]", profile("[0]") + ", " + profile("[0]")),
             Catch::Contains("\"p\" is there twice"));
}
