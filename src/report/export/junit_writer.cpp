// SPDX-License-Identifier: Apache-2.0
#include "report/export/junit_writer.h"

#include <fmt/format.h>

#include <cstddef>

#include "util/text.h"

namespace upskill {
namespace {

// The Unicode code point of valid UTF-8 at `i`, and its length in bytes.
std::pair<char32_t, std::size_t> CodePointAt(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(text[i + k])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1FU) << 6U | (byte(1) & 0x3FU), 2};
  if (first < 0xF0) return {(first & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU), 3};
  return {(first & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU), 4};
}

// Of what XML 1.0 allows, neither control characters, which a terminal may act on, nor those that reverse the order of
// the text.
bool AllowedInXml(char32_t c) {
  const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7F && c <= 0x9F);
  const bool reverses = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !reverses && c != 0xFFFE && c != 0xFFFF;
}

struct Totals {
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::size_t tests = 0;
  double seconds = 0.0;

  void Add(const JUnitCase& one) {
    ++tests;
    seconds += one.seconds;
    failures += one.outcome == JUnitCase::Outcome::kFailed ? 1 : 0;
    errors += one.outcome == JUnitCase::Outcome::kError ? 1 : 0;
    skipped += one.outcome == JUnitCase::Outcome::kSkipped ? 1 : 0;
  }
  std::string Attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", tests, failures,
                       errors, skipped, seconds);
  }
};

std::string OutcomeElement(const JUnitCase& one) {
  switch (one.outcome) {
    case JUnitCase::Outcome::kPassed:
      return "";
    case JUnitCase::Outcome::kFailed:
      return fmt::format("\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    ", XmlText(one.message),
                         XmlText(one.type), XmlText(one.body));
    case JUnitCase::Outcome::kError:
      return fmt::format("\n      <error message=\"{}\" type=\"{}\"/>\n    ", XmlText(one.message), XmlText(one.type));
    case JUnitCase::Outcome::kSkipped:
      if (one.body.empty()) return fmt::format("\n      <skipped message=\"{}\"/>\n    ", XmlText(one.message));
      return fmt::format("\n      <skipped message=\"{}\">{}</skipped>\n    ", XmlText(one.message), XmlText(one.body));
  }
  return "";
}

std::string SuiteElement(const JUnitSuite& suite, std::size_t number, Totals& all) {
  Totals totals;
  std::string inner;
  if (!suite.properties.empty()) inner += "    <properties>\n";
  for (const auto& [name, value] : suite.properties)
    inner += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", XmlText(name), XmlText(value));
  if (!suite.properties.empty()) inner += "    </properties>\n";
  for (const JUnitCase& one : suite.cases) {
    totals.Add(one);
    all.Add(one);
    inner += fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                         XmlText(one.name), XmlText(one.classname), one.seconds, OutcomeElement(one));
  }
  const std::string timestamp =
      suite.timestamp.empty() ? "" : fmt::format(" timestamp=\"{}\"", XmlText(suite.timestamp));
  return fmt::format("  <testsuite name=\"{}\" id=\"{}\" {}{}>\n{}  </testsuite>\n", XmlText(suite.name), number,
                     totals.Attributes(), timestamp, inner);
}

}  // namespace

std::string XmlText(std::string_view text) {
  const std::string valid = FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : std::string(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size();) {
    const auto [c, length] = CodePointAt(valid, i);
    if (!AllowedInXml(c)) {
      out += "\uFFFD";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "&#10;";  // an attribute would turn the character itself into a space
    } else if (c == '\r') {
      out += "&#13;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out.append(valid, i, length);
    }
    i += length;
  }
  return out;
}

std::string JUnitDocument(const std::vector<JUnitSuite>& suites) {
  Totals all;
  std::string elements;
  for (std::size_t i = 0; i < suites.size(); ++i) elements += SuiteElement(suites[i], i, all);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"upskill\" {}>\n{}</testsuites>\n",
                     all.Attributes(), elements);
}

}  // namespace upskill
