// The GPU trace report of Nsight Systems as CSV. It has no column for the process, so correlation
// ids of several processes collide; they are not needed, for no launch is listed.
#include "workload/importers/gpu_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "input/error.hpp"
#include "workload/importers/decimal.hpp"
#include "workload/importers/json_text.hpp"

namespace trainyard::workload {
namespace {

constexpr std::size_t kPreamble = 65'536;  // what the tool prints before the table is far less
constexpr const char* kBehind = "lines behind the table of the report";
constexpr const char* kOpenLine = "last line without a line break (kept; the file may be cut)";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// "Start (ns)" and "Start(nsec)" are "start" in "ns" and "nsec".
struct Heading {
  std::string name{};
  std::string unit{};
};

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

Heading heading(std::string_view cell) {
  const std::size_t open = cell.find('(');
  const std::size_t close = cell.find(')', open);
  Heading result{lower(trimmed(cell.substr(0, open))), {}};
  if (close != std::string_view::npos) {
    result.unit = lower(trimmed(cell.substr(open + 1, close - open - 1)));
  }
  return result;
}

// --- lines and cells ----------------------------------------------------------------------------

/// The rows of a CSV text, one after the other. Cells without quotes inside are views of the text.
class Rows {
 public:
  Rows(std::string_view text, std::size_t from, const std::string& path, TextStore& store)
      : text_{text}, path_{path}, store_{store}, at_{from} {
    line_ += static_cast<int>(std::count(text.begin(), text.begin() + std::ptrdiff_t(from), '\n'));
  }

  /// False at the end of the text and at a blank line.
  bool next() {
    cells_.clear();
    line_ = next_line_ == 0 ? line_ : next_line_;
    next_line_ = line_;
    if (at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r') {
      return false;
    }
    while (take_cell()) {
    }
    return true;
  }

  [[nodiscard]] const std::vector<std::string_view>& cells() const { return cells_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  [[nodiscard]] bool closed() const { return text_.ends_with('\n'); }
  [[noreturn]] void fail(std::string_view what) const {
    throw input::InputError{{path_, line_, 0}, what};
  }

 private:
  // False after the last cell of the row.
  bool take_cell() {
    if (at_ < text_.size() && text_[at_] == '"') {
      take_quoted();
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      cells_.push_back(trimmed(text_.substr(at_, end - at_)));
      at_ = end;
    }
    if (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      return true;
    }
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++next_line_;
    return false;
  }

  void take_quoted() {
    std::size_t end = at_ + 1;
    bool doubled = false;
    while (true) {
      end = text_.find('"', end);
      if (end == std::string_view::npos) {
        fail("a quote is not closed, expected a whole file (was it cut?)");
      }
      if (end + 1 == text_.size() || text_[end + 1] != '"') {
        break;
      }
      doubled = true;
      end += 2;
    }
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    next_line_ += static_cast<int>(std::count(inside.begin(), inside.end(), '\n'));
    cells_.push_back(doubled ? std::string_view{store_.emplace_back(single(inside))} : inside);
    at_ = end + 1;
  }

  static std::string single(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      result.push_back(text[i]);
      i += text[i] == '"' ? 1 : 0;
    }
    return result;
  }

  std::string_view text_;
  const std::string& path_;
  TextStore& store_;
  std::size_t at_;
  int line_ = 1;
  int next_line_ = 0;
  std::vector<std::string_view> cells_{};
};

// --- the table ----------------------------------------------------------------------------------

std::string_view copy_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDirections{{
      {"Host-to-Device", "Memcpy HtoD"},
      {"Device-to-Host", "Memcpy DtoH"},
      {"Device-to-Device", "Memcpy DtoD"},
      {"Peer-to-Peer", "Memcpy PtoP"},
  }};
  for (const auto& [word, spelled] : kDirections) {
    if (name.find(word) != std::string_view::npos) {
      return spelled;
    }
  }
  return name;
}

class TraceReader {
 public:
  TraceReader(std::string_view text, std::size_t header, const std::string& path, TextStore& store)
      : rows_{text, header, path, store}, store_{store} {}

