// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/skill_text.h"
#include "teach/body_target.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A sentence of a skill with its proof.
struct Rule {
  std::string text;                // Markdown; may hold a fenced block
  std::vector<std::string> cites;  // ids of material items
};

struct Section {
  std::string title;  // may be empty
  std::vector<Rule> rules;
};

// A skill in parts, so that parts can be left out, proved and counted.
struct Draft {
  std::string name;
  std::string description;
  std::vector<Section> sections;
  std::vector<std::pair<std::string, std::string>> references;
  std::vector<std::pair<std::string, std::string>> scripts;
  std::size_t uncited = 0;                // rules that were left out because they cite nothing that there is
  std::vector<std::string> contradicted;  // rules that were left out because the material says otherwise: "RULE (ID)"
};

// The body is one `# title` a section with its rules below, a line each.
SkillText DraftToSkill(const Draft& draft);

// JSON schema of a draft as a teacher gives it. `tight_tokens` above 0: a few short rules only, about so many tokens in
// all, each with cites that there are, for a teacher that found no end or no id.
Json DraftSchema(const Material& material, std::size_t tight_tokens = 0);

// A string of at most `most` characters, in a schema; 0: of any length. Servers that make a grammar of a schema refuse
// long repetitions (llama.cpp: about 2,000), so long texts are bounded by the checks on the answer instead.
Json StringSchema(std::size_t most);

// A teacher's answer as a draft. Rules that cite no item of the material are left out and counted, when the material
// has items, and so are rules that a fix in it contradicts (ContradictedBy). Errors (kInput) say what makes it
// unusable: no valid skill (FindSkillProblems), a body above `target` twice over, a secret, or instructions that no
// skill may hold (FindHarm).
Result<Draft> DraftFromJson(const Json& json, const Material& material, const BodyTarget& target);

// The same rules for a finished text, for example after edits.
Status CheckSkillText(const SkillText& skill, const Material& material, const BodyTarget& target);

// Instructions that a teacher may not bring in by itself: a download run by a shell, a deleted home or root folder,
// orders to ignore instructions. Empty: none, or what the material itself holds.
std::string FindHarm(const std::string& text, const Material& material);

struct DraftOptions {
  std::string name;  // wanted; empty: the teacher's
  BodyTarget target;
  // Of material that one question may hold; more is read in pieces first.
  std::size_t context_tokens = kDefaultDigestTokens;
  int tries = 3;
};

// Asks the teacher for a skill from the material; an unusable answer is told back to it.
Result<Draft> WriteDraft(Teacher& teacher, const Material& material, const DraftOptions& options);

// Items of the material that fit into one question: all of them, or for a larger material the notes that the teacher
// made of each piece, which keep the ids.
Result<std::string> FitItems(Teacher& teacher, const Material& material, std::size_t context_tokens);

}  // namespace upskill
