#include "topology/importers/smi_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "topology/importers/draft.hpp"

namespace trainyard::topology::importers {
namespace {

constexpr std::size_t kMostColumns = 128;

constexpr std::array<std::pair<std::string_view, Nearness>, 8> kClasses{{{"X", Nearness::self},
                                                                         {"PIX", Nearness::pix},
                                                                         {"PSB", Nearness::pix},
                                                                         {"PXB", Nearness::pxb},
                                                                         {"PHB", Nearness::phb},
                                                                         {"NODE", Nearness::node},
                                                                         {"SYS", Nearness::sys},
                                                                         {"SOC", Nearness::sys}}};

struct Word {
  std::string text{};
  int column = 0;  ///< 1-based
};

/// Words of a line; terminal escapes (ESC [ ... letter) are blanks.
std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i + 1 < line.size() && !(line[i] >= 'A' && line[i] <= 'Z') &&
             !(line[i] >= 'a' && line[i] <= 'z')) {
        ++i;
      }
      in_word = false;
    } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      in_word = false;
    } else {
      if (!in_word) {
        words.push_back({"", static_cast<int>(i) + 1});
        in_word = true;
      }
      words.back().text += line[i];
    }
  }
  return words;
}

std::optional<int> number_after(std::string_view text, std::string_view front) {
  int value = 0;
  if (!text.starts_with(front) || text.size() == front.size()) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + front.size(), end, value);
  return error == std::errc{} && rest == end && value >= 0 ? std::optional{value} : std::nullopt;
}

bool is_gpu(std::string_view name) {
  return number_after(name, "GPU").has_value();
}

class MatrixReader {
 public:
  MatrixReader(std::string_view text, const std::string& file) : text_{text}, file_{file} {}

  SmiMatrix read() {
    while (next_line()) {
      if (heads_.empty()) {
        read_heading();
      } else if (!words_.empty() && matrix_.cells.size() < heads_.size() &&
                 words_[0].text == heads_[matrix_.cells.size()]) {
        read_row();
      } else {
        read_legend();
      }
    }
    if (heads_.empty()) {
      throw input::InputError{{file_},
                              "has no heading \"GPU0 GPU1 ...\", expected what `nvidia-smi "
                              "topo -m` prints"};
    }
    if (matrix_.cells.size() < heads_.size()) {
      fail(1,
           fmt::format("ends before the row of {}: is it cut off?", heads_[matrix_.cells.size()]));
    }
    check_symmetry();
    name_devices();
    return std::move(matrix_);
  }

 private:
  bool next_line() {
    if (begin_ >= text_.size()) {
      return false;
    }
    const std::size_t end = std::min(text_.find('\n', begin_), text_.size());
    words_ = words_of(text_.substr(begin_, end - begin_));
    begin_ = end + 1;
    ++line_;
    return true;
  }

  [[nodiscard]] input::Place place(int column) const { return {file_, line_, column}; }
  [[noreturn]] void fail(int column, const std::string& what) const {
    throw input::InputError{place(column), what};
  }

  /// Up to "CPU Affinity", "NUMA Affinity", "GPU NUMA ID".
  void read_heading() {
    if (words_.empty() || words_[0].text != "GPU0") {
      return;
    }
    for (const Word& word : words_) {
      if (word.text == "CPU" || word.text == "NUMA" || word.text == "GPU") {
        break;
      }
      if (std::find(heads_.begin(), heads_.end(), word.text) != heads_.end()) {
        fail(word.column, fmt::format("{} heads two columns", word.text));
      }
      if (is_gpu(word.text) && matrix_.gpus != static_cast<int>(heads_.size())) {
        fail(word.column, fmt::format("{} stands behind a NIC, expected GPUs first", word.text));
      }
      matrix_.gpus += is_gpu(word.text) ? 1 : 0;
      heads_.push_back(word.text);
    }
    if (heads_.size() > kMostColumns) {
      fail(1, fmt::format("has {} columns, expected at most {}", heads_.size(), kMostColumns));
    }
  }