  /// By device.
  std::map<int, KinetoFile> read() {
    rows_.next();
    read_header();
    while (rows_.next()) {
      if (rows_.cells().size() == 1 && rows_.cells().front().starts_with("Processing")) {
        break;
      }
      if (rows_.cells().size() != width_) {
        rows_.fail(
            fmt::format("the row has {} cells, expected {} as in the header (was the file "
                        "cut?)",
                        rows_.cells().size(), width_));
      }
      add_row();
    }
    note_end();
    return std::move(files_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void read_header() {
    width_ = rows_.cells().size();
    for (std::size_t i = 0; i < width_; ++i) {
      const Heading found = heading(rows_.cells()[i]);
      if (found.name == "start") {
        start_ = i;
        start_power_ = time_power(found.unit);
      } else if (found.name == "duration") {
        duration_ = i;
        duration_power_ = time_power(found.unit);
      } else if (found.name == "bytes") {
        bytes_ = i;
        bytes_unit_ = bytes_in(found.unit);
      } else if (found.name == "device") {
        device_ = i;
      } else if (found.name == "strm") {
        stream_ = i;
      } else if (found.name == "name") {
        name_ = i;
      }
    }
    if (duration_ == kNone || stream_ == kNone || name_ == kNone) {
      rows_.fail(
          "the table has no column Duration, Strm or Name, expected those of the report "
          "cuda_gpu_trace");
    }
  }

  // Power of ten that makes nanoseconds of the unit.
  [[nodiscard]] int time_power(std::string_view unit) const {
    static constexpr std::array<std::pair<std::string_view, int>, 8> kUnits{{{"ns", 0},
                                                                             {"nsec", 0},
                                                                             {"us", 3},
                                                                             {"usec", 3},
                                                                             {"ms", 6},
                                                                             {"msec", 6},
                                                                             {"s", 9},
                                                                             {"sec", 9}}};
    for (const auto& [name, power] : kUnits) {
      if (unit == name) {
        return power;
      }
    }
    rows_.fail(fmt::format("times in {}, expected ns, us, ms or s", quote(unit)));
  }

  [[nodiscard]] double bytes_in(std::string_view unit) const {
    static constexpr std::array<std::pair<std::string_view, double>, 10> kUnits{
        {{"", 1.0},
         {"b", 1.0},
         {"byte", 1.0},
         {"bytes", 1.0},
         {"kb", 1e3},
         {"mb", 1e6},
         {"gb", 1e9},
         {"kib", 1024.0},
         {"mib", 1048576.0},
         {"gib", 1073741824.0}}};
    for (const auto& [name, bytes] : kUnits) {
      if (unit == name) {
        return bytes;
      }
    }
    rows_.fail(fmt::format("bytes in {}, expected B, KB, MB or GB", quote(unit)));
  }

  [[nodiscard]] std::int64_t time(std::size_t column, int power, std::string_view name) const {
    const auto value = scaled_number(rows_.cells()[column], power);
    if (!value) {
      rows_.fail(fmt::format("{} is {}, expected a number", name, quote(rows_.cells()[column])));
    }
    return *value;
  }

  void add_row() {
    const auto [device, gpu] = device_in_row();
    KinetoFile& file = files_[device];
    if (!gpu.empty()) {
      file.devices.try_emplace(device, gpu);
    }
    GpuEvent event;
    event.start = time(start_, start_power_, "Start");
    event.duration = time(duration_, duration_power_, "Duration");
    if (event.duration < 0) {
      rows_.fail(fmt::format("Duration is {}, expected 0 or more", event.duration));
    }
    const std::string_view stream = rows_.cells()[stream_];
    event.stream = stream.empty() ? 0 : time(stream_, 0, "Strm");
    event.device = device;
    const std::string_view name = rows_.cells()[name_];
    event.work = name.starts_with("[CUDA memset") ? GpuWork::fill : GpuWork::kernel;
    if (name.starts_with("[") && name.find("emcpy") != std::string_view::npos) {
      event.work = GpuWork::copy;
    }
    event.name = number_of(device, event.work == GpuWork::copy ? copy_name(name) : name);
    event.bytes = event.work == GpuWork::kernel ? -1 : bytes_in_row();
    file.gpu.push_back(event);
  }

  // "NVIDIA GeForce RTX 3090 (0)"; "GPU" stands for a name that is not known.
  [[nodiscard]] std::pair<int, std::string_view> device_in_row() const {
    const std::string_view text = device_ == kNone ? std::string_view{} : rows_.cells()[device_];
    const std::size_t open = text.rfind('(');
    if (open == std::string_view::npos) {
      return {0, text};
    }
    int number = 0;
    const auto [end, error] =
        std::from_chars(text.data() + open + 1, text.data() + text.size(), number);
    if (error != std::errc{} || *end != ')' || number < 0) {
      rows_.fail(
          fmt::format("Device is {}, expected a name and a number in brackets", quote(text)));
    }
    const std::string_view name = trimmed(text.substr(0, open));
    return {number, name == "GPU" ? std::string_view{} : name};
  }

  [[nodiscard]] std::int64_t bytes_in_row() const {
    if (bytes_ == kNone || rows_.cells()[bytes_].empty()) {
      return -1;
    }
    double value = 0.0;
    const std::string_view text = rows_.cells()[bytes_];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0.0) ||
        value * bytes_unit_ > 1e18) {
      rows_.fail(fmt::format("Bytes is {}, expected a number", quote(text)));
    }
    return std::llround(value * bytes_unit_);
  }

