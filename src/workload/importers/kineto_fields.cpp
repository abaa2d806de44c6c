#include "workload/importers/kineto_fields.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "workload/importers/decimal.hpp"
#include "workload/importers/json_text.hpp"

namespace trainyard::workload {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view key_of(const ondemand::field& field) {
  const char* key = field.key().raw();
  // The text is padded and stage 1 of the parser has seen the closing quote.
  return {key, static_cast<std::size_t>(static_cast<const char*>(std::strchr(key, '"')) - key)};
}

bool is_not_finite(std::string_view token) {
  if (!token.empty() && token.front() == '-') {
    token.remove_prefix(1);
  }
  return !token.empty() && (token.front() == 'i' || token.front() == 'I' || token.front() == 'N' ||
                            token.starts_with("na"));
}

// Far above any tensor; sums of as many as a text can hold stay in 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

std::int64_t times_extent(std::int64_t product, std::int64_t extent) {
  if (extent <= 0) {
    return 0;
  }
  return product > kMostElements / extent ? kMostElements : product * extent;
}

// Tensor elements of one entry of "Input Dims": a list of extents, or (a tensor list) of lists.
std::int64_t count_elements(ondemand::value value) {
  std::int64_t product = 1;
  std::int64_t sum = -1;
  for (ondemand::value child : value.get_array()) {
    if (child.type() == ondemand::json_type::array) {
      sum = std::min(std::max<std::int64_t>(sum, 0) + count_elements(child), kMostElements);
    } else if (const auto extent = whole_number(bare(child.raw_json_token()))) {
      product = times_extent(product, *extent);
    }
  }
  return sum >= 0 ? sum : product;
}

/// "Input Dims" and "Input type", which come in any order.
struct InputShapes {
  std::array<std::int64_t, 8> elements{};
  std::array<std::string_view, 8> types{};
  std::size_t n_elements = 0;
  std::size_t n_types = 0;
};

void read_shapes(ondemand::value value, InputShapes& shapes) {
  for (ondemand::value input : value.get_array()) {
    if (shapes.n_elements < shapes.elements.size() && input.type() == ondemand::json_type::array) {
      shapes.elements.at(shapes.n_elements) = count_elements(input);
    }
    ++shapes.n_elements;
  }
}

void read_types(ondemand::value value, InputShapes& shapes) {
  for (ondemand::value type : value.get_array()) {
    if (shapes.n_types < shapes.types.size()) {
      shapes.types.at(shapes.n_types) = bare(type.raw_json_token());
    }
    ++shapes.n_types;
  }
}

// A "nccl:..." range lists only tensors, all of one type: their sum is the message. The first input
// of record_param_comms is the tensor, the others are not data.
void apply_shapes(const InputShapes& shapes, bool all_inputs, EventArguments& arguments) {
  CommunicationInfo& info = arguments.communication;
  if (shapes.n_elements == 0 || shapes.n_types == 0 || info.in_elements >= 0 ||
      element_size(shapes.types.front()) == 0) {
    return;
  }
  const std::size_t count =
      all_inputs ? std::min({shapes.n_elements, shapes.n_types, shapes.types.size()}) : 1;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += shapes.types.at(i) == shapes.types.front() ? shapes.elements.at(i) : 0;
  }
  info.in_elements = total;
  info.dtype = shapes.types.front();
  arguments.has_communication = true;
}

enum class Argument {
  device,
  stream,
  correlation,
  bytes,
  wait_on_stream,
  record_correlation,
  in_elements,
  out_elements,
  group_size,
  rank_start,
  rank_stride,
  source,
  destination,
  collective,
  dtype,
  group,
  ranks,
  sync_kind,
  dims,
  types,
};

constexpr std::array<std::pair<std::string_view, Argument>, 22> kArguments{{
    {"device", Argument::device},
    {"stream", Argument::stream},
    {"correlation", Argument::correlation},
    {"bytes", Argument::bytes},
    {"wait_on_stream", Argument::wait_on_stream},
    {"wait_on_cuda_event_record_corr_id", Argument::record_correlation},
    {"In msg nelems", Argument::in_elements},
    {"Out msg nelems", Argument::out_elements},
    {"Group size", Argument::group_size},
    {"Global rank start", Argument::rank_start},
    {"Global rank stride", Argument::rank_stride},
    {"Src Rank", Argument::source},
    {"Dst Rank", Argument::destination},
    {"Collective name", Argument::collective},
    {"dtype", Argument::dtype},
    {"Process Group Name", Argument::group},
    {"Process Group ID", Argument::group},
    {"Process Group Ranks", Argument::ranks},
    {"cuda_sync_kind", Argument::sync_kind},
    {"Input Dims", Argument::dims},
    {"Input type", Argument::types},
    {"Input Types", Argument::types},
}};

