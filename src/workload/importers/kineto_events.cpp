#include "workload/importers/kineto_events.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "input/error.hpp"
#include "workload/importers/decimal.hpp"
#include "workload/importers/inflate.hpp"
#include "workload/importers/json_text.hpp"
#include "workload/importers/kineto_fields.hpp"

namespace trainyard::workload {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr const char* kNotNeeded =
    "events that are no GPU work, runtime call, step marker or communication range";
constexpr const char* kNoTime = "events without a time stamp";
constexpr const char* kLostTime = "GPU events with time 0 and duration 0 (time stamp lost)";
constexpr const char* kNotFinite = "numbers written as bare inf or nan";
constexpr const char* kNotUtf8 = "text that is not UTF-8 (all bytes above 127 read as \"?\")";
constexpr const char* kOpenArray = "array of events without its closing bracket";

// Tools append events to a bare array and never close it: puts the bracket behind the last event.
bool closed_array(PaddedText& padded) {
  const std::string_view text = padded.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::size_t last = text.find_last_not_of(" \t\r\n,");
  if (first == std::string_view::npos || text[first] != '[' || text[last] != '}') {
    return false;
  }
  std::string closed{text.substr(0, last + 1)};
  closed.push_back(']');
  padded = PaddedText{closed};
  return true;
}

class Reader {
 public:
  Reader(PaddedText& padded, std::string_view name) : padded_{padded}, name_{name} {
    if (closed_array(padded)) {
      ++file_.skipped[kOpenArray];
    }
    text_ = padded.text();
  }

  KinetoFile read() {
    parse();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::string_view what) const {
    throw input::InputError{input::place_of(name_, text_, std::min(offset, text_.size())), what};
  }

  [[noreturn]] void fail_at(std::string_view token, std::string_view what) const {
    fail(static_cast<std::size_t>(token.data() - text_.data()), what);
  }

