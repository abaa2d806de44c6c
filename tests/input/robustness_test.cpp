// Damaged input: whatever a file holds, the answer is a document or an InputError at a place.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "input/csv.hpp"
#include "input/section.hpp"

using namespace trainyard;
using namespace trainyard::input;

namespace {

constexpr std::string_view kToml = R"(name = "two-teams" # comment
gpus = {1 = 0.7, 8 = [1, 2.5e3, true]}
[cluster]
topology = 'superpod'
when = 1979-05-27T07:32:00Z
[[job]]
text = """
two lines"""
[[job]]
a.b = 0x1F
)";

constexpr std::string_view kCsv = "id,\"two\nlines\",gpus\r\na,\"x, \"\"y\"\"\",8\n\nb,,1\n";

/// Same on every machine (Knuth's MMIX constants), so a failure can be repeated.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed} {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_;
};

/// A few bytes changed, dropped or doubled.
std::string damaged(std::string_view text, Random& random) {
  std::string out{text};
  for (std::size_t change = 0; change < 1 + random.below(4) && !out.empty(); ++change) {
    const std::size_t at = random.below(out.size());
    const std::size_t kind = random.below(3);
    if (kind == 0) {
      out[at] = static_cast<char>(random.below(256));
    } else if (kind == 1) {
      out.erase(at, 1 + random.below(5));
    } else {
      out.insert(at, out.substr(at, 1 + random.below(5)));
    }
  }
  return out;
}

/// True when `read` returns, or throws an InputError that is one line and begins with the file.
template <typename Read>
bool answers(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError& error) {
    const std::string_view what = error.what();
    UNSCOPED_INFO(what);
    return what.starts_with("f:") && what.find('\n') == std::string_view::npos;
  }
}

bool toml_answers(const std::string& text) {
  return answers([&] {
    const std::string written = Document::parse(text, "f").to_toml();
    // What was accepted must also survive being written.
    if (Document::parse(written, "again").to_toml() != written) {
      throw InputError{Place{"other"}, "to_toml does not read back"};
    }
  });
}

bool csv_answers(const std::string& text) {
  return answers([&] { static_cast<void>(Csv::parse(text, "f")); });
}

}  // namespace

TEST_CASE("every beginning of a TOML file is a document or an error", "[robustness]") {
  REQUIRE(toml_answers(std::string{kToml}));
  for (std::size_t length = 0; length < kToml.size(); ++length) {
    CAPTURE(length);
    REQUIRE(toml_answers(std::string{kToml.substr(0, length)}));
  }
}

TEST_CASE("damaged TOML is a document or an error", "[robustness]") {
  Random random{1};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = damaged(kToml, random);
    CAPTURE(round, text);
    REQUIRE(toml_answers(text));
  }
}

TEST_CASE("every beginning of a CSV file is a table or an error", "[robustness]") {
  REQUIRE(Csv::parse(std::string{kCsv}, "f").size() == 2);
  for (std::size_t length = 0; length < kCsv.size(); ++length) {
    CAPTURE(length);
    REQUIRE(csv_answers(std::string{kCsv.substr(0, length)}));
  }
}

TEST_CASE("damaged CSV is a table or an error", "[robustness]") {
  Random random{2};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = damaged(kCsv, random);
    CAPTURE(round, text);
    REQUIRE(csv_answers(text));
  }
}

TEST_CASE("any set of a damaged key or value is a document or an error", "[robustness]") {
  Random random{3};
  const Document document = Document::parse(kToml, "f");
  for (int round = 0; round < 3000; ++round) {
    const std::string key = damaged("job.0.a.\"b c\"", random);
    const std::string value = damaged("[1, {a = \"x\"}]", random);
    CAPTURE(round, key, value);
    try {
      const std::string written = document.with(key, value).to_toml();
      CHECK_FALSE(written.empty());
    } catch (const InputError& error) {
      REQUIRE_THAT(error.what(), Catch::StartsWith("--set ") && Catch::Contains(": error: "));
    }
  }
}

TEST_CASE("random cells survive being written and read", "[robustness]") {
  Random random{4};
  constexpr std::string_view kAlphabet = "ab,\"\n\r ;1";
  std::vector<std::string> cells;
  std::string text = "a,b\n";
  for (int row = 0; row < 500; ++row) {
    for (int column = 0; column < 2; ++column) {
      std::string cell = "c";  // a row of two empty cells is fine, a blank line is not a row
      for (std::size_t i = random.below(8); i > 0; --i) {
        cell += kAlphabet[random.below(kAlphabet.size())];
      }
      text += csv_cell(cell) + (column == 0 ? "," : "\n");
      cells.push_back(cell);
    }
  }
  const Csv csv = Csv::parse(text, "f");
  REQUIRE(csv.size() == 500);
  for (std::size_t row = 0; row < 500; ++row) {
    REQUIRE(csv.row(row).text("a") == cells[2 * row]);
    REQUIRE(csv.row(row).text("b") == cells[2 * row + 1]);
  }
}
