#include "workload/importers/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "input/error.hpp"

namespace trainyard::workload {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};

// A path as a URI: what would end its path part is escaped.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  // A path that begins with two slashes would read as the name of a host.
  uri += path.starts_with("//") ? "//" : "";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<int>(c));
    } else {
      uri.push_back(c);
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string identifier(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) {
    result.append(c == '"' ? 2 : 1, c);
  }
  return result + "\"";
}

[[noreturn]] void damaged(const std::string& path, sqlite3* database) {
  const int code = sqlite3_errcode(database);
  if (code == SQLITE_NOTADB) {
    throw input::InputError{{path}, "is encrypted or no SQLite database, expected a plain one"};
  }
  std::string message = sqlite3_errmsg(database);
  // It may quote what the file holds; errors are one line.
  std::replace_if(
      message.begin(), message.end(), [](char c) { return c < ' '; }, '?');
  throw input::InputError{
      {path},
      fmt::format("the SQLite database cannot be read ({}), expected a whole file (was it cut "
                  "while copying?)",
                  message)};
}

const char* type_name(int type) {
  switch (type) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_FLOAT:
      return "a fraction";
    case SQLITE_BLOB:
      return "a blob";
    default:
      return "text";
  }
}

}  // namespace

// --- rows ---------------------------------------------------------------------------------------

void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool SqliteRows::next() {
  if (!statement_) {
    return false;
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (code != SQLITE_DONE) {
    damaged(path_, database_);
  }
  statement_.reset();
  return false;
}

std::optional<std::int64_t> SqliteRows::integer(std::size_t column) const {
  const auto index = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_.get(), index);
  if (type == SQLITE_INTEGER) {
    return sqlite3_column_int64(statement_.get(), index);
  }
  if (type == SQLITE_NULL) {
    return std::nullopt;
  }
  if (type == SQLITE_FLOAT) {
    static constexpr double kExact = 9007199254740992.0;  // 2^53
    const double value = sqlite3_column_double(statement_.get(), index);
    if (std::abs(value) <= kExact && value == std::floor(value)) {
      return static_cast<std::int64_t>(value);
    }
  }
  fail(fmt::format("column {} is {}, expected a whole number", columns_[column], type_name(type)));
}

std::int64_t SqliteRows::needed(std::size_t column) const {
  const std::optional<std::int64_t> value = integer(column);
  if (!value) {
    fail(fmt::format("column {} is NULL, expected a whole number", columns_[column]));
  }
  return *value;
}

std::string_view SqliteRows::text(std::size_t column) const {
  const auto index = static_cast<int>(column);
  const void* data = sqlite3_column_blob(statement_.get(), index);
  const int size = sqlite3_column_bytes(statement_.get(), index);
  return data == nullptr
             ? std::string_view{}
             : std::string_view{static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void SqliteRows::fail(std::string_view what) const {
  throw input::InputError{{path_}, fmt::format("table {}, row {}: {}", table_, row_, what)};
}

// --- database -----------------------------------------------------------------------------------

void Sqlite::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

bool Sqlite::is_database(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::array<char, kMagic.size()> head{};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && std::string_view{head.data(), head.size()} == kMagic;
}

Sqlite::Sqlite(const std::string& path) : path_{path} {
  if (!std::filesystem::is_regular_file(path)) {
    throw input::InputError{{path}, "no such file, expected a SQLite database"};
  }
  if (!is_database(path)) {
    throw input::InputError{{path},
                            "is no SQLite database, expected a file that begins with "
                            "\"SQLite format 3\""};
  }
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(uri_of(path).c_str(), &database,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) {
    damaged(path_, database);
  }
  // The file is a stranger's: its schema may not run functions, its pages are checked.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  read_schema();
}

void Sqlite::read_schema() {
  // Without a root page it is a virtual table, which would run code to be read.
  SqliteRows tables = prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0", "sqlite_master");
  while (tables.next()) {
    columns_[std::string{tables.text(0)}];
  }
  for (auto& [table, columns] : columns_) {
    SqliteRows rows = prepare(fmt::format("PRAGMA table_info({})", identifier(table)), table);
    while (rows.next()) {
      columns.emplace_back(rows.text(1));  // number, name, type, ...
    }
  }
}

bool Sqlite::has_table(std::string_view table) const {
  return columns_.find(table) != columns_.end();
}

bool Sqlite::has_column(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

std::vector<std::string> Sqlite::tables() const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const auto& [table, columns] : columns_) {
    names.push_back(table);
  }
  return names;
}

SqliteRows Sqlite::prepare(const std::string& query, std::string_view table) const {
  SqliteRows rows;
  rows.path_ = path_;
  rows.table_ = table;
  rows.database_ = database_.get();
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), query.c_str(),
                                      static_cast<int>(query.size()) + 1, &statement, nullptr);
  rows.statement_.reset(statement);
  if (code != SQLITE_OK) {
    damaged(path_, database_.get());
  }
  return rows;
}

SqliteRows Sqlite::select(std::string_view table, const std::vector<std::string_view>& required,
                          const std::vector<std::string_view>& optional) const {
  if (!has_table(table)) {
    return {};
  }
  std::vector<std::string> names;
  std::string list;
  const auto add = [&](std::string_view column, bool present) {
    list += (list.empty() ? "" : ", ") + (present ? identifier(column) : std::string{"NULL"});
    names.emplace_back(column);
  };
  for (const std::string_view column : required) {
    if (!has_column(table, column)) {
      throw input::InputError{
          {path_},
          fmt::format("table {} has no column {}, expected one (its "
                      "columns: {})",
                      table, column, fmt::join(columns_.find(table)->second, ", "))};
    }
    add(column, true);
  }
  for (const std::string_view column : optional) {
    add(column, has_column(table, column));
  }
  SqliteRows rows = prepare(fmt::format("SELECT {} FROM {}", list, identifier(table)), table);
  rows.columns_ = std::move(names);
  return rows;
}

}  // namespace trainyard::workload