  void parse() {
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text_[first] != '{' && text_[first] != '[')) {
      fail(
          0,
          "not a profile of a known format, expected a Kineto trace of the PyTorch profiler (JSON, "
          "plain or gzipped)");
    }
    ondemand::parser parser;
    ondemand::document document;
    auto started = start(parser, document);
    if (started == simdjson::UTF8_ERROR) {
      hide_bytes();
      started = start(parser, document);
    }
    if (started != simdjson::SUCCESS) {
      fail(text_.size(), syntax(started, text_.size()));
    }
    try {
      read_document(document);
    } catch (const simdjson::simdjson_error& error) {
      const char* location = nullptr;
      const bool known = document.current_location().get(location) == simdjson::SUCCESS;
      const std::size_t offset =
          known ? static_cast<std::size_t>(location - text_.data()) : text_.size();
      const bool cut = error.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
      fail(cut ? text_.size() : offset, syntax(error.error(), cut ? text_.size() : offset));
    }
  }

  simdjson::error_code start(ondemand::parser& parser, ondemand::document& document) const {
    return parser.iterate(simdjson::padded_string_view(text_, text_.size() + kJsonPadding))
        .get(document);
  }

  // Paths and names of users need not be UTF-8; no key and no kernel name needs other than ASCII.
  void hide_bytes() {
    char* const data = padded_.data();
    std::replace_if(
        data, data + text_.size(), [](char c) { return c < 0; }, '?');
    ++file_.skipped[kNotUtf8];
  }

  static std::string syntax(simdjson::error_code code, std::size_t offset) {
    if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT || code == simdjson::UNCLOSED_STRING) {
      return fmt::format("the JSON text is cut: it ends at byte {} inside an object, array or text",
                         offset);
    }
    return fmt::format("not valid JSON at byte {}: {}", offset, simdjson::error_message(code));
  }

  void read_document(ondemand::document& document) {
    const ondemand::json_type type = document.type();
    if (type == ondemand::json_type::array) {
      read_events(document.get_array());
      return;
    }
    if (type != ondemand::json_type::object) {
      fail(0, "expected a Kineto profile: a JSON object with \"traceEvents\", or an array");
    }
    bool found = false;
    for (ondemand::field field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "traceEvents") {
        found = true;
        read_events(field.value().get_array());
      } else if (key == "baseTimeNanoseconds") {
        read_base(field.value().raw_json_token());
      } else if (key == "distributedInfo") {
        read_distributed(field.value());
      } else if (key == "deviceProperties") {
        read_devices(field.value());
      }
    }
    if (!found) {
      fail(0, "expected a Kineto profile: the object has no \"traceEvents\"");
    }
  }

  void read_base(std::string_view token) {
    const auto base = whole_number(bare(token));
    if (!base) {
      fail_at(token,
              fmt::format("'baseTimeNanoseconds' must be a whole number, got {}", bare(token)));
    }
    file_.base = *base;
  }

  static std::optional<int> small_number(ondemand::value value) {
    const auto number = whole_number(bare(value.raw_json_token()));
    if (!number || *number < 0 || *number > 1 << 24) {
      return std::nullopt;
    }
    return static_cast<int>(*number);
  }

  void read_distributed(ondemand::value value) {
    if (value.type() != ondemand::json_type::object) {
      return;
    }
    for (ondemand::field field : value.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "rank") {
        file_.rank = small_number(field.value()).value_or(-1);
      } else if (key == "world_size") {
        file_.world_size = small_number(field.value()).value_or(-1);
      } else if (key == "pg_config" && field.value().type() == ondemand::json_type::array) {
        for (ondemand::value group : field.value().get_array()) {
          read_group(group);
        }
      }
    }
  }

  void read_group(ondemand::value value) {
    if (value.type() != ondemand::json_type::object) {
      return;
    }
    ProcessGroup group;
    for (ondemand::field field : value.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "pg_name") {
        group.name = unescape(bare(field.value().raw_json_token()));
      } else if (key == "ranks" && field.value().type() == ondemand::json_type::array) {
        for (ondemand::value rank : field.value().get_array()) {
          if (const auto number = small_number(rank)) {
            group.ranks.push_back(*number);
          }
        }
      }
    }
    file_.groups.push_back(std::move(group));
  }

  void read_devices(ondemand::value value) {
    if (value.type() != ondemand::json_type::array) {
      return;
    }
    for (ondemand::value entry : value.get_array()) {
      if (entry.type() != ondemand::json_type::object) {
        continue;
      }
      std::int64_t id = -1;
      std::string name;
      for (ondemand::field field : entry.get_object()) {
        const std::string_view key = field.unescaped_key();
        if (key == "id") {
          id = whole_number(bare(field.value().raw_json_token())).value_or(-1);
        } else if (key == "name") {
          name = unescape(bare(field.value().raw_json_token()));
        }
      }
      file_.devices.emplace(id, std::move(name));
    }
  }

  void read_events(ondemand::array events) {
    for (ondemand::value value : events) {
      EventFields fields;
      EventArguments arguments;
      read_event(value.get_object(), fields, arguments);
      keep(fields, arguments);
    }
  }

  void keep(const EventFields& fields, const EventArguments& arguments) {
    const bool wanted = fields.kind != EventClass::unknown && fields.kind != EventClass::ignored;
    const bool range = fields.kind == EventClass::range;
    const bool named_range = fields.name.starts_with("ProfilerStep") ||
                             fields.name.starts_with("nccl:") ||
                             fields.name == "record_param_comms";
    if (!wanted || (range && !named_range) || (!fields.phase.empty() && fields.phase != "X")) {
      ++file_.skipped[kNotNeeded];
      return;
    }
    if (arguments.not_finite > 0) {
      file_.skipped[kNotFinite] += arguments.not_finite;
    }
    if (fields.kind == EventClass::sync) {
      keep_sync(arguments);  // its times are those of the call
      return;
    }
    if (fields.ts.empty()) {
      ++file_.skipped[kNoTime];
      return;
    }
    const std::int64_t start = time(fields.ts, "ts");
    const std::int64_t duration = fields.dur.empty() ? 0 : time(fields.dur, "dur");
    if (duration < 0) {
      fail_at(fields.dur,
              fmt::format("'dur' must not be negative, got {} (microseconds)", fields.dur));
    }
    if (fields.kind == EventClass::call) {
      file_.calls.push_back(
          {start, start + duration, arguments.correlation, thread(fields), call_kind(fields.name)});
    } else if (range) {
      keep_range(fields, arguments, start, start + duration);
    } else {
      keep_gpu(fields, arguments, start, duration);
    }
  }

  [[nodiscard]] std::int64_t time(std::string_view token, std::string_view key) const {
    const auto value = microseconds_to_nanoseconds(token);
    if (!value) {
      fail_at(token, fmt::format("'{}' must be a finite time in microseconds, got {}", key, token));
    }
    return *value;
  }

  // Devices are few; what does not fit is none.
  static int small_or_zero(std::int64_t value) {
    return value < -1 || value > 1 << 24 ? 0 : static_cast<int>(value);
  }

  void keep_gpu(const EventFields& fields, const EventArguments& arguments, std::int64_t start,
                std::int64_t duration) {
    if (start == 0 && duration == 0) {
      ++file_.skipped[kLostTime];
      return;
    }
    GpuEvent event;
    event.start = start;
    event.duration = duration;
    event.correlation = arguments.correlation;
    event.stream = arguments.said_stream ? arguments.stream : whole_number(fields.tid).value_or(0);
    event.device = small_or_zero(arguments.said_device ? arguments.device
                                                       : whole_number(fields.pid).value_or(0));
    event.bytes = arguments.bytes;
    event.name = intern(names_, file_.names, fields.name);
    if (fields.kind != EventClass::kernel) {
      event.work = fields.kind == EventClass::copy ? GpuWork::copy : GpuWork::fill;
    } else if (arguments.has_communication) {
      event.communication = static_cast<int>(file_.communication.size());
      file_.communication.push_back(arguments.communication);
    }
    file_.gpu.push_back(event);
  }

  void keep_range(const EventFields& fields, const EventArguments& arguments, std::int64_t start,
                  std::int64_t end) {
    if (fields.name.starts_with("ProfilerStep")) {
      file_.steps.push_back({start, end, thread(fields), unescape(fields.name)});
      return;
    }
    CommunicationInfo info = arguments.communication;
    if (info.collective.empty() && fields.name.starts_with("nccl:")) {
      info.collective = fields.name;
    }
    file_.ranges.push_back(
        {start, end, thread(fields), static_cast<int>(file_.communication.size())});
    file_.communication.push_back(info);
  }

  void keep_sync(const EventArguments& arguments) {
    static constexpr std::int64_t kAllStreams = 0xFFFFFFFF;  // (uint32) -1 in older files
    SyncRecord record;
    record.device = small_or_zero(arguments.device);
    record.correlation = arguments.correlation;
    record.stream = arguments.stream == kAllStreams ? -1 : arguments.stream;
    record.source = arguments.wait_on_stream;
    record.record_correlation = arguments.record_correlation;
    if (arguments.sync_kind == "Stream Sync" || arguments.sync_kind == "Stream Synchronize") {
      record.kind = SyncKind::stream;
      record.source = record.stream;
    } else if (arguments.sync_kind == "Event Sync" || arguments.sync_kind == "Event Synchronize") {
      record.kind = SyncKind::event;
    } else if (arguments.sync_kind == "Stream Wait Event") {
      record.kind = SyncKind::stream_waits;
    } else {
      record.kind = SyncKind::context;
    }
    file_.syncs.push_back(record);
  }

  int thread(const EventFields& fields) {
    if (fields.pid != last_pid_ || fields.tid != last_tid_ || last_thread_ < 0) {
      last_pid_ = fields.pid;
      last_tid_ = fields.tid;
      const auto next = static_cast<int>(threads_.size());
      const std::string key = fmt::format("{} {}", fields.pid, fields.tid);
      last_thread_ = threads_.try_emplace(key, next).first->second;
    }
    return last_thread_;
  }

  static int intern(std::unordered_map<std::string_view, int>& index,
                    std::vector<std::string_view>& list, std::string_view text) {
    const auto [found, is_new] = index.try_emplace(text, static_cast<int>(list.size()));
    if (is_new) {
      list.push_back(text);
    }
    return found->second;
  }

  PaddedText& padded_;
  std::string_view text_{};
  std::string_view name_;
  std::string_view last_pid_{};
  std::string_view last_tid_{};
  int last_thread_ = -1;
  KinetoFile file_{};
  std::unordered_map<std::string, int> threads_{};
  std::unordered_map<std::string_view, int> names_{};
};

}  // namespace

KinetoFile parse_kineto(PaddedText& text, std::string_view name) {
  return Reader{text, name}.read();
}

}  // namespace trainyard::workload