  int number_of(int device, std::string_view name) {
    KinetoFile& file = files_[device];
    auto& numbers = numbers_[device];
    const auto found = numbers.find(name);
    if (found != numbers.end()) {
      return found->second;
    }
    const int number = static_cast<int>(file.names.size());
    file.names.push_back(store_.emplace_back(valid_text(name, file)));
    numbers.emplace(name, number);
    return number;
  }

  void note_end() {
    if (files_.empty()) {
      return;
    }
    auto& skipped = files_.begin()->second.skipped;
    const std::string_view rest = rows_.rest();
    if (trimmed(rest).find_first_not_of("\r\n") != std::string_view::npos) {
      skipped[kBehind] = std::count(rest.begin(), rest.end(), '\n') + 1;
    }
    if (!rows_.closed()) {
      ++skipped[kOpenLine];
    }
  }

  Rows rows_;
  TextStore& store_;
  std::size_t width_ = 0;
  std::size_t start_ = 0, duration_ = kNone, bytes_ = kNone, device_ = kNone, stream_ = kNone,
              name_ = kNone;
  int start_power_ = 0, duration_power_ = 0;
  double bytes_unit_ = 1.0;
  std::map<int, KinetoFile> files_{};
  std::map<int, std::unordered_map<std::string_view, int>> numbers_{};  ///< [device][name]
};

std::string_view line_at(std::string_view text, std::size_t at) {
  return trimmed(text.substr(at, text.find('\n', at) - at));
}

}  // namespace

std::size_t find_gpu_trace(std::string_view text) {
  const std::string_view head = text.substr(0, kPreamble);
  for (std::size_t at = head.starts_with("\xef\xbb\xbf") ? 3 : 0; at < head.size();) {
    const std::string_view line = line_at(text, at);
    const Heading first = heading(line.substr(0, line.find(',')));
    if (first.name == "start" && !first.unit.empty() &&
        lower(line).find(",duration") != std::string::npos) {
      return at;
    }
    const std::size_t end = head.find('\n', at);
    at = end == std::string_view::npos ? head.size() : end + 1;
  }
  return std::string_view::npos;
}

bool is_summary_report(std::string_view text) {
  const std::string_view head = text.substr(0, kPreamble);
  const bool shares = head.find("Time (%),") != std::string_view::npos ||
                      head.find("Time(%),") != std::string_view::npos;
  return shares && head.find("Total Time") != std::string_view::npos;
}

std::vector<Recording> read_gpu_trace(PaddedText text, std::size_t header,
                                      const std::string& path) {
  const auto store = std::make_shared<TextStore>();
  std::vector<Recording> recordings;
  for (auto& [device, file] : TraceReader{text.text(), header, path, *store}.read()) {
    Recording& recording = recordings.emplace_back();
    recording.path = path;
    recording.format = to_text(ProfileFormat::nsys);
    recording.store = store;
    recording.file = std::move(file);
  }
  if (recordings.empty()) {
    throw input::InputError{{path}, "the report has no rows, expected GPU operations"};
  }
  return recordings;
}

}  // namespace trainyard::workload
