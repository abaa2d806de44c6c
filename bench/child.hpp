#pragma once

#include <functional>
#include <string>

namespace trainyard::bench {

struct Measured {
  double cpu = 0.0;        ///< seconds
  double megabytes = 0.0;  ///< peak memory
  double extra = 0.0;      ///< what the case wants to show
  bool good = false;       ///< the child came to its end
};

/// CPU time of this process so far, in seconds.
[[nodiscard]] double cpu_now();

/// What `work` reports from a forked child: SimGrid allows one network a process.
[[nodiscard]] Measured in_child(const std::function<Measured()>& work);

using Work = int (*)();

/// Gives work a name under which a new process can find it. Made before main, at file scope.
class Named {
 public:
  Named(const char* name, Work work);
};

/// CPU time and peak memory of a process of its own that does nothing but the named work: a forked
/// child would count the parent's pages as its own.
[[nodiscard]] Measured in_new_process(const std::string& name);

/// main's part of in_new_process: runs the work that the hidden argument names and writes down what
/// it took. False: the arguments are those of an ordinary run.
[[nodiscard]] bool ran_as_new_process(int count, char** arguments);

}  // namespace trainyard::bench
