// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/skill_text.h"
#include "teach/body_target.h"
#include "teach/material.h"
#include "teach/rule.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct Section {
  std::string title;  // may be empty
  std::vector<Rule> rules;
};

// A skill in parts, each of which can be checked, counted and left out.
struct Draft {
  std::string name;
  std::string description;
  std::vector<Section> sections;
  std::vector<std::pair<std::string, std::string>> references;
  std::vector<std::pair<std::string, std::string>> scripts;
  std::size_t uncited = 0;                // rules left out because they cite no item of the material
  std::vector<std::string> contradicted;  // rules left out because the material contradicts them: "RULE (ID)"
};

// The body has a `# title` for each section, followed by its rules: one per line, and a blank line around those of
// several lines.
SkillText DraftToSkill(const Draft& draft);

// The values that most prompts have: `task`, `examples` and `material`.
PromptValues ValuesOf(const Material& material, const std::string& items);

// JSON schema of a teacher's draft. `tight_tokens` above 0: only a few short rules, about that many tokens in all,
// which cite existing ids. For a teacher whose first answer was cut off or cited nothing. `asks_name`:
// false if the name is given.
Json DraftSchema(const Material& material, std::size_t tight_tokens = 0, bool asks_name = true);

// Schema of a string of at most `most` characters; 0: of any length. Servers that compile a schema to a grammar reject
// long repetitions (llama.cpp: about 2,000), so the length of long texts is checked in the answer instead.
Json StringSchema(std::size_t most);

// A teacher's answer as a draft. If the material has items, rules that cite none of them are left out and counted; so
// are rules that contradict a fix in it (ContradictedBy). Errors (kInput) say why the answer is unusable: not a valid
// skill (FindSkillProblems), a body of more than twice `target`, a secret, or dangerous instructions (FindHarm).
Result<Draft> DraftFromJson(const Json& json, const Material& material, const BodyTarget& target);

// The same checks for a finished text, for example after edits.
Status CheckSkillText(const SkillText& skill, const Material& material, const BodyTarget& target);

// The first dangerous instruction in `text` that isn't in the material: piping a download into a shell, deleting the
// home or root folder, ignoring earlier instructions. Empty: none.
std::string FindHarm(const std::string& text, const Material& material);

struct DraftOptions {
  std::string name;      // empty: the teacher chooses
  std::string students;  // who uses it: names and the limit of an answer; may be empty
  const Prompts* prompts = &BuiltInPrompts();
  BodyTarget target;
  // Of material in one request; more is condensed to notes first.
  std::size_t context_tokens = kDefaultDigestTokens;
  int tries = 3;
};

// Asks the teacher for a skill from the material. After an unusable answer it is asked again and told the problem.
Result<Draft> WriteDraft(Teacher& teacher, const Material& material, const DraftOptions& options);

}  // namespace upskill
