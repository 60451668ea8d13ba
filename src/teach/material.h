// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "skill/skill_text.h"
#include "trace/trace.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// One piece of what the teacher knows, by which a rule is proved: a digest item, a document, a tool.
struct MaterialItem {
  std::string id;    // "d7"; what a rule cites
  std::string kind;  // "error and fix", "document", …
  std::string text;
  std::vector<std::string> places;  // `file:event`, or the document's name
  // Of an error → fix pair: what failed, what it said, what was changed, what worked then. Of a command: `works`, and
  // what it is for. Of a file: `works` is its last version, as far as it is known.
  std::string failed;
  std::string error;
  std::string change;
  std::string works;
  std::string purpose;
};

// A request of the person and what came of it.
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

// Materials are kept in the folder of their generation, so that it goes on with what it began with.
Json MaterialToJson(const Material& material);
Result<Material> MaterialFromJson(const Json& json, const std::string& source);

}  // namespace upskill
