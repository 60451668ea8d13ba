// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/verdict/verdict_words.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {

// How reports show a verdict beside its name (VerdictName).
struct VerdictWord {
  Verdict word = Verdict::kUndecided;
  const char* sign = "";   // in tables of skills and on pages
  const char* emoji = "";  // in Markdown
  Tint tint = Tint::kDim;
};
const VerdictWord& ShownAs(Verdict word);

// "▲ helps, ▼ hurts, = no effect, ? undecided, – no lift, · not run": what the cells of a table of skills mean.
std::string VerdictLegend();

// For a page's script: sign and style class of each verdict, by name.
Json VerdictWordsToJson();

}  // namespace upskill
