// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "teach/material.h"

namespace upskill {

// What the extraction without a model reads in texts: sentences that state something, and the words that make them
// specific.

// The sentences that state something with code in backticks, in order; if there are none, those with a bare path,
// identifier, version or time. Lines of code, trees, tables and what the agent says about itself are left out.
std::vector<std::string> StatementsOf(const std::string& text);
// The statements of an answer, those closest to the wording of the request first.
std::vector<std::string> StatementsByNearness(const UserRequest& request);
std::vector<std::string> SentencesOf(const std::string& line);
// The texts in backticks in one line.
std::vector<std::string> CodeSpansOf(const std::string& text);
// The texts that make a statement specific: its code spans, else its bare words that can't be guessed, such as paths,
// file names, identifiers, times and versions.
std::vector<std::string> TellingTextsOf(const std::string& statement);

// A text's words of more than three characters, in lower case, and how many of them `text` has.
std::set<std::string> WordsOf(const std::string& text);
std::size_t CommonWords(const std::set<std::string>& words, const std::string& text);

bool StartsWithAny(const std::string& lower, std::initializer_list<std::string_view> starts);
bool HoldsIgnoringCase(const std::string& text, const std::string& part);

// The most informative line of an error: the first with "error", else with another word for a failure, else the last.
std::string ErrorLine(const std::string& text);
// Whether a line says that something failed.
bool TellsFailure(const std::string& line);
// One line of code in backticks, in double ones if it has some itself.
std::string InBackticks(const std::string& text);
std::string FirstPlace(const MaterialItem& item);

// The details of one type, each with its item, in the order of the material.
template <typename Detail>
std::vector<std::pair<const MaterialItem*, const Detail*>> DetailsOf(const Material& material) {
  std::vector<std::pair<const MaterialItem*, const Detail*>> details;
  for (const MaterialItem& item : material.items) {
    if (const auto* detail = std::get_if<Detail>(&item.detail)) details.emplace_back(&item, detail);
  }
  return details;
}

}  // namespace upskill
