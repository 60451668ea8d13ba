// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "skill/specification.h"
#include "util/text.h"

// For tests: tables of skills and what skills-ref 0.1.1 says about them. A row is
//
//   folder  content  =>  message ;; message        (or: valid)
//
// with \n, \t, \r and \xNN for bytes and {a*64} for 64 times "a". `not YAML @3:1` is a message of ours: where
// skills-ref finds a problem too, and says something else about it. " | " is a line end in a message. Rows that end in
// `# traceback` are ours: the reference implementation ends with an exception.

namespace upskill {

// A part of a row as it is meant.
inline std::string Unfolded(std::string_view part) {
  std::string bytes;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char next = i + 1 < part.size() ? part[i + 1] : '\0';
    if (part[i] != '\\') {
      bytes += part[i];
    } else if (next == 'x') {
      bytes += static_cast<char>(std::stoi(std::string(part.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      bytes += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
      ++i;
    }
  }
  static const std::regex kRepeated(R"(\{([^{}*]+)\*(\d+)\})");
  std::string text;
  std::string::const_iterator from = bytes.cbegin();
  for (std::sregex_iterator match(bytes.cbegin(), bytes.cend(), kRepeated), end; match != end; ++match) {
    text.append(from, (*match)[0].first);
    for (int count = std::stoi((*match)[2].str()); count > 0; --count) text += (*match)[1].str();
    from = (*match)[0].second;
  }
  text.append(from, bytes.cend());
  return text;
}

// What a row says about a finding.
inline std::string ShortMessage(const SkillFinding& finding) {
  if (finding.message.starts_with(kYamlProblem)) return fmt::format("not YAML @{}:{}", finding.line, finding.column);
  return std::regex_replace(finding.message, std::regex("\n"), " | ");
}

inline std::vector<std::string> SplitRow(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

// Checks each row of a table; `skill_text` makes the SKILL.md of a row's content. Returns the number of rows.
inline std::size_t CheckSkillRows(std::string_view table, const std::function<std::string(std::string)>& skill_text) {
  std::size_t rows = 0;
  for (const std::string_view line : SplitLines(table)) {
    if (line.empty()) continue;
    ++rows;
    SCOPED_TRACE(std::string(line));
    const std::size_t arrow = line.rfind("  =>  ");
    const std::size_t gap = line.find("  ");
    if (arrow == std::string_view::npos || gap >= arrow + 2) {
      ADD_FAILURE() << "not a row";
      continue;
    }
    const std::string folder = Unfolded(line.substr(0, gap));
    const std::string content = gap + 2 > arrow ? "" : Unfolded(line.substr(gap + 2, arrow - gap - 2));
    std::string_view outcome = line.substr(arrow + 6);
    outcome = outcome.substr(0, outcome.find("  # "));
    std::vector<std::string> expected;
    if (outcome != "valid") {
      for (const std::string& message : SplitRow(outcome, " ;; ")) expected.push_back(Unfolded(message));
    }
    const auto read = ReadSpecifiedSkill(skill_text(content));
    std::vector<SkillFinding> errors;
    if (const auto* const problem = std::get_if<SkillFinding>(&read)) {
      errors.push_back(*problem);
    } else {
      errors = FindFieldErrors(std::get<SpecifiedSkill>(read), folder);
    }
    std::vector<std::string> messages;
    for (const SkillFinding& error : errors) {
      messages.push_back(ShortMessage(error));
      EXPECT_GT(error.line, 0U);
      EXPECT_GT(error.column, 0U);
    }
    EXPECT_EQ(messages, expected);
  }
  return rows;
}

}  // namespace upskill
