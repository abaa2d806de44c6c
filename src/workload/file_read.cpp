#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "input/error.hpp"
#include "workload/file.hpp"
#include "workload/file_check.hpp"
#include "workload/importers/decimal.hpp"
#include "workload/importers/inflate.hpp"
#include "workload/importers/json_text.hpp"

namespace trainyard::workload {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::int64_t kLongest = 1'000'000'000'000'000'000;  // ns, 31 years
constexpr std::string_view kCut = "the JSON text is cut: it ends inside an object, array or text";
constexpr std::int64_t kManyRanks = 1 << 24;

class FileReader {
 public:
  FileReader(std::string_view text, std::string_view name) : text_{text}, name_{name} {}

  Workload read() {
    ondemand::parser parser;
    ondemand::document document;
    const auto started =
        parser.iterate(simdjson::padded_string_view(text_, text_.size() + kJsonPadding))
            .get(document);
    if (started != simdjson::SUCCESS) {
      fail(text_.size(), syntax(started));
    }
    try {
      read_document(document);
    } catch (const simdjson::simdjson_error& error) {
      const char* location = nullptr;
      const bool known = document.current_location().get(location) == simdjson::SUCCESS &&
                         error.error() != simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
      fail(known ? static_cast<std::size_t>(location - text_.data()) : text_.size(),
           syntax(error.error()));
    }
    check_workload(workload_, offsets_,
                   [&](std::size_t offset, std::string_view what) { fail(offset, what); });
    return std::move(workload_);
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::string_view what) const {
    if (text_.find_first_not_of(" \t\r\n", offset) == std::string_view::npos) {
      what = kCut;  // a value is missing where the text ends
    }
    throw input::InputError{input::place_of(name_, text_, std::min(offset, text_.size())), what};
  }

  static std::string syntax(simdjson::error_code code) {
    if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT || code == simdjson::UNCLOSED_STRING) {
      return std::string{kCut};
    }
    return fmt::format("not valid JSON: {}", simdjson::error_message(code));
  }

  [[nodiscard]] std::size_t offset_of(std::string_view token) const {
    return static_cast<std::size_t>(token.data() - text_.data());
  }

  // --- values -----------------------------------------------------------------------------------

  std::int64_t whole(ondemand::value value, std::string_view key, std::int64_t low,
                     std::int64_t high) const {
    const std::string_view token = value.raw_json_token();
    const auto number = whole_number(bare(token));
    if (!number || token.front() == '"' || *number < low || *number > high) {
      fail(offset_of(token), fmt::format("'{}' must be a whole number from {} to {}, got {}", key,
                                         low, high, shown(token)));
    }
    return *number;
  }

  int index(ondemand::value value, std::string_view key) const {
    return static_cast<int>(whole(value, key, 0, 1 << 30));
  }

  units::Nanoseconds time(ondemand::value value, std::string_view key) const {
    return units::Nanoseconds{whole(value, key, 0, kLongest)};
  }

  double number(ondemand::value value, std::string_view key) const {
    const std::string_view token = value.raw_json_token();
    double result = 0.0;
    if (value.get_double().get(result) != simdjson::SUCCESS || !(result >= 0.0) ||
        !std::isfinite(result)) {
      fail(offset_of(token),
           fmt::format("'{}' must be a number of at least 0, got {}", key, shown(token)));
    }
    return result;
  }

  units::Bytes bytes(ondemand::value value, std::string_view key) const {
    return units::Bytes{number(value, key)};
  }

  std::string text(ondemand::value value, std::string_view key) const {
    const std::string_view token = value.raw_json_token();
    std::string_view result;
    if (value.get_string().get(result) != simdjson::SUCCESS) {
      fail(offset_of(token), fmt::format("'{}' must be a text, got {}", key, shown(token)));
    }
    return std::string{result};
  }

  static std::string_view shown(std::string_view token) {
    const std::size_t end = token.find_last_not_of(" \t\r\n");
    return token.substr(0, std::min<std::size_t>(end == std::string_view::npos ? 0 : end + 1, 40));
  }

  template <typename Enum>
  Enum word(ondemand::value value, std::string_view key, std::initializer_list<Enum> all) const {
    const std::string_view token = value.raw_json_token();
    const std::string found = text(value, key);
    std::vector<std::string> known;
    for (const Enum candidate : all) {
      if (found == to_text(candidate)) {
        return candidate;
      }
      known.emplace_back(to_text(candidate));
    }
    fail(offset_of(token),
         fmt::format("unknown {} \"{}\"{}", key, found, input::suggestion(found, known)));
  }

