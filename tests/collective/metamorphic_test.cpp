#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "collective/plan.hpp"
#include "collective/support.hpp"
#include "units/text.hpp"

using namespace trainyard;
using workload::CollectiveOp;

namespace {

constexpr std::array kOps{
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::broadcast,  CollectiveOp::reduce,     CollectiveOp::all_to_all,
    CollectiveOp::send_recv,  CollectiveOp::gather,     CollectiveOp::scatter};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The catalogue with each `bandwidth = "25 GB/s"` multiplied.
topology::Catalog catalogue(double factor) {
  const std::filesystem::path folder =
      std::filesystem::path{TRAINYARD_SOURCE_DIR} / "topologies" / "catalog";
  static const std::regex bandwidth_key{R"re((\bbandwidth\s*=\s*")([0-9.]+)(\s*[KMG]i?[Bb]/s"))re"};
  std::vector<input::Document> documents;
  for (const auto& file : {folder / "gpus.toml", folder / "links.toml"}) {
    const std::string text = text_of(file);
    std::string changed;
    auto from = text.cbegin();
    for (std::sregex_iterator match{text.begin(), text.end(), bandwidth_key}, end; match != end;
         ++match) {
      changed.append(from, (*match)[0].first);
      changed += (*match)[1].str() + units::to_decimal(std::stod((*match)[2].str()) * factor) +
                 (*match)[3].str();
      from = (*match)[0].second;
    }
    changed.append(from, text.cend());
    documents.push_back(input::Document::parse(changed, file.filename().string()));
  }
  return topology::Catalog::parse(documents);
}

topology::Cluster with_bandwidths(const std::string& type, double factor) {
  const auto path =
      std::filesystem::path{TRAINYARD_SOURCE_DIR} / "topologies" / "nodes" / (type + ".toml");
  return topology::parse_cluster(input::Document::parse(text_of(path), type), catalogue(factor),
                                 {2, {}});
}

}  // namespace

TEST_CASE("more bytes never take less time", "[metamorphic]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-a100-40gb");
  const auto cluster = test::nodes_of(type, 2);
  collective::Planner planner{cluster};
  const auto group =
      GENERATE(std::vector<int>{0, 1}, std::vector<int>{0, 5, 6}, std::vector<int>{1, 2, 9, 12});
  CAPTURE(type, group);
  for (const CollectiveOp op : kOps) {
    CAPTURE(workload::to_text(op));
    double before = 0.0;
    for (int step = 0; step < 44; ++step) {
      const double bytes = std::pow(1.7, step);  // 1 B to 8 GB
      const double time = time_alone(planner.plan({op, units::Bytes{bytes}, group}), cluster).si();
      CHECK(time >= before);
      before = time;
    }
  }
}

TEST_CASE("the order of ranks inside a node does not matter", "[metamorphic]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-a100-40gb", "dgx-2");
  const auto cluster = test::nodes_of(type, 2);
  collective::Planner planner{cluster};
  test::Random random{5};
  for (int round = 0; round < 20; ++round) {
    const int in_node = cluster.gpus_in(0);
    auto group = test::sample(random, in_node, 2 + random.below(in_node - 1));
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
      const auto plan = planner.plan({op, units::Bytes{1e8}, group});
      auto sorted = group;
      std::sort(sorted.begin(), sorted.end());
      const auto same = planner.plan({op, units::Bytes{1e8}, sorted});
      CHECK(test::bytes_by_link(plan) == test::bytes_by_link(same));
      CHECK(time_alone(plan, cluster) == time_alone(same, cluster));
    }
  }
}

TEST_CASE("equal nodes give equal plans", "[metamorphic]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 3);
  collective::Planner planner{cluster};
  test::Random random{3};
  for (int round = 0; round < 20; ++round) {
    const auto group = test::sample(random, 8, 2 + random.below(7));
    auto moved = group;
    for (int& gpu : moved) {
      gpu += 16;
    }
    const auto here = planner.plan({CollectiveOp::all_reduce, units::Bytes{1e8}, group});
    const auto there = planner.plan({CollectiveOp::all_reduce, units::Bytes{1e8}, moved});
    CHECK(here.flows.size() == there.flows.size());
    CHECK(time_alone(here, cluster).si() == Approx(time_alone(there, cluster).si()));
  }
}

TEST_CASE("twice the bandwidth everywhere halves large transfers", "[metamorphic]") {
  const auto type = GENERATE(as<std::string>{}, "dgx-1-v100", "dgx-a100-40gb");
  CAPTURE(type);
  const auto once = with_bandwidths(type, 1.0);
  const auto twice = with_bandwidths(type, 2.0);
  for (const CollectiveOp op : kOps) {
    CAPTURE(workload::to_text(op));
    for (const int gpus : {2, 5, 8, 16}) {
      const auto group = test::first_gpus(gpus);
      const double slow = test::transfer_time(once, test::plan_of(once, op, 1e10, group));
      const double fast = test::transfer_time(twice, test::plan_of(twice, op, 1e10, group));
      CHECK(fast == Approx(slow / 2));
    }
  }
}

TEST_CASE("planning again gives the same plan", "[metamorphic]") {
  const auto cluster = test::nodes_of("dgx-1-v100", 2);
  collective::Planner planner{cluster};
  const collective::Request request{
      CollectiveOp::all_reduce, units::Bytes{1e7}, {0, 3, 4, 8, 9, 12}};
  const auto first = planner.plan(request);
  const auto again = planner.plan(request);
  const auto fresh = collective::Planner{cluster}.plan(request);
  for (const auto* other : {&again, &fresh}) {
    REQUIRE(other->flows.size() == first.flows.size());
    for (std::size_t f = 0; f < first.flows.size(); ++f) {
      CHECK(other->flows[f].links == first.flows[f].links);
      CHECK(other->flows[f].size == first.flows[f].size);
    }
  }
}
