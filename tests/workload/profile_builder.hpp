#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_folder.hpp"
#include "workload/import.hpp"

namespace trainyard::test {

/// Writes small Kineto profiles event by event. Times in microseconds.
class ProfileBuilder {
 public:
  ProfileBuilder& raw(std::string event) {
    events_.push_back(std::move(event));
    return *this;
  }

  ProfileBuilder& call(std::string_view name, int ts, int dur, int correlation, int thread = 1) {
    return raw(fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":9,"tid":{},)"
                           R"("ts":{},"dur":{},"args":{{"correlation":{}}}}})",
                           name, thread, ts, dur, correlation));
  }

  ProfileBuilder& kernel(int ts, int dur, int correlation, int stream = 7,
                         std::string_view name = "void scale_kernel<float>(float*)",
                         std::string_view more = "") {
    return raw(fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},)"
                           R"("dur":{},"args":{{"device":0,"stream":{},"correlation":{}{}}}}})",
                           name, stream, ts, dur, stream, correlation, more));
  }

  ProfileBuilder& copy(int ts, int dur, int correlation, int stream = 7,
                       std::string_view name = "Memcpy DtoH (Device -> Pageable)", int bytes = 64) {
    return raw(fmt::format(R"({{"ph":"X","cat":"gpu_memcpy","name":"{}","pid":0,"tid":{},"ts":{},)"
                           R"("dur":{},"args":{{"device":0,"stream":{},"correlation":{},)"
                           R"("bytes":{}}}}})",
                           name, stream, ts, dur, stream, correlation, bytes));
  }

  ProfileBuilder& range(std::string_view name, int ts, int dur, int thread = 1,
                        std::string_view arguments = "", std::string_view category = "cpu_op") {
    return raw(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},)"
                           R"("dur":{},"args":{{{}}}}})",
                           category, name, thread, ts, dur, arguments));
  }

  ProfileBuilder& step(int number, int ts, int dur, int thread = 1) {
    return range(fmt::format("ProfilerStep#{}", number), ts, dur, thread, "", "user_annotation");
  }

  ProfileBuilder& sync(std::string_view kind, int correlation, std::string_view arguments) {
    return raw(fmt::format(R"({{"ph":"X","cat":"cuda_sync","name":"{}","pid":0,"tid":7,"ts":0,)"
                           R"("dur":1,"args":{{"cuda_sync_kind":"{}","device":0,)"
                           R"("correlation":{},{}}}}})",
                           kind, kind, correlation, arguments));
  }

  /// Top-level keys in front of the events, such as `"distributedInfo":{"rank":1},`.
  ProfileBuilder& head(std::string_view keys) {
    head_ += keys;
    return *this;
  }

  [[nodiscard]] std::string text() const {
    return fmt::format("{{{}\"traceEvents\":[\n{}\n]}}\n", head_, fmt::join(events_, ",\n"));
  }

  [[nodiscard]] workload::Workload import() const {
    const TemporaryFolder folder;
    return workload::import_kineto({folder.write("profile.json", text()).string()}, "test");
  }

 private:
  std::string head_{};
  std::vector<std::string> events_{};
};

}  // namespace trainyard::test
