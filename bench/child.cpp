#include "child.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>

namespace trainyard::bench {
namespace {

constexpr const char* kHidden = "--new-process";

std::map<std::string, Work>& works() {
  static std::map<std::string, Work> known;
  return known;
}

/// VmHWM of this process. Not ru_maxrss, which keeps what the process was before exec.
double peak_megabytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kibibytes = 0.0;
      status >> kibibytes;
      return kibibytes * 1024.0 / 1e6;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

/// Forks; the child gets the end of a pipe to write a Measured to, and must not return.
Measured from_child(const std::function<void(int)>& child_work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    child_work(ends[1]);
    _exit(1);
  }
  close(ends[1]);
  Measured result;
  if (read(ends[0], &result, sizeof result) != sizeof result) {
    result = {};
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

bool report(int end, const Measured& result) {
  return write(end, &result, sizeof result) == sizeof result;
}

}  // namespace

double cpu_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Measured in_child(const std::function<Measured()>& work) {
  return from_child([&work](int end) {
    Measured result = work();
    result.good = true;
    _exit(report(end, result) ? 0 : 1);
  });
}

Named::Named(const char* name, Work work) {
  works()[name] = work;
}

Measured in_new_process(const std::string& name) {
  return from_child([&name](int end) {
    execl("/proc/self/exe", "trainyard_bench", kHidden, name.c_str(), std::to_string(end).c_str(),
          static_cast<char*>(nullptr));
  });
}

bool ran_as_new_process(int count, char** arguments) {
  if (count != 4 || std::string{arguments[1]} != kHidden) {
    return false;
  }
  const auto found = works().find(arguments[2]);
  if (found != works().end() && found->second() == 0) {
    static_cast<void>(report(std::atoi(arguments[3]), {cpu_now(), peak_megabytes(), 0.0, true}));
  }
  return true;
}

}  // namespace trainyard::bench
