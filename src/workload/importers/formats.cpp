// Which format a profile has, told by its content.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "input/error.hpp"
#include "workload/importers/gpu_trace.hpp"
#include "workload/importers/nsys.hpp"
#include "workload/importers/recording.hpp"
#include "workload/importers/sqlite.hpp"

namespace trainyard::workload {
namespace {

bool accepts(ProfileFormat wanted, ProfileFormat found) {
  return wanted == ProfileFormat::automatic || wanted == found;
}

[[noreturn]] void refuse(const std::string& path, ProfileFormat wanted) {
  throw input::InputError{
      {path}, fmt::format("is no profile in the format {}, expected one", to_text(wanted))};
}

std::vector<Recording> read_database(const std::string& path, ProfileFormat wanted) {
  const Sqlite database{path};
  if (is_nsys(database) && accepts(wanted, ProfileFormat::nsys)) {
    return read_nsys(database);
  }
  if (wanted != ProfileFormat::automatic) {
    refuse(path, wanted);
  }
  throw input::InputError{
      {path},
      "the SQLite database has no table of GPU activity (CUPTI_ACTIVITY_KIND_*), "
      "expected an export of Nsight Systems (was CUDA traced?)"};
}

// Reports in the tool's own format have to be exported by the tool.
void check_is_no_report(const std::string& path) {
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep")) {
    throw input::InputError{{path},
                            "is a report of Nsight Systems, expected its SQLite export (nsys "
                            "export --type sqlite)"};
  }
}

std::vector<Recording> read_text(const std::string& path, ProfileFormat wanted) {
  std::vector<Recording> recordings;
  PaddedText text = read_inflated(path);
  const std::size_t table = find_gpu_trace(text.text());
  if (table != std::string_view::npos && accepts(wanted, ProfileFormat::nsys)) {
    return read_gpu_trace(std::move(text), table, path);
  }
  if (is_summary_report(text.text())) {
    throw input::InputError{{path},
                            "is a report of sums without a timeline, expected the report "
                            "cuda_gpu_trace or the SQLite export"};
  }
  if (!accepts(wanted, ProfileFormat::kineto)) {
    refuse(path, wanted);
  }
  Recording& recording = recordings.emplace_back();
  recording.path = path;
  recording.format = to_text(ProfileFormat::kineto);
  recording.text = std::move(text);
  recording.file = parse_kineto(recording.text, path);
  return recordings;
}

}  // namespace

const char* to_text(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::kineto:
      return "kineto";
    case ProfileFormat::nsys:
      return "nsys";
    case ProfileFormat::nvprof:
      return "nvprof";
    default:
      return "auto";
  }
}

std::string valid_text(std::string_view text, KinetoFile& file) {
  std::string result{text};
  if (!simdjson::validate_utf8(text)) {
    ++file.skipped["names that are not UTF-8 (bytes above 127 read as \"?\")"];
    std::replace_if(
        result.begin(), result.end(), [](char c) { return c < 0; }, '?');
  }
  return result;
}

std::vector<Recording> read_profile(const std::string& path, ProfileFormat wanted) {
  check_is_no_report(path);
  return Sqlite::is_database(path) ? read_database(path, wanted) : read_text(path, wanted);
}

}  // namespace trainyard::workload
