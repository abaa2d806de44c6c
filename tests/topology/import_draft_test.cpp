#include <catch2/catch.hpp>

#include "topology/import_support.hpp"
#include "topology/importers/draft.hpp"

using namespace trainyard;
using namespace trainyard::topology::importers;
using topology::DeviceKind;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("names that count on share a pattern", "[import]") {
  CHECK(patterns_of({"gpu0", "gpu1", "gpu2"}) == Names{"gpu{0..2}"});
  CHECK(patterns_of({"numa3", "numa1", "numa7"}) == Names{"numa{3,1,7}"});
  CHECK(patterns_of({"gpu0", "gpu1", "mlx5_0"}) == Names{"gpu{0..1}", "mlx5_0"});
  CHECK(patterns_of({"gpu4"}) == Names{"gpu4"});
  CHECK(patterns_of({}).empty());
}

TEST_CASE("names that a range would change stand alone", "[import]") {
  CHECK(patterns_of({"node01", "node02"}) == Names{"node01", "node02"});
  CHECK(patterns_of({"eth", "bond"}) == Names{"eth", "bond"});
  CHECK(patterns_of({"x123456789012", "x123456789013"}) == Names{"x123456789012", "x123456789013"});
  CHECK(patterns_of({"gpu0", "disk", "gpu1"}) == Names{"gpu0", "disk", "gpu1"});
}

TEST_CASE("text becomes a TOML string whatever is in it", "[import]") {
  CHECK(in_quotes("dgx") == "\"dgx\"");
  CHECK(in_quotes("a\"b\\c") == R"("a\"b\\c")");
  CHECK(in_quotes("a\nb\x7f") == R"("a\u000ab\u007f")");
  const auto text = GENERATE(as<std::string>{}, "plain", "quo\"te", "back\\slash", "tab\there");
  const auto document = input::Document::parse("name = " + in_quotes(text) + "\n", "t.toml");
  CHECK(document.root().require("name").text() == text);
}

TEST_CASE("a comment wraps at 100 columns and cannot be left", "[import]") {
  CHECK(comment("two words") == "# two words\n");
  CHECK(comment("") == "");
  CHECK(comment("name\n=\x01") == "# name?=?\n");
  std::string words;
  for (int i = 0; i < 40; ++i) {
    words += "word ";
  }
  // "#" and 19 times " word" are 96 columns; a 20th would be 101.
  const std::string wrapped = comment(words);
  CHECK(wrapped.find('\n') == 96);
  CHECK(std::count(wrapped.begin(), wrapped.end(), '\n') == 3);
}

TEST_CASE("plain names keep what a topology file's names may have", "[import]") {
  CHECK(plain_name("mlx5_0") == "mlx5_0");
  CHECK(plain_name("  leaf 1/2 {x} ") == "leaf-1-2-x");
  CHECK(plain_name("{}//") == "");
  CHECK(plain_name("0000:3b:00.0") == "0000:3b:00.0");
}

TEST_CASE("like devices and like links share a table", "[import]") {
  NodeDraft draft;
  draft.name = "two";
  draft.remarks = {"A machine."};
  draft.devices = {{DeviceKind::gpu, "gpu0", "titan-v", "", "0:1"},
                   {DeviceKind::gpu, "gpu1", "titan-v", "", "0:2"},
                   {DeviceKind::cpu, "cpu0", "", "", ""}};
  draft.links = {{"cpu0", "gpu0", "pcie3-x16", 1, std::nullopt},
                 {"cpu0", "gpu1", "pcie3-x16", 1, std::nullopt}};
  CHECK(to_toml(draft) ==
        "# A machine.\n"
        "name = \"two\"\n"
        "\n# 0:1 0:2\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"titan-v\"\n"
        "\n[[cpu]]\nname = \"cpu0\"\n"
        "\n[[link]]\nbetween = [\"cpu0\", \"gpu{0..1}\"]\nkind = \"pcie3-x16\"\n");
}

TEST_CASE("links that differ in anything do not share a table", "[import]") {
  NodeDraft draft;
  draft.name = "n";
  draft.devices = {{DeviceKind::gpu, "gpu0", "titan-v", "", ""},
                   {DeviceKind::gpu, "gpu1", "titan-xp", "", ""}};
  draft.links = {{"gpu0", "a", "k", 2, std::nullopt},
                 {"gpu0", "b", "k", 3, std::nullopt},
                 {"gpu0", "c", "k", 3, units::BytesPerSecond{8e9}},
                 {"gpu1", "b", "k", 3, std::nullopt}};
  const std::string text = to_toml(draft);
  CHECK_THAT(text, Catch::Contains("name = \"gpu0\"\nmodel = \"titan-v\"\n"));
  CHECK_THAT(text, Catch::Contains("name = \"gpu1\"\nmodel = \"titan-xp\"\n"));
  CHECK_THAT(text, Catch::Contains("between = [\"gpu0\", \"a\"]\nkind = \"k\"\ncount = 2\n"));
  // Both GPUs have the same three links to b.
  CHECK_THAT(text, Catch::Contains("between = [\"gpu{0..1}\", \"b\"]\nkind = \"k\"\ncount = 3\n"));
  CHECK_THAT(text, Catch::Contains(
                       "[\"gpu0\", \"c\"]\nkind = \"k\"\ncount = 3\nbandwidth = \"8 GB/s\"\n"));
}
