#pragma once

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <string>

#include "support/temporary_folder.hpp"

namespace trainyard::test {

/// Runs SQL on the database at `path`, which is made if it does not exist.
inline void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
  INFO((message == nullptr ? "" : message));
  sqlite3_free(message);
  sqlite3_close(database);
  REQUIRE(code == SQLITE_OK);
}

/// Makes a database in `folder`; returns its path.
inline std::string make_database(const TemporaryFolder& folder, const std::string& sql,
                                 const std::string& name = "report.sqlite") {
  std::string path = (folder.path() / name).string();
  run_sql(path, sql);
  return path;
}

}  // namespace trainyard::test