// Numbers that do not fit (the stream 4294967295 of a context sync does) mean "not said".
void set_number(EventArguments& arguments, Argument argument, std::int64_t value) {
  CommunicationInfo& info = arguments.communication;
  const int small = value > 1 << 30 || value < -1 ? -1 : static_cast<int>(value);
  switch (argument) {
    case Argument::device:
      arguments.said_device = true;
      arguments.device = value;
      break;
    case Argument::stream:
      arguments.said_stream = true;
      arguments.stream = value;
      break;
    case Argument::correlation:
      arguments.correlation = value;
      break;
    case Argument::bytes:
      arguments.bytes = value;
      break;
    case Argument::wait_on_stream:
      arguments.wait_on_stream = value;
      break;
    case Argument::record_correlation:
      arguments.record_correlation = value;
      break;
    case Argument::in_elements:
      info.in_elements = value;
      break;
    case Argument::out_elements:
      info.out_elements = value;
      break;
    case Argument::group_size:
      info.group_size = small;
      break;
    case Argument::rank_start:
      info.rank_start = small;
      break;
    case Argument::rank_stride:
      info.rank_stride = small;
      break;
    case Argument::source:
      info.source = small;
      break;
    case Argument::destination:
      info.destination = small;
      break;
    default:
      break;
  }
}

void set_text(EventArguments& arguments, Argument argument, std::string_view text) {
  CommunicationInfo& info = arguments.communication;
  switch (argument) {
    case Argument::collective:
      info.collective = text;
      break;
    case Argument::dtype:
      info.dtype = text;
      break;
    case Argument::group:
      info.group = text;
      break;
    case Argument::ranks:
      info.ranks = text;
      break;
    case Argument::sync_kind:
      arguments.sync_kind = text;
      return;
    default:
      return;
  }
  arguments.has_communication = true;
}

void set_argument(EventArguments& arguments, Argument argument, std::string_view token) {
  if (argument >= Argument::collective || argument == Argument::group) {
    set_text(arguments, argument, bare(token));
    return;
  }
  if (const auto number = whole_number(bare(token))) {
    set_number(arguments, argument, *number);
    arguments.has_communication = arguments.has_communication || argument == Argument::in_elements;
  }
}

std::optional<Argument> find_argument(std::string_view key) {
  for (const auto& [name, argument] : kArguments) {
    if (key == name) {
      return argument;
    }
  }
  return std::nullopt;
}

void read_argument(std::string_view key, std::string_view token, ondemand::value value,
                   InputShapes& shapes, EventArguments& arguments) {
  if (is_not_finite(token)) {
    ++arguments.not_finite;
    return;
  }
  const auto argument = find_argument(key);
  if (!argument) {
    return;
  }
  const bool list = token.front() == '[';
  if (*argument == Argument::dims && list) {
    read_shapes(value, shapes);
  } else if (*argument == Argument::types && list) {
    read_types(value, shapes);
  } else {
    set_argument(arguments, *argument, token);
  }
}

void read_arguments(ondemand::value value, bool all_inputs, EventArguments& arguments) {
  if (value.type() != ondemand::json_type::object) {
    return;
  }
  InputShapes shapes;
  for (ondemand::field field : value.get_object()) {
    const std::string_view token = field.value().raw_json_token();
    read_argument(key_of(field), token, field.value(), shapes, arguments);
  }
  apply_shapes(shapes, all_inputs, arguments);
}

bool is_wanted_range(std::string_view name) {
  return name.starts_with("ProfilerStep") || name.starts_with("nccl:") ||
         name == "record_param_comms";
}

// Decides as soon as the fields read so far allow it.
bool is_ignored(const EventFields& fields) {
  return fields.kind == EventClass::ignored ||
         (fields.kind == EventClass::range && fields.named && !is_wanted_range(fields.name)) ||
         (!fields.phase.empty() && fields.phase != "X");
}

void set_field(EventFields& fields, std::string_view key, std::string_view token) {
  if (key == "ph") {
    fields.phase = bare(token);
  } else if (key == "cat") {
    fields.kind = event_class(bare(token));
  } else if (key == "name") {
    fields.name = bare(token);
    fields.named = true;
  } else if (key == "pid") {
    fields.pid = bare(token);
  } else if (key == "tid") {
    fields.tid = bare(token);
  } else if (key == "ts") {
    fields.ts = bare(token);
  } else if (key == "dur") {
    fields.dur = bare(token);
  }
}

