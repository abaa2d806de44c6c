#include "workload/importers/json_text.hpp"

#include <catch2/catch.hpp>

using trainyard::workload::bare;
using trainyard::workload::quote;
using trainyard::workload::unescape;

TEST_CASE("a token loses its quotes and the blanks behind it", "[json]") {
  CHECK(bare("\"abc\" ") == "abc");
  CHECK(bare("17\n  ") == "17");
  CHECK(bare("\"\"") == "");
  CHECK(bare("\"") == "\"");
  CHECK(bare("") == "");
}

TEST_CASE("escapes are resolved", "[json]") {
  CHECK(unescape("plain") == "plain");
  CHECK(unescape(R"(a\"b\\c\/d\n\t)") == "a\"b\\c/d\n\t");
  CHECK(unescape(R"(\u0041\u00e9\u20ac)") == "A\xC3\xA9\xE2\x82\xAC");
  CHECK(unescape(R"(\ud83d\ude80)") == "\xF0\x9F\x9A\x80");
}

TEST_CASE("broken escapes stay or become the replacement character", "[json]") {
  CHECK(unescape(R"(\q)") == "\\q");
  CHECK(unescape("\\") == "\\");
  CHECK(unescape(R"(\u12)") == "\\u12");
  CHECK(unescape(R"(\ud83d!)") == "\xEF\xBF\xBD!");
}

TEST_CASE("quoting escapes what JSON forbids and nothing else", "[json]") {
  CHECK(quote("a\"b\\c") == R"("a\"b\\c")");
  CHECK(quote(std::string_view{"\x01\n", 2}) == R"("\u0001\u000a")");
  CHECK(quote("\xE2\x82\xAC") == "\"\xE2\x82\xAC\"");
  CHECK(unescape(bare(quote("mixed \"\n\\ text"))) == "mixed \"\n\\ text");
}
