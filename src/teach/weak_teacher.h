// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>

#include "prompts/prompts.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "util/result.h"

namespace upskill {

// Recognizes answers that repeat the prompts they answer, as small models do, instead of speaking of the material.
class PromptCopies {
 public:
  // `prompts`: the names of those that were sent with the material.
  PromptCopies(const Prompts& texts, std::initializer_list<std::string_view> prompts, const Material& material);

  // Whether at least half of the words are in runs of six or more that the prompts have and the material doesn't.
  bool Has(std::string_view text) const;

 private:
  std::unordered_set<std::string> runs_;
};

// Whether a text has no word besides those that stand for a text to be written ("...", "rule 1", "your text here").
bool SaysNothing(std::string_view text);

// Whether the teacher can't be trusted: at least three of its statements, and more than half of them, are unusable.
bool IsTooWeak(std::size_t unusable, std::size_t all);

// The error (kNotFound) with which a generation ends whose teacher is too weak for the material. `reason` is a sentence
// about its answers.
Error TooWeak(const Teacher& teacher, std::string_view reason);

}  // namespace upskill
