#pragma once

#include <functional>
#include <string>

namespace trainyard::test {

/// Runs work in a forked child and returns the text it made: SimGrid allows one network a process.
/// An exception comes back as "exception: ..."; a child that dies as "died".
[[nodiscard]] std::string in_child(const std::function<std::string()>& work);

}  // namespace trainyard::test
