// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/skill_text.h"
#include "util/json.h"

namespace upskill {

inline constexpr double kSameRate = 1e-9;  // pass rates that differ by less are equal

// A version of the skill on the way to the chosen one.
struct Candidate {
  int id = 0;
  int parent = -1;   // the candidate that it changes; -1: none
  std::string kind;  // "draft", "existing", "edit", "rewrite", "shorter"
  std::string why;   // the teacher's reason; data, may say anything
  SkillText skill;
  std::size_t tokens = 0;     // of the body, estimated
  bool measured = false;      // on all of train
  std::vector<double> train;  // by student: pass rate on train
  std::size_t lost = 0;       // of a shorter one: answers on train that its parent had right and it hasn't
  std::string status;  // "chosen", "not measured", "screened out: …", "beaten on train", "loses 2 answers on train"
  std::string run;     // of its trial on train

  double mean() const;
};

// Indices of the measured candidates that no other beats in one of (a student's rate, tokens) without losing in
// another.
std::vector<std::size_t> ParetoFront(const std::vector<Candidate>& candidates);

// All candidates with their scores, for lineage.json.
Json LineageToJson(const std::vector<Candidate>& candidates, const std::vector<std::string>& students);

// Headings of level 1 or 2 that stand outside code cut a body into parts; text before the first is part of none.
struct BodyPart {
  std::string title;
  std::size_t begin = 0;  // byte offsets in the body
  std::size_t end = 0;
};
std::vector<BodyPart> PartsOf(const std::string& body);

}  // namespace upskill
