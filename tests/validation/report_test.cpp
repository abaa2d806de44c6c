#include "validation/report.hpp"

#include <catch2/catch.hpp>

using namespace trainyard::validation;

namespace {

Row row(const std::string& family, double measured, double predicted,
        const std::string& unscored = "") {
  Row result;
  result.family = family;
  result.system = family.substr(0, 1);
  result.measured = measured;
  result.predicted = predicted;
  result.unscored = unscored;
  return result;
}

}  // namespace

TEST_CASE("percentiles lie between order statistics as numpy has them", "[report]") {
  // numpy.percentile([1, 2, 3, 4], [50, 90]) is 2.5, 3.7.
  const Summary summary = summarise({0.4, 0.1, 0.3, 0.2});
  CHECK(summary.n == 4);
  CHECK(summary.median == Approx(0.25));
  CHECK(summary.p90 == Approx(0.37));
  CHECK(summary.mean == Approx(0.25));
  CHECK(summarise({0.5}).p90 == 0.5);
  CHECK(summarise({}).n == 0);
  CHECK(summarise({}).median == 0.0);
}

TEST_CASE("errors are relative, and scored rows are grouped", "[report]") {
  Report report;
  report.rows = {row("ax", 100, 110), row("ax", 100, 80), row("ay", 50, 50),
                 row("bz", 10, 40, "irregular")};
  CHECK(report.rows[1].error() == Approx(-0.2));
  CHECK(report.over_rows().n == 3);
  CHECK(report.over_rows().median == Approx(0.1));
  // Families: medians 0.15 and 0.
  CHECK(report.over_families().n == 2);
  CHECK(report.over_families().median == Approx(0.075));
  CHECK(report.by_family().at("ax").median == Approx(0.15));
  CHECK(report.by_system().at("a").n == 3);
  CHECK(report.by_system().count("b") == 0);
  CHECK(report.apart().at("irregular").median == Approx(3.0));
}
