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
const char* MaterialKindTitle(MaterialKind kind);  // of one item

// An item's data from the digest, against which rules are checked; empty if the text is
// enough.
using MaterialDetail = std::variant<std::monostate, FixDetail, FileDetail>;

// A digest item, a piece of a document or a tool: a source that rules can cite.
struct MaterialItem {
  std::string id;  // "d7"; rules cite it
  MaterialKind kind = MaterialKind::kDocument;
  std::string text;                          // as the teacher reads it
  std::vector<std::string> places;           // `file#event`, or the document's name
  MaterialDetail detail = std::monostate{};  // of fixes and files
  // How it is known: EvidenceWords; empty if an earlier version didn't store it. The initializer lets others omit it.
  std::string known = "";  // NOLINT(readability-redundant-string-init)
};

struct Example {
  std::string input;
  std::string output;
};

// Everything that a skill is made from, already redacted.
struct Material {
  std::string task;  // may be empty if there are traces
  std::vector<MaterialItem> items;
  std::vector<std::string> requests;  // of the user, in traces
  std::vector<Example> examples;
  SkillText existing;  // the skill to improve; empty name: none

  bool has_existing() const { return !existing.name.empty(); }
};

// How much of traces a teacher reads.
struct TraceBudget {
  std::size_t tokens = 0;  // of one request
  // All of what the traces tell, if it fits into one request, or if the teacher can read it in that many parts (1: not
  // in parts); 0: never.
  std::size_t whole_in_parts = 0;
};

// The largest part of material that doesn't fit into one request of `context_tokens`: a teacher notes more of what it
// reads in short parts.
std::size_t PartTokens(std::size_t context_tokens);

struct AddedTraces {
  std::string kept;        // the digest's KeptLine
  bool condensed = false;  // only the most important of what the traces tell
};

// Adds the requests of redacted traces, and all of what they tell or, where `budget` doesn't allow that, the most
// important items of their digest.
AddedTraces AddTraces(const std::vector<Trace>& traces, const TraceBudget& budget, Material& material);
void AddDocument(const std::string& name, const std::string& text, Material& material);
// `schema`: one tool of an MCP `tools/list` ({name, description, inputSchema}).
Status AddTool(const Json& schema, const std::string& source, Material& material);

// "input -> output"; without an arrow, all of it is the input.
Example ParseExample(const std::string& text);

// For prompts: the examples, and the items [first, last), each under its id with how it is known, after
// DigestReadingNote if one of them is from a trace.
std::string ExamplesText(const Material& material);
std::string ItemsText(const Material& material, std::size_t first, std::size_t last);

}  // namespace upskill