  void read_row() {
    auto& row = matrix_.cells.emplace_back();
    const std::size_t index = matrix_.cells.size() - 1;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (i + 1 >= words_.size()) {
        fail(words_.back().column, fmt::format("the row of {} has {} classes, expected {}",
                                               heads_[index], i, heads_.size()));
      }
      row.push_back(cell_of(words_[i + 1]));
      if ((row.back().nearness == Nearness::self) != (i == index)) {
        fail(words_[i + 1].column, fmt::format("{} to {} is \"{}\": X stands for itself",
                                               heads_[index], heads_[i], words_[i + 1].text));
      }
    }
    // The first column behind the classes; "N/A" says nothing.
    const bool has_more = words_.size() > heads_.size() + 1;
    const std::string cpus = has_more ? words_[heads_.size() + 1].text : "";
    matrix_.affinity.push_back(cpus == "N/A" ? "" : cpus);
  }

  [[nodiscard]] SmiCell cell_of(const Word& word) const {
    if (const auto links = number_after(word.text, "NV"); links && *links > 0 && *links < 1000) {
      return {Nearness::nvlink, *links, place(word.column)};
    }
    for (const auto& [name, nearness] : kClasses) {
      if (name == word.text) {
        return {nearness, 0, place(word.column)};
      }
    }
    fail(word.column,
         fmt::format("\"{}\" is no class (known: X, NV#, PIX, PXB, PHB, NODE, SYS)", word.text));
  }

  /// "NIC0: mlx5_0"
  void read_legend() {
    if (words_.size() == 2 && words_[0].text.ends_with(':')) {
      const std::string key = words_[0].text.substr(0, words_[0].text.size() - 1);
      if (number_after(key, "NIC")) {
        legend_[key] = words_[1].text;
      }
    } else if (!words_.empty() && is_gpu(words_[0].text)) {
      fail(words_[0].column, matrix_.cells.size() < heads_.size()
                                 ? fmt::format("{} has no place here, expected the row of {}",
                                               words_[0].text, heads_[matrix_.cells.size()])
                                 : fmt::format("{} is one row too many", words_[0].text));
    }
  }

  void check_symmetry() const {
    for (int row = 0; row < static_cast<int>(heads_.size()); ++row) {
      for (int column = 0; column < row; ++column) {
        const SmiCell& cell = matrix_.at(row, column);
        const auto& others = matrix_.cells[static_cast<std::size_t>(column)];
        const SmiCell& mirrored = others[static_cast<std::size_t>(row)];
        if (cell.nearness != mirrored.nearness || cell.nvlinks != mirrored.nvlinks) {
          throw input::InputError{cell.place, fmt::format("{} to {} is {}, the other way it is {}",
                                                          heads_[static_cast<std::size_t>(row)],
                                                          heads_[static_cast<std::size_t>(column)],
                                                          class_text(cell), class_text(mirrored))};
        }
      }
    }
  }

  void name_devices() {
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      std::string name = heads_[i];
      if (static_cast<int>(i) < matrix_.gpus) {
        name = fmt::format("gpu{}", i);
      } else if (const auto found = legend_.find(name); found != legend_.end()) {
        name = found->second;
      }
      name = plain_name(name);
      const bool taken =
          std::find(matrix_.names.begin(), matrix_.names.end(), name) != matrix_.names.end();
      if (name.empty() || taken) {
        throw input::InputError{{file_},
                                fmt::format("\"{}\" cannot name a device of its own", name)};
      }
      matrix_.names.push_back(name);
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t begin_ = 0;
  int line_ = 0;
  std::vector<Word> words_{};
  std::vector<std::string> heads_{};
  std::map<std::string, std::string> legend_{};
  SmiMatrix matrix_{};
};

}  // namespace

std::string class_text(const SmiCell& cell) {
  if (cell.nearness == Nearness::nvlink) {
    return fmt::format("NV{}", cell.nvlinks);
  }
  for (const auto& [name, nearness] : kClasses) {
    if (nearness == cell.nearness) {
      return std::string{name};
    }
  }
  return "";
}

SmiMatrix parse_smi_matrix(std::string_view text, const std::string& file) {
  return MatrixReader{text, file}.read();
}

}  // namespace trainyard::topology::importers