bool knows_arguments(const EventFields& fields) {
  return fields.kind != EventClass::unknown && (fields.kind != EventClass::range || fields.named);
}

}  // namespace

EventClass event_class(std::string_view category) {
  static constexpr std::array<std::pair<std::string_view, EventClass>, 17> kCategories{{
      {"cpu_op", EventClass::range},
      {"cuda_runtime", EventClass::call},
      {"kernel", EventClass::kernel},
      {"gpu_memcpy", EventClass::copy},
      {"gpu_memset", EventClass::fill},
      {"user_annotation", EventClass::range},
      {"cuda_driver", EventClass::call},
      {"cuda_sync", EventClass::sync},
      {"Operator", EventClass::range},
      {"Runtime", EventClass::call},
      {"Kernel", EventClass::kernel},
      {"Memcpy", EventClass::copy},
      {"Memset", EventClass::fill},
      {"hip_runtime", EventClass::call},
      {"hip_driver", EventClass::call},
      {"concurrent_kernel", EventClass::kernel},
      {"Driver", EventClass::call},
  }};
  for (const auto& [name, kind] : kCategories) {
    if (category == name) {
      return kind;
    }
  }
  return EventClass::ignored;
}

CallKind call_kind(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  }
  static constexpr std::array<std::pair<std::string_view, CallKind>, 9> kCalls{{
      {"Memcpy", CallKind::copy},
      {"StreamWaitEvent", CallKind::stream_wait},
      {"StreamSynchronize", CallKind::stream_sync},
      {"DeviceSynchronize", CallKind::device_sync},
      {"CtxSynchronize", CallKind::device_sync},
      {"ThreadSynchronize", CallKind::device_sync},
      {"EventSynchronize", CallKind::event_sync},
      {"Free", CallKind::free},
      {"MemFree", CallKind::free},
  }};
  for (const auto& [word, kind] : kCalls) {
    if (name.starts_with(word)) {
      const bool returns_at_once =
          name.starts_with("FreeAsync") || name.starts_with("MemFreeAsync");
      return returns_at_once ? CallKind::other : kind;
    }
  }
  return CallKind::other;
}

int element_size(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, int>, 34> kSizes{{
      {"float", 4},         {"Float", 4},       {"c10::Half", 2}, {"Half", 2},
      {"c10::BFloat16", 2}, {"BFloat16", 2},    {"double", 8},    {"Double", 8},
      {"long int", 8},      {"long", 8},        {"Long", 8},      {"int", 4},
      {"Int", 4},           {"short int", 2},   {"short", 2},     {"Short", 2},
      {"unsigned char", 1}, {"signed char", 1}, {"char", 1},      {"Byte", 1},
      {"Char", 1},          {"bool", 1},        {"Bool", 1},      {"long long", 8},
      {"UInt16", 2},        {"UInt32", 4},      {"UInt64", 8},    {"uint8", 1},
      {"int8", 1},          {"float16", 2},     {"bfloat16", 2},  {"float32", 4},
      {"int64", 8},         {"int32", 4},
  }};
  for (const auto& [name, size] : kSizes) {
    if (dtype == name) {
      return size;
    }
  }
  if (dtype.find("loat8") != std::string_view::npos) {
    return 1;
  }
  if (dtype.find("omplex") != std::string_view::npos) {
    const bool wide = dtype.find("double") != std::string_view::npos || dtype == "ComplexDouble";
    return wide ? 16 : 8;
  }
  return 0;
}

void read_event(ondemand::object event, EventFields& fields, EventArguments& arguments) {
  bool missed_arguments = false;
  for (ondemand::field field : event) {
    const std::string_view key = key_of(field);
    if (key != "args") {
      set_field(fields, key, field.value().raw_json_token());
      if (is_ignored(fields)) {
        return;
      }
    } else if (knows_arguments(fields)) {
      read_arguments(field.value(), fields.name != "record_param_comms", arguments);
    } else {
      missed_arguments = true;
    }
  }
  if (!missed_arguments || !knows_arguments(fields)) {
    return;
  }
  if (event.reset().error() != simdjson::SUCCESS) {
    return;
  }
  for (ondemand::field field : event) {
    if (key_of(field) == "args") {
      read_arguments(field.value(), fields.name != "record_param_comms", arguments);
    }
  }
}

}  // namespace trainyard::workload
