#include "engine/in_child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>

namespace trainyard::test {

std::string in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return "no pipe";
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text;
    try {
      text = work();
    } catch (const std::exception& error) {
      text = std::string{"exception: "} + error.what();
    }
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "died";
}

}  // namespace trainyard::test
