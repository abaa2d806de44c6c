#pragma once

#include <string>
#include <string_view>

namespace trainyard::workload {

/// What stands between the quotes of a JSON string token, escapes left in; a token that is no
/// string without the blanks behind it.
[[nodiscard]] std::string_view bare(std::string_view token);

/// Resolves the escapes of a JSON string. Broken escapes stay as they are.
[[nodiscard]] std::string unescape(std::string_view raw);

/// A JSON string token (quotes included) for `text`; bytes above 127 are left as they are.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace trainyard::workload
