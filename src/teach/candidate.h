// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/skill_text.h"
#include "teach/rule.h"
#include "util/json.h"

namespace upskill {

inline constexpr double kSameRate = 1e-9;  // pass rates that differ by less are equal

// A version of the skill that was considered.
struct Candidate {
  int id = 0;
  int parent = -1;   // the candidate it was made from; -1: none
  std::string kind;  // "draft", "existing", "edit", "rewrite", "shorter"
  std::string why;   // the teacher's reason; untrusted text
  SkillText skill;
  std::vector<Rule> rules;    // of the body, as far as their evidence is known
  std::size_t tokens = 0;     // of the body, estimated
  bool measured = false;      // on all of train
  std::vector<double> train;  // by student: pass rate on train
  std::size_t lost = 0;       // of a shorter one: passing answers of its parent on train that fail with it
  // By case of train, where it passes more or fewer answers than its parent: "CASE (0 → 2)".
  std::vector<std::string> gained_on;
  std::vector<std::string> lost_on;
  std::string status;  // "chosen", "not measured", "screened out: …", "beaten on train", "loses 2 answers on train"
  std::string run;     // the run of its trial on train

  double mean() const;
};

// Indices of the measured candidates on the Pareto front of the students' rates and the number of tokens.
std::vector<std::size_t> ParetoFront(const std::vector<Candidate>& candidates);

// All candidates with their scores, for lineage.json.
Json LineageToJson(const std::vector<Candidate>& candidates, const std::vector<std::string>& students);

// A part of a body: a heading of level 1 or 2 outside code, and the text up to the next. Text before the first heading
// belongs to no part.
struct BodyPart {
  std::string title;
  std::size_t begin = 0;  // byte offsets in the body
  std::size_t end = 0;
};
std::vector<BodyPart> PartsOf(const std::string& body);

}  // namespace upskill
