#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/node.hpp"

namespace trainyard::topology::importers {

/// A device of a node file that is about to be written.
struct DraftDevice {
  DeviceKind kind = DeviceKind::gpu;
  std::string name{};
  std::string detail{};  ///< GPU model, link kind of a NIC; else ""
  std::string plane{};   ///< of an NVSwitch
  std::string remark{};  ///< what the source calls it, such as a bus id
};

struct DraftLink {
  std::string a{};
  std::string b{};
  std::string kind{};
  int count = 1;
  std::optional<units::BytesPerSecond> bandwidth{};  ///< where it differs from the kind's
};

/// A node file that is about to be written.
struct NodeDraft {
  std::string name{};
  std::vector<std::string> remarks{};  ///< lines at the top
  std::vector<DraftDevice> devices{};
  std::vector<DraftLink> links{};
};

/// The file's text. Like devices and like links share a table: "gpu{0..7}".
[[nodiscard]] std::string to_toml(const NodeDraft& draft);

/// Patterns that expand to these names in this order: {"gpu0", "gpu1", "nic0"} gives
/// {"gpu{0..1}", "nic0"}.
[[nodiscard]] std::vector<std::string> patterns_of(const std::vector<std::string>& names);

/// As a TOML string, quotes included.
[[nodiscard]] std::string in_quotes(std::string_view text);
/// "# ..." lines of at most 100 columns, nothing in them that would end a comment.
[[nodiscard]] std::string comment(std::string_view text);
/// Letters, digits and -_.: of a name stay, runs of anything else become one '-'.
[[nodiscard]] std::string plain_name(std::string_view text);

}  // namespace trainyard::topology::importers
