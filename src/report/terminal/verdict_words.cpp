// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/verdict_words.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace upskill {
namespace {

constexpr std::array<VerdictWord, kAllVerdicts.size()> kVerdictWords = {{{Verdict::kHelps, "▲", "✅", Tint::kGood},
                                                                         {Verdict::kHurts, "▼", "❌", Tint::kBad},
                                                                         {Verdict::kNoEffect, "=", "➖", Tint::kDim},
                                                                         {Verdict::kUndecided, "?", "❔", Tint::kDim}}};

}  // namespace

const VerdictWord& ShownAs(Verdict word) { return kVerdictWords.at(static_cast<std::size_t>(word)); }

std::string VerdictLegend() {
  std::string legend;
  for (const VerdictWord& word : kVerdictWords) legend += fmt::format("{} {}, ", word.sign, VerdictName(word.word));
  return legend + "– no lift, · not run";
}

Json VerdictWordsToJson() {
  Json words = Json::object();
  for (const VerdictWord& word : kVerdictWords)
    words[VerdictName(word.word)] = {{"sign", word.sign}, {"class", VerdictSlug(word.word)}};
  return words;
}

}  // namespace upskill
