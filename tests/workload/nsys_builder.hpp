#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sqlite_support.hpp"
#include "workload/import.hpp"

namespace trainyard::test {

/// Writes small exports of Nsight Systems. Times in ns. Text ids are given in the order of use.
class NsysBuilder {
 public:
  /// A global process id as the exports pack it: pid in bits 24 to 47, a machine above.
  static std::int64_t process(std::int64_t pid) { return (1LL << 48) + (pid << 24); }
  static std::int64_t thread(std::int64_t pid, std::int64_t tid) { return process(pid) + tid; }

  NsysBuilder() {
    raw("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);");
  }

  NsysBuilder& raw(std::string_view sql) {
    sql_ += sql;
    return *this;
  }

  int text(std::string_view value) {
    raw(fmt::format("INSERT INTO StringIds VALUES ({}, '{}');", next_text_, value));
    return next_text_++;
  }

  /// Where a GPU operation ran and which launch made it.
  struct At {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t correlation = 0;
    int stream = 7;
    std::int64_t pid = 100;
    int device = 0;
    std::string_view node = "NULL";
  };

  // The columns stand in another order than in any real version: they are found by name.
  NsysBuilder& kernel(const At& at, std::string_view name = "void scale_kernel<float>(float*)") {
    table(kernels_, "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName INTEGER, shortName INTEGER");
    insert("CUPTI_ACTIVITY_KIND_KERNEL", at, fmt::format("{0}, {0}", text(name)));
    return *this;
  }

  NsysBuilder& copy(const At& at, int kind, std::int64_t bytes) {
    table(copies_, "CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind INTEGER, bytes INTEGER");
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", at, fmt::format("{}, {}", kind, bytes));
    return *this;
  }

  NsysBuilder& fill(const At& at, std::int64_t bytes) {
    table(fills_, "CUPTI_ACTIVITY_KIND_MEMSET", "bytes INTEGER");
    insert("CUPTI_ACTIVITY_KIND_MEMSET", at, fmt::format("{}", bytes));
    return *this;
  }

  NsysBuilder& graph(const At& at) {
    table(graphs_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graphId INTEGER");
    insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", at, "1");
    return *this;
  }

  NsysBuilder& call(std::string_view name, std::int64_t start, std::int64_t end,
                    std::int64_t correlation, std::int64_t pid = 100, std::int64_t tid = 100) {
    if (!calls_) {
      raw("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (nameId INTEGER, correlationId INTEGER, "
          "globalTid INTEGER, end INTEGER, start INTEGER);");
      calls_ = true;
    }
    return raw(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({},{},{},{},{});",
                           text(name), correlation, thread(pid, tid), end, start));
  }

  NsysBuilder& range(std::string_view name, std::int64_t start, std::int64_t end,
                     std::int64_t pid = 100, std::int64_t tid = 100) {
    if (!ranges_) {
      raw("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
          "globalTid INTEGER, textId INTEGER, domainId INTEGER);");
      ranges_ = true;
    }
    return raw(fmt::format("INSERT INTO NVTX_EVENTS VALUES ({},{},59,NULL,{},{},0);", start, end,
                           thread(pid, tid), text(name)));
  }

  [[nodiscard]] std::string write(const TemporaryFolder& folder,
                                  const std::string& name = "report.sqlite") const {
    return make_database(folder, sql_, name);
  }

  [[nodiscard]] workload::Workload import() const {
    const TemporaryFolder folder;
    return workload::import_profiles({write(folder)}, "test");
  }

 private:
  void table(bool& made, std::string_view name, std::string_view more) {
    if (!made) {
      raw(
          fmt::format("CREATE TABLE {} ({}, graphNodeId INTEGER, globalPid INTEGER, contextId "
                      "INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, end "
                      "INTEGER, start INTEGER);",
                      name, more));
      made = true;
    }
  }

  void insert(std::string_view name, const At& at, std::string_view more) {
    raw(fmt::format("INSERT INTO {} VALUES ({},{},{},{},{},{},{},{},{});", name, more, at.node,
                    process(at.pid), at.device + 1, at.device, at.stream, at.correlation, at.end,
                    at.start));
  }

  std::string sql_{};
  int next_text_ = 1;
  bool kernels_ = false, copies_ = false, fills_ = false, graphs_ = false, calls_ = false,
       ranges_ = false;
};

}  // namespace trainyard::test
