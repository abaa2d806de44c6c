#include <fmt/format.h>

#include <iterator>
#include <string>

#include "units/text.hpp"
#include "workload/file.hpp"
#include "workload/importers/json_text.hpp"

namespace trainyard::workload {
namespace {

using Out = std::back_insert_iterator<std::string>;

// Each list stands on lines of its own, an entry a line: files compare and merge line by line.
template <typename List, typename Write>
void write_list(std::string& text, std::string_view key, const List& list, Write write) {
  fmt::format_to(Out{text}, R"("{}": [)", key);
  const char* separator = "\n";
  for (const auto& entry : list) {
    text += separator;
    write(entry);
    separator = ",\n";
  }
  text += list.empty() ? "]" : "\n]";
}

void write_text(std::string& text, std::string_view key, const std::string& value) {
  if (!value.empty()) {
    fmt::format_to(Out{text}, "\"{}\": {},\n", key, quote(value));
  }
}

void write_bytes(std::string& text, std::string_view key,
                 const std::optional<units::Bytes>& bytes) {
  if (bytes) {
    fmt::format_to(Out{text}, "\"{}\": {},\n", key, units::to_decimal(bytes->si()));
  }
}

void write_dependencies(std::string& text, const std::vector<Dependency>& after) {
  text += R"(, "after": [)";
  const char* separator = "";
  for (const Dependency& dependency : after) {
    text += separator;
    separator = ", ";
    if (dependency.lag == units::Nanoseconds{}) {
      fmt::format_to(Out{text}, "{}", dependency.op);
    } else {
      fmt::format_to(Out{text}, "[{}, {}]", dependency.op, dependency.lag.count());
    }
  }
  text += "]";
}

void write_details(std::string& text, const Op& op) {
  if (op.category != Category::other) {
    fmt::format_to(Out{text}, R"(, "category": "{}")", to_text(op.category));
  }
  if (op.copy != CopyKind::unknown) {
    fmt::format_to(Out{text}, R"(, "direction": "{}")", to_text(op.copy));
  }
  if (op.bytes) {
    fmt::format_to(Out{text}, R"(, "bytes": {})", units::to_decimal(op.bytes->si()));
  }
  if (op.name >= 0) {
    fmt::format_to(Out{text}, R"(, "name": {})", op.name);
  }
}

void write_op(std::string& text, const Op& op) {
  if (op.kind == OpKind::collective) {
    fmt::format_to(Out{text}, R"({{"collective": {}, "recorded_ns": {})", op.collective,
                   op.recorded.count());
  } else {
    fmt::format_to(Out{text}, R"({{"{}_ns": {})", to_text(op.kind), op.duration.count());
  }
  fmt::format_to(Out{text}, R"(, "stream": {})", op.stream);
  if (op.step >= 0) {
    fmt::format_to(Out{text}, R"(, "step": {})", op.step);
  }
  if (op.gap != units::Nanoseconds{}) {
    fmt::format_to(Out{text}, R"(, "gap_ns": {})", op.gap.count());
  }
  if (!op.after.empty()) {
    write_dependencies(text, op.after);
  }
  write_details(text, op);
  text += "}";
}

void write_timeline(std::string& text, const Timeline& timeline) {
  fmt::format_to(Out{text}, "{{\"rank\": {}, \"start_ns\": {},\n", timeline.rank,
                 timeline.start.count());
  write_list(text, "streams", timeline.streams, [&](const Stream& stream) {
    fmt::format_to(Out{text}, R"({{"name": {}{}}})", quote(stream.name),
                   stream.host ? R"(, "host": true)" : "");
  });
  text += ",\n";
  write_list(text, "steps", timeline.steps, [&](const StepMark& step) {
    fmt::format_to(Out{text}, R"({{"name": {}, "begin": {}, "end": {}}})", quote(step.name),
                   step.begin, step.end);
  });
  text += ",\n";
  write_list(text, "ops", timeline.ops, [&](const Op& op) { write_op(text, op); });
  text += "}";
}

void write_collective(std::string& text, const Collective& collective) {
  fmt::format_to(Out{text}, R"({{"op": "{}")", to_text(collective.op));
  if (collective.bytes) {
    fmt::format_to(Out{text}, R"(, "bytes": {})", units::to_decimal(collective.bytes->si()));
  }
  fmt::format_to(Out{text}, R"(, "group": {}, "sequence": {})", collective.group,
                 collective.sequence);
  if (collective.step >= 0) {
    fmt::format_to(Out{text}, R"(, "step": {})", collective.step);
  }
  text += "}";
}

void write_head(std::string& text, const Workload& workload) {
  text += "\"format\": \"trainyard-workload\", \"version\": 1,\n";
  write_text(text, "name", workload.name);
  write_text(text, "gpu", workload.gpu);
  write_text(text, "framework", workload.framework);
  write_text(text, "source", workload.source);
  write_text(text, "licence", workload.licence);
  fmt::format_to(Out{text}, "\"world_size\": {},\n", workload.world_size);
  if (workload.samples_per_step) {
    fmt::format_to(Out{text}, "\"samples_per_step\": {},\n",
                   units::to_decimal(*workload.samples_per_step));
  }
  write_bytes(text, "memory_per_gpu_bytes", workload.memory_per_gpu);
  write_bytes(text, "checkpoint_bytes", workload.checkpoint_size);
  write_bytes(text, "dataset_bytes_per_sample", workload.dataset_bytes_per_sample);
}

}  // namespace

std::string to_json(const Workload& workload) {
  std::string text = "{";
  write_head(text, workload);
  write_list(text, "names", workload.names, [&](const std::string& name) { text += quote(name); });
  text += ",\n";
  write_list(text, "groups", workload.groups, [&](const Group& group) {
    fmt::format_to(Out{text}, R"({{"name": {}, "ranks": [{}]}})", quote(group.name),
                   fmt::join(group.ranks, ", "));
  });
  text += ",\n";
  write_list(text, "collectives", workload.collectives,
             [&](const Collective& collective) { write_collective(text, collective); });
  text += ",\n";
  write_list(text, "timelines", workload.timelines,
             [&](const Timeline& timeline) { write_timeline(text, timeline); });
  text += ",\n";
  write_list(text, "skipped", workload.skipped, [&](const Skipped& skipped) {
    fmt::format_to(Out{text}, R"({{"reason": {}, "count": {}}})", quote(skipped.reason),
                   skipped.count);
  });
  text += "}\n";
  return text;
}

}  // namespace trainyard::workload
