// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "skill/skill_text.h"
#include "trace/digest/digest_item.h"
#include "trace/trace.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

enum class MaterialKind {
  kEpisode,
  kCorrection,
  kFix,
  kCommand,
  kFile,
  kFact,
  kFinding,
  kDeadEnd,
  kDocument,
  kTool,
};
const char* MaterialKindTitle(MaterialKind kind);

// What rules are held against and cases are made from, as the digest has it; nothing where the text says all.
using MaterialDetail = std::variant<std::monostate, FixDetail, CommandDetail, FileDetail>;

// One piece of what the teacher knows, by which a rule is proved: a digest item, a document, a tool.
struct MaterialItem {
  std::string id;  // "d7"; what a rule cites
  MaterialKind kind = MaterialKind::kDocument;
  std::string text;                 // as the teacher reads it
  std::vector<std::string> places;  // `file#event`, or the document's name
  MaterialDetail detail = {};       // of fixes, commands and files
};

// A request of the user and what came of it.
struct UserRequest {
  std::string text;
  std::string answer;  // what the agent said on it, up to the next request
  std::string place;
};

struct Example {
  std::string input;
  std::string output;
};

// Everything that a skill is made from. Redacted before it gets here.
struct Material {
  std::string task;  // may be empty when there are traces
  std::vector<MaterialItem> items;
  std::vector<UserRequest> requests;
  std::vector<Example> examples;
  SkillText existing;  // the skill to improve; empty name: none

  bool has_existing() const { return !existing.name.empty(); }
};

// Digest items and requests of redacted traces, the most useful ones that fit into `budget_tokens`.
// Returns the digest's KeptLine.
std::string AddTraces(const std::vector<Trace>& traces, std::size_t budget_tokens, Material& material);
void AddDocument(const std::string& name, const std::string& text, Material& material);
// `schema`: one tool of an MCP `tools/list` ({name, description, inputSchema}).
Status AddTool(const Json& schema, const std::string& source, Material& material);

// "input -> output"; an example without an arrow is an input alone.
Example ParseExample(const std::string& text);

// For prompts: the task, the examples and the items [first, last), each under its id.
std::string TaskText(const Material& material);
std::string ItemsText(const Material& material, std::size_t first, std::size_t last);

}  // namespace upskill
