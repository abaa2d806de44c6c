#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace trainyard::workload {

/// The rows of one table, forwards only. Columns are numbered as in the `select` that made it.
class SqliteRows {
 public:
  /// Steps to the next row; false after the last one.
  /// @throws InputError when the file turns out to be damaged
  [[nodiscard]] bool next();

  /// nullopt for NULL and for columns that the table lacks. A real number without fraction counts.
  /// @throws InputError "FILE: error: table T, row N: column C is ..., expected a whole number"
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column) const;
  [[nodiscard]] std::int64_t integer_or(std::size_t column, std::int64_t fallback) const {
    return integer(column).value_or(fallback);
  }
  /// As `integer`, for values that must be there. @throws InputError for NULL, too
  [[nodiscard]] std::int64_t needed(std::size_t column) const;
  /// Text or blob as bytes, valid until the next call of `next`; empty for NULL.
  [[nodiscard]] std::string_view text(std::size_t column) const;

  /// Refuses the current row. @throws InputError "FILE: error: table T, row N: WHAT"
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class Sqlite;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_{};
  sqlite3* database_ = nullptr;
  std::string path_{};
  std::string table_{};
  std::vector<std::string> columns_{};
  std::int64_t row_ = 0;
};

/// A SQLite database that is only read: never locked, no journal looked for or left behind, so it
/// may lie in a folder that cannot be written. Nothing in its schema is run (views, triggers).
class Sqlite {
 public:
  /// @throws InputError: missing, empty, no SQLite database, encrypted, cut
  explicit Sqlite(const std::string& path);

  /// By the first 16 bytes; false for a file that cannot be read.
  [[nodiscard]] static bool is_database(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has_table(std::string_view table) const;
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const;
  [[nodiscard]] std::vector<std::string> tables() const;  ///< names, sorted

  /// Rows in the order of their row ids. Columns are numbered through both lists; those of
  /// `optional` that the table lacks read as NULL. A missing table has no rows.
  /// @throws InputError when the table lacks a column of `required`
  [[nodiscard]] SqliteRows select(std::string_view table,
                                  const std::vector<std::string_view>& required,
                                  const std::vector<std::string_view>& optional = {}) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  [[nodiscard]] SqliteRows prepare(const std::string& query, std::string_view table) const;
  void read_schema();

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_{};
  std::map<std::string, std::vector<std::string>, std::less<>> columns_{};  ///< by table
};

}  // namespace trainyard::workload
