#include "workload/importers/inflate.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <catch2/catch.hpp>

#include "input/error.hpp"
#include "support/temporary_folder.hpp"

using trainyard::input::InputError;
using trainyard::workload::PaddedText;
using trainyard::workload::read_inflated;

namespace {

std::string gzip(std::string_view text) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

PaddedText inflate(std::string_view bytes, std::string_view name) {
  return trainyard::workload::inflate(PaddedText{bytes}, name);
}

}  // namespace

TEST_CASE("text that is no gzip data passes through, padded", "[inflate]") {
  const auto padded = inflate("{\"a\": 1}", "x.json.gz");
  CHECK(padded.text() == "{\"a\": 1}");
  const std::string_view behind{padded.text().data() + 8, trainyard::workload::kJsonPadding};
  CHECK(behind == std::string(trainyard::workload::kJsonPadding, '\0'));
}

TEST_CASE("one gzip member is inflated whatever the name", "[inflate]") {
  const std::string text(100'000, 'x');
  CHECK(inflate(gzip(text), "x.json").text() == text);
  CHECK(inflate(gzip(""), "x.json").text().empty());
}

TEST_CASE("several members follow each other", "[inflate]") {
  const std::string big(300'000, 'b');
  // The size at the end of the file is that of the last, small member.
  CHECK(inflate(gzip("first ") + gzip(big) + gzip("!"), "x").text() == "first " + big + "!");
}

TEST_CASE("zero padding behind the last member is allowed", "[inflate]") {
  CHECK(inflate(gzip("abc") + std::string(512, '\0'), "x").text() == "abc");
}

TEST_CASE("a cut or damaged member is an error at its byte", "[inflate]") {
  const std::string whole = gzip(std::string(5'000, 'a') + "the end");
  REQUIRE_THROWS_WITH(inflate(whole.substr(0, whole.size() / 2), "run.gz"),
                      "run.gz: error: the gzip member is cut or corrupt: it starts at byte 0 of "
                      "the file, expected whole gzip members");
  REQUIRE_THROWS_WITH(inflate(whole.substr(0, whole.size() - 1), "run.gz"),
                      Catch::Contains("cut or corrupt"));
  REQUIRE_THROWS_WITH(inflate(gzip("abc") + whole.substr(0, 12), "run.gz"),
                      Catch::Contains(fmt::format("at byte {} ", gzip("abc").size())));
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // inside the checksum
  REQUIRE_THROWS_WITH(inflate(damaged, "run.gz"), Catch::Contains("cut or corrupt"));
}

TEST_CASE("other bytes behind a member are an error", "[inflate]") {
  REQUIRE_THROWS_WITH(inflate(gzip("abc") + "junk", "run.gz"),
                      Catch::Contains("followed by other bytes"));
}

TEST_CASE("missing and empty files are errors that name the file", "[inflate]") {
  const trainyard::test::TemporaryFolder folder;
  const auto missing = (folder.path() / "missing.json").string();
  REQUIRE_THROWS_WITH(read_inflated(missing), Catch::StartsWith(missing + ": error: "));
  const auto empty = folder.write("empty.json", "").string();
  REQUIRE_THROWS_WITH(read_inflated(empty), Catch::Contains("the file is empty"));
  const auto blank = folder.write("blank.json.gz", gzip(" \n")).string();
  REQUIRE_THROWS_WITH(read_inflated(blank), Catch::Contains("the file is empty"));
  REQUIRE_THROWS_AS(read_inflated(folder.path().string()), InputError);
}
