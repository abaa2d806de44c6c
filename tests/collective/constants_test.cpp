#include "collective/constants.hpp"

#include <catch2/catch.hpp>

#include "collective/support.hpp"
#include "input/files.hpp"

using namespace trainyard;

namespace {

std::string shipped() {
  return input::read_file(input::data_folder() / "topologies/catalog/collectives.toml");
}

/// The message for the shipped table with `from` replaced.
std::string message_for(const std::string& from, const std::string& to) {
  std::string text = shipped();
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    static_cast<void>(collective::Constants::parse(input::Document::parse(text, "c.toml")));
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the shipped table is read and counted", "[constants]") {
  const auto constants = collective::Constants::load();
  CHECK(constants.protocols[collective::kLl].name == "ll");
  CHECK(constants.protocols[collective::kSimple].bandwidth == 1.0);
  // A number is an equals sign before a digit or a quantity; names, kinds and flags are none.
  int numbers = 0;
  std::istringstream lines{shipped()};
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find(" = ");
    const std::string value = equals == std::string::npos ? "" : line.substr(equals + 3);
    const bool quantity = value.size() > 1 && value[0] == '"' && std::isdigit(value[1]) != 0;
    numbers += line[0] != '#' && !value.empty() && (std::isdigit(value[0]) != 0 || quantity);
  }
  CHECK(constants.count() == numbers);
  // At most a tenth of the published rows that they explain (655 and 288).
  CHECK(constants.count() <= 94);
  CHECK(constants.count() <= 65);
}

TEST_CASE("what a table does not name is neutral", "[constants]") {
  const auto constants = collective::Constants::load();
  CHECK(constants.generation("tpu-v3").start == 1.0);
  CHECK(constants.generation("tpu-v3").switch_reduction == 0.0);
  CHECK_FALSE(constants.transport("carrier-pigeon").ll128);
  CHECK(constants.ring_share("pcie3-x16") == nullptr);
}

TEST_CASE("starts: one process a GPU or one for all, newer GPUs sooner", "[constants]") {
  const auto constants = test::round_constants();
  using collective::Software;
  CHECK(constants.start_of(Software{}, "volta", 8).si() == Approx(10e-6));
  CHECK(constants.start_of(Software{}, "hopper", 8).si() == Approx(5e-6));
  CHECK(constants.start_of({.one_process = true}, "volta", 8).si() == Approx(33e-6));
  const auto real = collective::Constants::load();
  CHECK(real.start_of({.call_to_call = true}, "volta", 8).si() -
            real.start_of(Software{}, "volta", 8).si() ==
        Approx(real.gap.si()));
}

TEST_CASE("mistakes in the table are told with their place", "[constants]") {
  CHECK(message_for("bandwidth = 0.30", "bandwidth = 1.5").find("c.toml:") == 0);
  CHECK(message_for("bandwidth = 0.30", "bandwidth = nan").find("'bandwidth'") !=
        std::string::npos);
  CHECK(message_for("nvlink_hop = \"0.93 us\"", "nvlink_hop = 0.93").find("'nvlink_hop'") !=
        std::string::npos);
  CHECK(message_for("ring_fill", "ring_fil").find("ring_fil") != std::string::npos);
  CHECK(message_for("[collective.slice]", "[collective.slices]").find("slice") !=
        std::string::npos);
}