  /// Calls `read(key, value)` for each field; false: it does not know the key. None may come twice.
  template <typename Read>
  std::size_t object(ondemand::value value, std::string_view what,
                     std::initializer_list<std::string_view> known, Read read) const {
    const std::string_view token = value.raw_json_token();
    if (value.type() != ondemand::json_type::object) {
      fail(offset_of(token), fmt::format("{} must be an object, got {}", what, shown(token)));
    }
    std::uint32_t seen = 0;  // a bit for each known key
    for (ondemand::field field : value.get_object()) {
      const std::size_t at = offset_of(std::string_view{field.key().raw()}) - 1;
      const std::string_view key = field.unescaped_key();
      const std::uint32_t bit = 1U << (std::find(known.begin(), known.end(), key) - known.begin());
      if ((seen & bit) != 0U) {
        fail(at, fmt::format("key \"{}\" appears twice in {}", key, what));
      }
      if (!read(key, field.value())) {
        fail(at, fmt::format("unknown key \"{}\" in {}{}", key, what,
                             input::suggestion(key, {known.begin(), known.end()})));
      }
      seen |= bit;
    }
    return offset_of(token);
  }

  template <typename Read>
  void array(ondemand::value value, std::string_view what, Read read) const {
    const std::string_view token = value.raw_json_token();
    if (value.type() != ondemand::json_type::array) {
      fail(offset_of(token), fmt::format("'{}' must be an array, got {}", what, shown(token)));
    }
    for (ondemand::value entry : value.get_array()) {
      read(entry);
    }
  }

  // --- the document -----------------------------------------------------------------------------

