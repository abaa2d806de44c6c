#include "topology/names.hpp"

#include <catch2/catch.hpp>

using namespace trainyard;

namespace {

input::Value name(const std::string& text) {
  return input::Document::parse("name = '" + text + "'\n", "n.toml").root().require("name");
}

}  // namespace

TEST_CASE("names expand by range, by list, or not at all", "[names]") {
  using Names = std::vector<std::string>;
  CHECK(topology::expand_name(name("gpu{0..3}")) == Names{"gpu0", "gpu1", "gpu2", "gpu3"});
  CHECK(topology::expand_name(name("a{9..11}b")) == Names{"a9b", "a10b", "a11b"});
  CHECK(topology::expand_name(name("gpu{5..5}")) == Names{"gpu5"});
  CHECK(topology::expand_name(name("gpu{1,3}")) == Names{"gpu1", "gpu3"});
  CHECK(topology::expand_name(name("rack-{a,b}")) == Names{"rack-a", "rack-b"});
  CHECK(topology::expand_name(name("node{0..1}/mlx5_0")) == Names{"node0/mlx5_0", "node1/mlx5_0"});
  CHECK(topology::expand_name(name("plx0")) == Names{"plx0"});
}

TEST_CASE("a name that cannot be expanded is an error at its place", "[names]") {
  const auto wrong =
      GENERATE(as<std::string>{}, "gpu{7..0}", "gpu{-1..3}", "gpu{0..}", "gpu{..3}", "gpu{0..3",
               "gpu0..3}", "gpu}0..3{", "gpu{0..3}{0..1}", "gpu{}", "gpu{1,}", "gpu{,1}",
               "gpu{0..1000000000}", "gpu{0..99999999999}", "gpu{0.5..2}", "gpu{0..3,7}", "");
  CAPTURE(wrong);
  REQUIRE_THROWS_WITH(topology::expand_name(name(wrong)),
                      Catch::StartsWith("n.toml:1:8: error: 'name' must "));
}

TEST_CASE("a range that runs backwards shows what was meant", "[names]") {
  REQUIRE_THROWS_WITH(topology::expand_name(name("gpu{7..0}")),
                      Catch::EndsWith("must have a range such as {0..7}, got \"gpu{7..0}\""));
}
