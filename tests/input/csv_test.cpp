#include "input/csv.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

using namespace trainyard;
using namespace trainyard::input;

namespace {

Csv parse(const std::string& text) {
  return Csv::parse(text, "jobs.csv");
}

}  // namespace

TEST_CASE("cells are found by the name of their column", "[csv]") {
  const Csv csv = parse("job_id,submit_s,gpus\na,0.5,8\nb,1e3,-2\n");
  CHECK(csv.columns() == std::vector<std::string>{"job_id", "submit_s", "gpus"});
  REQUIRE(csv.size() == 2);
  CHECK(csv.row(0).text("job_id") == "a");
  CHECK(csv.row(0).number("submit_s") == 0.5);
  CHECK(csv.row(0).integer("gpus") == 8);
  CHECK(csv.row(1).number("submit_s") == 1000.0);
  CHECK(csv.row(1).integer("gpus") == -2);
}

TEST_CASE("line ends, blank lines and a missing last line end do not matter", "[csv]") {
  const auto text = GENERATE(as<std::string>{}, "a,b\n1,2\n", "a,b\n1,2", "a,b\r\n1,2\r\n",
                             "\n\na,b\n\r\n1,2\n\n",
                             "\xEF\xBB\xBF"
                             "a,b\n1,2");
  const Csv csv = parse(text);
  CHECK(csv.columns() == std::vector<std::string>{"a", "b"});
  REQUIRE(csv.size() == 1);
  CHECK(csv.row(0).integer("a") == 1);
  CHECK(csv.row(0).integer("b") == 2);
}

TEST_CASE("quoted cells keep commas, quotes and line breaks", "[csv]") {
  const Csv csv = parse("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\nlast,1\n");
  REQUIRE(csv.size() == 3);
  CHECK(csv.row(0).text("a") == "x, y");
  CHECK(csv.row(0).text("b") == "say \"hi\"");
  CHECK(csv.row(1).text("a") == "two\nlines");
  CHECK_FALSE(csv.row(1).has("b"));
  // The line break inside the quotes counts: the last row begins on line 5.
  CHECK(csv.row(2).place("b").line == 5);
  CHECK(csv.row(2).place("b").column == 6);
}

TEST_CASE("a row may end in an empty cell", "[csv]") {
  const auto text = GENERATE(as<std::string>{}, "a,b\n1,\n", "a,b\n1,", "a,b\r\n1,\r\n");
  const Csv csv = parse(text);
  REQUIRE(csv.size() == 1);
  CHECK(csv.row(0).has("a"));
  CHECK_FALSE(csv.row(0).has("b"));
  CHECK_FALSE(csv.row(0).has("c"));
  CHECK(csv.row(0).text("b").empty());
}

TEST_CASE("malformed CSV is refused where it goes wrong", "[csv]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"", "jobs.csv: error: no header row: the file is empty"},
      {"\n\n", "jobs.csv: error: no header row: the file is empty"},
      {"a,b,a\n", "jobs.csv:1:5: error: column 'a' appears twice"},
      {"a,b\n1,2\n3\n", "jobs.csv:3:1: error: the row has 1 cells, expected 2 as in the header"},
      {"a,b\n1,2,3\n", "jobs.csv:2:1: error: the row has 3 cells, expected 2 as in the header"},
      {"a\nx\"y\n", "jobs.csv:2:2: error: a quote inside a cell that does not start with one"},
      {"a,b\n\"x\"y,2\n",
       "jobs.csv:2:4: error: text after the closing quote of a cell, expected a comma"},
      {"a,b\n1,\"x\n\n", "jobs.csv:2:3: error: the quote that opens this cell is never closed"},
  }));
  CAPTURE(text);
  REQUIRE_THROWS_WITH(parse(text), message);
}

TEST_CASE("a cell of the wrong type is named with its place", "[csv]") {
  const Csv csv = parse("id,gpus,submit_s\njob one,4.5,soon\n,,inf\nx, 4,1e999\n");
  CHECK_THROWS_WITH(csv.row(0).integer("gpus"),
                    "jobs.csv:2:9: error: 'gpus' must be an integer, got \"4.5\"");
  CHECK_THROWS_WITH(csv.row(0).number("submit_s"),
                    "jobs.csv:2:13: error: 'submit_s' must be a number, got \"soon\"");
  CHECK_THROWS_WITH(csv.row(1).integer("gpus"),
                    "jobs.csv:3:2: error: 'gpus' must be an integer, got \"\"");
  CHECK_THROWS_WITH(csv.row(1).number("submit_s"),
                    "jobs.csv:3:3: error: 'submit_s' must be a number, got \"inf\"");
  CHECK_THROWS_WITH(csv.row(2).integer("gpus"),
                    "jobs.csv:4:3: error: 'gpus' must be an integer, got \" 4\"");
  CHECK_THROWS_WITH(csv.row(2).number("submit_s"),
                    "jobs.csv:4:6: error: 'submit_s' must be a number, got \"1e999\"");
  CHECK_THROWS_WITH(csv.row(0).text("user"), "jobs.csv:1:1: error: missing column 'user'");
  CHECK_THROWS_WITH(csv.row(0).fail("gpus", "must be at most 4"),
                    "jobs.csv:2:9: error: 'gpus' must be at most 4");
  CHECK_THROWS_WITH(csv.row(1).fail("user", "is unknown"), "jobs.csv:3: error: 'user' is unknown");
}

TEST_CASE("columns are checked against what is known", "[csv]") {
  const Csv csv = parse("job_id,gpus,qeue\na,1,x\n");
  CHECK_NOTHROW(csv.check_columns({"job_id"}, {"gpus", "qeue", "user"}));
  CHECK_THROWS_WITH(csv.check_columns({"job_id", "gpus"}, {"queue"}),
                    "jobs.csv:1:13: error: unknown column 'qeue', did you mean \"queue\"?");
  CHECK_THROWS_WITH(csv.check_columns({"job_id", "duration_s"}, {"gpus", "qeue"}),
                    "jobs.csv:1:1: error: missing column 'duration_s'");
}

TEST_CASE("a CSV file is read whole and named by its path", "[csv]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("jobs.csv", "gpus\n4\nmany\n").string();
  const Csv csv = Csv::parse_file(path);
  CHECK(csv.row(0).integer("gpus") == 4);
  CHECK_THROWS_WITH(csv.row(1).integer("gpus"),
                    path + ":3:1: error: 'gpus' must be an integer, got \"many\"");
  CHECK_THROWS_WITH(Csv::parse_file(path + "x"),
                    path + "x: error: cannot open: No such file or directory");
}

TEST_CASE("a written cell reads back as it was", "[csv]") {
  const auto cell = GENERATE(as<std::string>{}, "plain", "", "with space", "a,b", "say \"hi\"",
                             "two\nlines", "cr\rlf", "\"");
  CAPTURE(cell);
  const Csv csv = parse("a,b\n" + csv_cell(cell) + ",end\n");
  REQUIRE(csv.size() == 1);
  CHECK(csv.row(0).text("a") == cell);
  CHECK(csv.row(0).text("b") == "end");
}

TEST_CASE("only cells that need quotes get them", "[csv]") {
  CHECK(csv_cell("plain text") == "plain text");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("\"") == "\"\"\"\"");
}