  void read_document(ondemand::document& document) {
    ondemand::value root;
    if (document.get_value().get(root) != simdjson::SUCCESS) {
      fail(0, "expected a workload: a JSON object");
    }
    bool format = false;
    bool version = false;
    object(root, "a workload",
           {"format", "version", "name", "gpu", "framework", "source", "licence", "world_size",
            "samples_per_step", "memory_per_gpu_bytes", "checkpoint_bytes",
            "dataset_bytes_per_sample", "names", "groups", "collectives", "timelines", "skipped"},
           [&](std::string_view key, ondemand::value value) {
             if (key == "format") {
               read_format(value);
               format = true;
               return true;
             }
             if (key == "version") {
               whole(value, key, 1, 1);
               version = true;
               return true;
             }
             return read_head(key, value) || read_part(key, value);
           });
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      fail(static_cast<std::size_t>(rest - text_.data()), "expected nothing behind the workload");
    }
    if (!format || !version) {
      fail(0, R"(expected a workload: "format": "trainyard-workload", "version": 1)");
    }
    if (workload_.timelines.empty()) {
      fail(0, "a workload needs at least one entry in \"timelines\"");
    }
  }

  void read_format(ondemand::value value) const {
    const std::string_view token = value.raw_json_token();
    if (text(value, "format") != "trainyard-workload") {
      fail(offset_of(token),
           fmt::format("'format' must be \"trainyard-workload\", got {}", shown(token)));
    }
  }

  bool read_head(std::string_view key, ondemand::value value) {
    if (key == "name") {
      workload_.name = text(value, key);
    } else if (key == "gpu") {
      workload_.gpu = text(value, key);
    } else if (key == "framework") {
      workload_.framework = text(value, key);
    } else if (key == "source") {
      workload_.source = text(value, key);
    } else if (key == "licence") {
      workload_.licence = text(value, key);
    } else if (key == "world_size") {
      workload_.world_size = static_cast<int>(whole(value, key, 1, kManyRanks));
    } else if (key == "samples_per_step") {
      workload_.samples_per_step = number(value, key);
    } else if (key == "memory_per_gpu_bytes") {
      workload_.memory_per_gpu = bytes(value, key);
    } else if (key == "checkpoint_bytes") {
      workload_.checkpoint_size = bytes(value, key);
    } else if (key == "dataset_bytes_per_sample") {
      workload_.dataset_bytes_per_sample = bytes(value, key);
    } else {
      return false;
    }
    return true;
  }

  bool read_part(std::string_view key, ondemand::value value) {
    if (key == "names") {
      array(value, key,
            [&](ondemand::value entry) { workload_.names.push_back(text(entry, "names")); });
    } else if (key == "groups") {
      array(value, key, [&](ondemand::value entry) { read_group(entry); });
    } else if (key == "collectives") {
      array(value, key, [&](ondemand::value entry) { read_collective(entry); });
    } else if (key == "timelines") {
      array(value, key, [&](ondemand::value entry) { read_timeline(entry); });
    } else if (key == "skipped") {
      array(value, key, [&](ondemand::value entry) { read_skipped(entry); });
    } else {
      return false;
    }
    return true;
  }

  void read_group(ondemand::value entry) {
    Group group;
    offsets_.groups.push_back(object(
        entry, "a group", {"name", "ranks"}, [&](std::string_view key, ondemand::value value) {
          if (key == "name") {
            group.name = text(value, key);
          } else if (key == "ranks") {
            array(value, key, [&](ondemand::value rank) {
              group.ranks.push_back(static_cast<int>(whole(rank, "ranks", 0, kManyRanks)));
            });
          } else {
            return false;
          }
          return true;
        }));
    workload_.groups.push_back(std::move(group));
  }

  void read_collective(ondemand::value entry) {
    using enum CollectiveOp;
    Collective collective;
    bool has_op = false;
    offsets_.collectives.push_back(
        object(entry, "a collective", {"op", "bytes", "group", "sequence", "step"},
               [&](std::string_view key, ondemand::value value) {
                 if (key == "op") {
                   collective.op = word(value, key,
                                        {all_reduce, all_gather, reduce_scatter, broadcast, reduce,
                                         all_to_all, send_recv, gather, scatter, barrier});
                   has_op = true;
                 } else if (key == "bytes") {
                   collective.bytes = bytes(value, key);
                 } else if (key == "group") {
                   collective.group = index(value, key);
                 } else if (key == "sequence") {
                   collective.sequence = index(value, key);
                 } else if (key == "step") {
                   collective.step = index(value, key);
                 } else {
                   return false;
                 }
                 return true;
               }));
    if (!has_op) {
      fail(offsets_.collectives.back(), "a collective needs its \"op\"");
    }
    workload_.collectives.push_back(collective);
  }

  void read_skipped(ondemand::value entry) {
    Skipped skipped;
    object(entry, "a skipped entry", {"reason", "count"},
           [&](std::string_view key, ondemand::value value) {
             if (key == "reason") {
               skipped.reason = text(value, key);
             } else if (key == "count") {
               skipped.count = whole(value, key, 0, kLongest);
             } else {
               return false;
             }
             return true;
           });
    workload_.skipped.push_back(std::move(skipped));
  }

  void read_timeline(ondemand::value entry) {
    Timeline timeline;
    FileOffsets::TimelineOffsets offsets;
    offsets.self = object(
        entry, "a timeline", {"rank", "start_ns", "streams", "steps", "ops"},
        [&](std::string_view key, ondemand::value value) {
          if (key == "rank") {
            timeline.rank = static_cast<int>(whole(value, key, 0, kManyRanks));
          } else if (key == "start_ns") {
            timeline.start = time(value, key);
          } else if (key == "streams") {
            array(value, key, [&](ondemand::value stream) { read_stream(stream, timeline); });
          } else if (key == "steps") {
            array(value, key, [&](ondemand::value step) { read_step(step, timeline, offsets); });
          } else if (key == "ops") {
            array(value, key, [&](ondemand::value op) { read_op(op, timeline, offsets); });
          } else {
            return false;
          }
          return true;
        });
    workload_.timelines.push_back(std::move(timeline));
    offsets_.timelines.push_back(std::move(offsets));
  }

  void read_stream(ondemand::value entry, Timeline& timeline) const {
    Stream stream;
    object(entry, "a stream", {"name", "host"}, [&](std::string_view key, ondemand::value value) {
      if (key == "name") {
        stream.name = text(value, key);
      } else if (key == "host") {
        const std::string_view token = value.raw_json_token();
        if (value.get_bool().get(stream.host) != simdjson::SUCCESS) {
          fail(offset_of(token), fmt::format("'host' must be true or false, got {}", shown(token)));
        }
      } else {
        return false;
      }
      return true;
    });
    timeline.streams.push_back(std::move(stream));
  }

  void read_step(ondemand::value entry, Timeline& timeline,
                 FileOffsets::TimelineOffsets& offsets) const {
    StepMark step;
    offsets.steps.push_back(object(entry, "a step", {"name", "begin", "end"},
                                   [&](std::string_view key, ondemand::value value) {
                                     if (key == "name") {
                                       step.name = text(value, key);
                                     } else if (key == "begin") {
                                       step.begin =
                                           static_cast<int>(whole(value, key, -1, 1 << 30));
                                     } else if (key == "end") {
                                       step.end = static_cast<int>(whole(value, key, -1, 1 << 30));
                                     } else {
                                       return false;
                                     }
                                     return true;
                                   }));
    timeline.steps.push_back(std::move(step));
  }

  void read_op(ondemand::value entry, Timeline& timeline,
               FileOffsets::TimelineOffsets& offsets) const {
    Op op;
    int kinds = 0;
    offsets.ops.push_back(object(
        entry, "an operation",
        {"compute_ns", "copy_ns", "fill_ns", "host_ns", "wait_ns", "collective", "recorded_ns",
         "stream", "step", "gap_ns", "after", "category", "direction", "bytes", "name"},
        [&](std::string_view key, ondemand::value value) {
          if (read_kind(op, key, value)) {
            ++kinds;
            return true;
          }
          return read_op_field(op, key, value);
        }));
    if (kinds != 1) {
      fail(offsets.ops.back(),
           "an operation needs exactly one of compute_ns, copy_ns, fill_ns, host_ns, wait_ns and "
           "collective");
    }
    timeline.ops.push_back(std::move(op));
  }

  bool read_kind(Op& op, std::string_view key, ondemand::value value) const {
    if (key == "collective") {
      op.kind = OpKind::collective;
      op.collective = index(value, key);
      return true;
    }
    for (const OpKind kind :
         {OpKind::compute, OpKind::copy, OpKind::fill, OpKind::host, OpKind::wait}) {
      if (key.ends_with("_ns") && key.substr(0, key.size() - 3) == to_text(kind)) {
        op.kind = kind;
        op.duration = time(value, key);
        return true;
      }
    }
    return false;
  }

  bool read_op_field(Op& op, std::string_view key, ondemand::value value) const {
    using enum CopyKind;
    if (key == "stream") {
      op.stream = index(value, key);
    } else if (key == "step") {
      op.step = index(value, key);
    } else if (key == "gap_ns") {
      op.gap = units::Nanoseconds{whole(value, key, -kLongest, kLongest)};
    } else if (key == "recorded_ns") {
      op.recorded = time(value, key);
    } else if (key == "after") {
      array(value, key, [&](ondemand::value entry) { op.after.push_back(dependency(entry)); });
    } else if (key == "category") {
      op.category = word(value, key,
                         {Category::gemm, Category::conv, Category::attention,
                          Category::memory_bound, Category::other});
    } else if (key == "direction") {
      op.copy = word(value, key, {h2d, d2h, d2d, p2p, unknown});
    } else if (key == "bytes") {
      op.bytes = bytes(value, key);
    } else if (key == "name") {
      op.name = index(value, key);
    } else {
      return false;
    }
    return true;
  }

  // An index, or [index, lag in ns].
  Dependency dependency(ondemand::value entry) const {
    const std::string_view token = entry.raw_json_token();
    if (entry.type() != ondemand::json_type::array) {
      return {index(entry, "after"), {}};
    }
    Dependency result;
    int count = 0;
    array(entry, "after", [&](ondemand::value value) {
      if (count == 0) {
        result.op = index(value, "after");
      } else {
        result.lag = time(value, "after");
      }
      ++count;
    });
    if (count != 2) {
      fail(offset_of(token), "an entry of 'after' must be an index or [index, lag in ns]");
    }
    return result;
  }

  std::string_view text_;
  std::string_view name_;
  Workload workload_{};
  FileOffsets offsets_{};
};

}  // namespace

Workload parse_workload(std::string_view text, std::string_view name) {
  const PaddedText padded{text};
  return FileReader{padded.text(), name}.read();
}

Workload read_workload(const std::string& path) {
  const PaddedText padded = read_inflated(path);
  return FileReader{padded.text(), path}.read();
}

}  // namespace trainyard::workload
