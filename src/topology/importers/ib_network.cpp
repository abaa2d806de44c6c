#include "topology/importers/ib_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace trainyard::topology::importers {
namespace {

constexpr int kMostPorts = 100000;
constexpr std::size_t kMostRecords = 200000;

/// Gb/s of a lane, as the names of the generations count them (data rate up to QDR).
constexpr std::array<std::pair<std::string_view, double>, 9> kLanes{{{"SDR", 2.0},
                                                                     {"DDR", 4.0},
                                                                     {"QDR", 8.0},
                                                                     {"FDR10", 10.0},
                                                                     {"FDR", 14.0},
                                                                     {"EDR", 25.0},
                                                                     {"HDR", 50.0},
                                                                     {"NDR", 100.0},
                                                                     {"XDR", 200.0}}};

/// Walks along one line.
class Line {
 public:
  Line(std::string_view text, input::Place start) : text_{text}, start_{std::move(start)} {}

  [[nodiscard]] input::Place place() const {
    return {start_.file, start_.line, start_.column + static_cast<int>(at_)};
  }
  [[noreturn]] void fail(std::string_view what) const { throw input::InputError{place(), what}; }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  [[nodiscard]] bool take(char c) {
    const bool there = at_ < text_.size() && text_[at_] == c;
    at_ += there ? 1 : 0;
    return there;
  }
  [[nodiscard]] bool take(std::string_view word) {
    const bool there = text_.substr(at_).starts_with(word);
    at_ += there ? word.size() : 0;
    return there;
  }
  int number() {
    int value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0 || value > kMostPorts) {
      fail("expected a port number");
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  std::string quoted(std::string_view what) {
    const auto end =
        at_ < text_.size() && text_[at_] == '"' ? text_.find('"', at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail(fmt::format("expected {} in quotes", what));
    }
    std::string inside{text_.substr(at_ + 1, end - at_ - 1)};
    at_ = end + 1;
    return inside;
  }
  void expect(char c) {
    if (!take(c)) {
      fail(fmt::format("expected '{}'", c));
    }
  }
  /// "(248a070300f88fe0)", which adapters have and some ends of cables
  void skip_guid() {
    if (take('(')) {
      const auto end = text_.find(')', at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    }
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  input::Place start_;
  std::size_t at_ = 0;
};

class NetworkReader {
 public:
  NetworkReader(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  IbNetwork read() {
    int number = 0;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      read_line({text_.substr(begin, end - begin), {file_, ++number, 1}});
      begin = end + 1;
    }
    join_ends();
    return std::move(network_);
  }

 private:
  using Peer = std::pair<std::string, int>;  ///< id and port at the other end

  void read_line(Line line) {
    line.skip_blanks();
    if (line.take("Switch")) {
      read_record(line, true);
    } else if (line.take("Ca")) {
      read_record(line, false);
    } else if (line.take("Rt")) {
      in_record_ = false;
      line.skip_blanks();
      network_.left_out.push_back(
          fmt::format("the router at line {} was left out", line.place().line));
    } else if (line.take('[')) {
      read_port(line);
    } else if (!line.rest().empty() && line.rest()[0] != '#' &&
               line.rest().find('=') == std::string_view::npos) {
      line.fail("expected Switch, Ca, a port such as [1] or a key=value, as ibnetdiscover prints");
    }
  }

  void read_record(Line& line, bool is_switch) {
    IbRecord record;
    record.is_switch = is_switch;
    record.place = line.place();
    line.skip_blanks();
    record.ports = line.number();
    line.skip_blanks();
    record.id = line.quoted("the record's id");
    const auto note = line.rest().find("# \"");
    const auto close = line.rest().rfind('"');
    if (note != std::string_view::npos && close > note + 2) {
      record.description = line.rest().substr(note + 3, close - note - 3);
    }
    if (!index_.emplace(record.id, network_.records.size()).second) {
      line.fail(fmt::format("\"{}\" has a record already", record.id));
    }
    if (network_.records.size() >= kMostRecords) {
      line.fail(fmt::format("is one of more than {} records", kMostRecords));
    }
    in_record_ = true;
    used_.clear();
    network_.records.push_back(std::move(record));
    peers_.emplace_back();
  }

  void read_port(Line& line) {
    if (!in_record_) {
      if (!network_.left_out.empty()) {
        return;  // of a router
      }
      line.fail("a port stands before the first Switch or Ca");
    }
    IbPort port;
    port.place = line.place();
    port.number = line.number();
    line.expect(']');
    line.skip_guid();
    if (line.take("[ext")) {  // an external port of a modular switch
      line.skip_blanks();
      static_cast<void>(line.number());
      line.expect(']');
    }
    line.skip_blanks();
    Peer peer{line.quoted("the id at the other end"), 0};
    line.expect('[');
    peer.second = line.number();
    line.expect(']');
    read_rate(line, port);
    if (!used_.insert(port.number).second) {
      throw input::InputError{port.place, fmt::format("port {} has a cable already", port.number)};
    }
    network_.records.back().cables.push_back(port);
    peers_.back().push_back(std::move(peer));
  }

  /// The last word behind the '#'.
  static void read_rate(const Line& line, IbPort& port) {
    std::string_view rest = line.rest();
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t' || rest.back() == '\r')) {
      rest.remove_suffix(1);
    }
    const auto blank = rest.find_last_of(" \t");
    port.width_speed = blank == std::string_view::npos ? rest : rest.substr(blank + 1);
    port.rate = ib_rate(port.width_speed);
    if (!(port.rate.si() > 0.0)) {
      line.fail(fmt::format("the line must end in a width and speed such as 4xHDR, ends in \"{}\"",
                            port.width_speed));
    }
  }

  /// Every cable stands in the file at both of its ends.
  void join_ends() {
    for (std::size_t r = 0; r < network_.records.size(); ++r) {
      for (std::size_t c = 0; c < network_.records[r].cables.size(); ++c) {
        const auto& [id, port] = peers_[r][c];
        IbPort& cable = network_.records[r].cables[c];
        cable.peer_port = port;
        const auto found = index_.find(id);
        if (found != index_.end()) {
          cable.peer = static_cast<int>(found->second);
          check_back(r, cable);
        } else if (!id.starts_with("R-")) {
          throw input::InputError{
              cable.place, fmt::format("leads to \"{}\", which has no record: is the file cut "
                                       "off?",
                                       id)};
        }
      }
    }
    // Only now: until here a record's cables and peers are in step.
    for (IbRecord& record : network_.records) {
      std::erase_if(record.cables, [](const IbPort& port) { return port.peer < 0; });
    }
  }

  void check_back(std::size_t from, const IbPort& cable) const {
    const auto to = static_cast<std::size_t>(cable.peer);
    const auto& back = network_.records[to].cables;
    for (std::size_t i = 0; i < back.size(); ++i) {
      if (back[i].number == cable.peer_port) {
        const auto& [id, port] = peers_[to][i];
        if (id == network_.records[from].id && port == cable.number && back[i].rate == cable.rate) {
          return;
        }
        throw input::InputError{
            cable.place, fmt::format("the other end, line {}, says otherwise", back[i].place.line)};
      }
    }
    throw input::InputError{cable.place,
                            fmt::format("leads to port {} of \"{}\", which does not lead back",
                                        cable.peer_port, network_.records[to].id)};
  }

  std::string_view text_;
  const std::string& file_;
  IbNetwork network_{};
  std::map<std::string, std::size_t> index_{};
  std::vector<std::vector<Peer>> peers_{};  ///< of each record's cables
  std::set<int> used_{};                    ///< ports of the last record
  bool in_record_ = false;
};

}  // namespace

units::BytesPerSecond ib_rate(std::string_view width_speed) {
  const auto x = width_speed.find('x');
  int lanes = 0;
  const char* const end = width_speed.data() + std::min(x, width_speed.size());
  const auto [rest, error] = std::from_chars(width_speed.data(), end, lanes);
  if (x == std::string_view::npos || error != std::errc{} || rest != end || lanes < 1 ||
      lanes > 12) {
    return {};
  }
  for (const auto& [name, gigabits] : kLanes) {
    if (width_speed.substr(x + 1) == name) {
      return units::BytesPerSecond{lanes * gigabits * 1e9 / 8.0};
    }
  }
  return {};
}

IbNetwork parse_ibnetdiscover(std::string_view text, const std::string& file) {
  return NetworkReader{text, file}.read();
}

}  // namespace trainyard::topology::importers
