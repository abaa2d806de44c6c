// The wrapper around SQLite: what it reads, and what it says of files that are damaged.
#include "workload/importers/sqlite.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "input/error.hpp"
#include "sqlite_support.hpp"

using namespace trainyard;
using Catch::Contains;
using workload::Sqlite;
using workload::SqliteRows;

namespace {

constexpr const char* kNumbers =
    "CREATE TABLE numbers (id INTEGER, name TEXT, extra);"
    "INSERT INTO numbers VALUES (1, 'one', NULL), (9007199254740993, 'big', 2.0);";

/// What reading table t says, empty if it can be read.
std::string error_of_reading(const std::string& path) {
  try {
    const Sqlite database{path};
    SqliteRows rows = database.select("t", {"a"});
    while (rows.next()) {
    }
  } catch (const input::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("columns are found by name, in the order asked for") {
  const test::TemporaryFolder folder;
  const Sqlite database{test::make_database(folder, kNumbers)};
  SqliteRows rows = database.select("numbers", {"name", "id"}, {"absent", "extra"});
  REQUIRE(rows.next());
  CHECK(rows.text(0) == "one");
  CHECK(rows.integer(1) == 1);
  CHECK_FALSE(rows.integer(2));
  CHECK_FALSE(rows.integer(3));
  CHECK(rows.integer_or(3, -7) == -7);
  CHECK(rows.text(3).empty());
  REQUIRE(rows.next());
  // 2^53 + 1 does not fit a double; 2.0 is a whole number.
  CHECK(rows.needed(1) == 9007199254740993);
  CHECK(rows.integer(3) == 2);
  CHECK_FALSE(rows.next());
  CHECK_FALSE(rows.next());
}

TEST_CASE("tables may be missing, columns that are required may not") {
  const test::TemporaryFolder folder;
  const Sqlite database{test::make_database(folder, kNumbers)};
  CHECK(database.has_table("numbers"));
  CHECK_FALSE(database.has_table("names"));
  CHECK(database.has_column("numbers", "extra"));
  CHECK_FALSE(database.has_column("numbers", "Extra"));
  CHECK_FALSE(database.has_column("names", "id"));
  CHECK(database.tables() == std::vector<std::string>{"numbers"});
  CHECK_FALSE(database.select("names", {"id"}).next());
  CHECK_THROWS_WITH(database.select("numbers", {"start"}),
                    database.path() +
                        ": error: table numbers has no column start, expected one "
                        "(its columns: id, name, extra)");
}

TEST_CASE("values of the wrong kind are refused with table, row and column") {
  const test::TemporaryFolder folder;
  const Sqlite database{test::make_database(
      folder, "CREATE TABLE t (a); INSERT INTO t VALUES (1), ('x'), (0.5), (x'00'), (NULL);")};
  SqliteRows rows = database.select("t", {"a"});
  REQUIRE(rows.next());
  CHECK(rows.needed(0) == 1);
  const std::string start = database.path() + ": error: table t, row ";
  for (const std::string expected :
       {"2: column a is text", "3: column a is a fraction", "4: column a is a blob"}) {
    REQUIRE(rows.next());
    CHECK_THROWS_WITH((void)rows.integer(0), start + expected + ", expected a whole number");
  }
  REQUIRE(rows.next());
  CHECK_THROWS_WITH((void)rows.needed(0), start + "5: column a is NULL, expected a whole number");
}

TEST_CASE("names with quotes and paths with marks of URIs are taken as they are") {
  const test::TemporaryFolder folder;
  const std::string path = test::make_database(
      folder, R"(CREATE TABLE "a""b'c" ("x""y" INTEGER); INSERT INTO "a""b'c" VALUES (5);)",
      "50% of #1?mode=rw.sqlite");
  const Sqlite database{path};
  SqliteRows rows = database.select("a\"b'c", {"x\"y"});
  REQUIRE(rows.next());
  CHECK(rows.needed(0) == 5);
}

TEST_CASE("nothing is written beside the database") {
  const test::TemporaryFolder folder;
  const std::string path = test::make_database(folder, kNumbers);
  {
    const Sqlite database{path};
    SqliteRows rows = database.select("numbers", {"id"});
    REQUIRE(rows.next());
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator{folder.path()}) {
      files += entry.is_regular_file() ? 1 : 0;
    }
    CHECK(files == 1);
  }
}

TEST_CASE("views are no tables") {
  const test::TemporaryFolder folder;
  const Sqlite database{test::make_database(
      folder, std::string{kNumbers} + "CREATE VIEW v AS SELECT id FROM numbers;")};
  CHECK_FALSE(database.has_table("v"));
}

TEST_CASE("files that are no whole database end in one line") {
  const test::TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing").string();
  CHECK_THROWS_WITH(Sqlite{missing}, missing + ": error: no such file, expected a SQLite database");
  const std::string text = folder.write("text.sqlite", "not one").string();
  CHECK_THROWS_WITH(Sqlite{text}, Contains("is no SQLite database"));
  CHECK_FALSE(Sqlite::is_database(text));
  CHECK_FALSE(Sqlite::is_database(missing));

  const std::string path = test::make_database(
      folder, "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (hex(zeroblob(20000)));");
  CHECK(Sqlite::is_database(path));
  const std::string bytes = folder.read("report.sqlite");
  REQUIRE(bytes.size() > 8192);
  for (const std::size_t size : {std::size_t{16}, std::size_t{100}, std::size_t{600},
                                 std::size_t{4096}, bytes.size() / 2, bytes.size() - 4096}) {
    INFO("cut to " << size << " bytes");
    const std::string cut = folder.write("cut.sqlite", bytes.substr(0, size)).string();
    CHECK_THAT(error_of_reading(cut),
               Catch::StartsWith(cut + ": error: ") && Contains("expected") && !Contains("\n"));
  }
}
