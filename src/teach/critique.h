// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "teach/draft.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Something wrong with a draft, in the teacher's words.
struct CritiquePoint {
  std::string kind;  // "unsupported", "missing", "stale" or "untested"
  std::string text;
};

struct Critique {
  std::vector<CritiquePoint> points;
  std::optional<Draft> fixed;  // absent: nothing was wrong, or the corrected skill can't be used
  std::string problem;         // in the latter case, why
};

// Schema of a critique: the points, and the corrected skill in the form of DraftSchema, without a name and with
// sections that may be empty.
Json CritiqueSchema(const Material& material);

// Has the teacher hold a draft against the material and correct it. Error (kInput): its answer can't be used; for
// others see Teacher::Ask.
Result<Critique> CritiqueDraft(Teacher& teacher, const Material& material, const Draft& draft,
                               const DraftOptions& options);

// "4 points: 1 unsupported, 3 missing"; "nothing to correct".
std::string CritiqueLine(const Critique& critique);

// Asks the teacher for the description of a text from which parts were left out. Error (kInput): its answer can't be
// used; for others see Teacher::Ask.
Result<std::string> DescribeSkill(Teacher& teacher, const Material& material, const SkillText& skill,
                                  const DraftOptions& options);

}  // namespace upskill
