#include "input/error.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace trainyard::input;

TEST_CASE("a place prints as far as it is known", "[error]") {
  CHECK(prefix(Place{"a.toml", 3, 13}) == "a.toml:3:13: ");
  CHECK(prefix(Place{"a.toml", 3, 0}) == "a.toml:3: ");
  CHECK(prefix(Place{"a.toml"}) == "a.toml: ");
  CHECK(prefix(Place{}).empty());
}

TEST_CASE("an input error carries its place and its notes", "[error]") {
  const InputError error{Place{"a.toml", 3, 13}, "no such thing", {"try another"}};
  CHECK(std::string{error.what()} == "a.toml:3:13: error: no such thing");
  CHECK(error.notes() == std::vector<std::string>{"try another"});
}

TEST_CASE("an error stays one line whatever it quotes", "[error]") {
  const InputError error{Place{"a\nb.toml", 1, 1}, std::string{"key 'x\n\x1b[1m\0\xC3\xA9'", 15}};
  CHECK(std::string{error.what()} == "a\\nb.toml:1:1: error: key 'x\\n\\x1b[1m\\x00\xC3\xA9'");
}

TEST_CASE("a byte offset becomes a line and a column", "[error]") {
  const std::string text = "ab\ncd\n\nx";
  const auto [offset, line, column] =
      GENERATE(table<std::size_t, int, int>({{0, 1, 1},
                                             {1, 1, 2},
                                             {2, 1, 3},  // the line break belongs to its line
                                             {3, 2, 1},
                                             {6, 3, 1},
                                             {7, 4, 1},
                                             {8, 4, 2},
                                             {99, 4, 2}}));
  const Place place = place_of("t.txt", text, offset);
  CAPTURE(offset);
  CHECK(place.file == "t.txt");
  CHECK(place.line == line);
  CHECK(place.column == column);
}

TEST_CASE("a near word is suggested, otherwise the known ones are listed", "[error]") {
  const std::vector<std::string> known{"fifo", "sjf", "easy-backfill", "las"};
  CHECK(suggestion("fifoo", known) == R"(, did you mean "fifo"?)");
  CHECK(suggestion("FIFO", known) == R"(, did you mean "fifo"?)");
  // 13 letters allow a distance of 4: two missing, two changed
  CHECK(suggestion("easy-bakfil", known) == R"(, did you mean "easy-backfill"?)");
  CHECK(suggestion("gittins", known) == " (known: fifo, sjf, easy-backfill, las)");
  CHECK(suggestion("", known) == " (known: fifo, sjf, easy-backfill, las)");
  CHECK(suggestion("x", {}).empty());
}

TEST_CASE("two letters in common with nothing are no likeness", "[error]") {
  // distance 2, as far as the words are long
  CHECK(suggestion("ab", {"xy"}) == " (known: xy)");
  CHECK(suggestion("ab", {"ax"}) == R"(, did you mean "ax"?)");
}

TEST_CASE("of equally near words the first is suggested", "[error]") {
  CHECK(suggestion("gpu1", {"gpu0", "gpu2"}) == R"(, did you mean "gpu0"?)");
}
