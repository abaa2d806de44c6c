#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string_view>

#include "workload/importers/kineto_events.hpp"

namespace trainyard::workload {

/// What an event is, from its category (the current and the older spellings).
enum class EventClass { unknown, ignored, kernel, copy, fill, call, range, sync };

[[nodiscard]] EventClass event_class(std::string_view category);

/// What a runtime or driver call of CUDA or HIP may do, from its name.
[[nodiscard]] CallKind call_kind(std::string_view name);

/// Bytes of one element of a PyTorch data type ("Float", "c10::Half", "long int"); 0 if unknown.
[[nodiscard]] int element_size(std::string_view dtype);

/// The fields of one event that somebody may need, as tokens of the text.
struct EventFields {
  EventClass kind = EventClass::unknown;
  bool named = false;
  bool range_is_step = false;
  std::string_view phase{};
  std::string_view name{};  ///< between the quotes
  std::string_view pid{};
  std::string_view tid{};
  std::string_view ts{};
  std::string_view dur{};
};

/// The `args` of one event.
struct EventArguments {
  bool said_device = false;
  bool said_stream = false;
  std::int64_t device = -1;
  std::int64_t stream = -1;
  std::int64_t correlation = 0;
  std::int64_t bytes = -1;
  std::string_view sync_kind{};
  std::int64_t wait_on_stream = -1;
  std::int64_t record_correlation = -1;
  CommunicationInfo communication{};
  bool has_communication = false;
  std::int64_t not_finite = 0;  ///< bare inf or nan where JSON wants a number
};

/// Reads an event as far as it matters: it stops at the first field that shows that nobody needs
/// it, and reads it a second time when `args` came before the category.
/// @throws simdjson::simdjson_error for broken JSON
void read_event(simdjson::ondemand::object event, EventFields& fields, EventArguments& arguments);

}  // namespace trainyard::workload
