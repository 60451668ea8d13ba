// SPDX-License-Identifier: Apache-2.0
#include "teach/material.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "trace/digest/digest.h"
#include "trace/digest/digest_text.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxDocumentBytes = 400'000;

// Pieces of about `most` bytes at most, cut at line ends.
std::vector<std::string> Pieces(const std::string& text, std::size_t most) {
  std::vector<std::string> pieces;
  std::string piece;
  for (const std::string_view line : SplitLines(text)) {
    if (!piece.empty() && piece.size() + line.size() > most) pieces.push_back(std::exchange(piece, {}));
    piece += std::string(line) + "\n";
  }
  if (!Trim(piece).empty()) pieces.push_back(std::move(piece));
  return pieces;
}

std::string NextId(const Material& material) { return fmt::format("d{}", material.items.size() + 1); }

void AddRequests(const Trace& trace, Material& material) {
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kUser && event.agent.empty() && !event.abandoned)
      material.requests.push_back(event.text);
  }
}

MaterialKind KindFor(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return MaterialKind::kEpisode;
    case DigestKind::kCorrection:
      return MaterialKind::kCorrection;
    case DigestKind::kFix:
      return MaterialKind::kFix;
    case DigestKind::kCommand:
      return MaterialKind::kCommand;
    case DigestKind::kFile:
      return MaterialKind::kFile;
    case DigestKind::kFact:
      return MaterialKind::kFact;
    case DigestKind::kFinding:
      return MaterialKind::kFinding;
    case DigestKind::kDeadEnd:
      break;
  }
  return MaterialKind::kDeadEnd;
}

// Of its items in a prompt (ItemsText), ids included.
std::size_t TokensOf(const Digest& digest) {
  constexpr std::size_t kIdBytes = 16;
  std::size_t bytes = DigestReadingNote().size();
  for (const DigestItem& item : digest.items) {
    bytes += item.text.size() + std::string_view(DigestItemTitle(item.kind)).size() +
             std::string_view(EvidenceWords(item.evidence)).size() + kIdBytes;
  }
  return bytes / kBytesPerToken + 1;
}

// Places in references to other items become these items' ids, under which a teacher sees them.
void ReferToIds(Material& material, std::size_t first) {
  std::map<std::string_view, std::string_view> ids;
  for (std::size_t i = first; i < material.items.size(); ++i) {
    const MaterialItem& item = material.items[i];
    for (const std::string& place : item.places) ids.try_emplace(place, item.id);
  }
  for (std::size_t i = first; i < material.items.size(); ++i) {
    std::string& text = material.items[i].text;
    std::size_t at = text.find(kSameOutputAt);
    for (; at != std::string::npos; at = text.find(kSameOutputAt, at)) {
      at += kSameOutputAt.size();
      const std::size_t end = text.find(']', at);
      if (end == std::string::npos) break;
      const auto id = ids.find(std::string_view(text).substr(at, end - at));
      if (id != ids.end()) text.replace(at, end - at, id->second);
    }
  }
}

MaterialDetail DetailFrom(const DigestDetail& detail) {
  if (const auto* fix = std::get_if<FixDetail>(&detail)) return *fix;
  if (const auto* file = std::get_if<FileDetail>(&detail)) return *file;
  return {};
}

}  // namespace

const char* MaterialKindTitle(MaterialKind kind) {
  switch (kind) {
    case MaterialKind::kEpisode:
      return DigestItemTitle(DigestKind::kEpisode);
    case MaterialKind::kCorrection:
      return DigestItemTitle(DigestKind::kCorrection);
    case MaterialKind::kFix:
      return DigestItemTitle(DigestKind::kFix);
    case MaterialKind::kCommand:
      return DigestItemTitle(DigestKind::kCommand);
    case MaterialKind::kFile:
      return DigestItemTitle(DigestKind::kFile);
    case MaterialKind::kFact:
      return DigestItemTitle(DigestKind::kFact);
    case MaterialKind::kFinding:
      return DigestItemTitle(DigestKind::kFinding);
    case MaterialKind::kDeadEnd:
      return DigestItemTitle(DigestKind::kDeadEnd);
    case MaterialKind::kDocument:
      return "Document";
    case MaterialKind::kTool:
      return "Tool";
  }
  return "";
}

std::size_t PartTokens(std::size_t context_tokens) {
  constexpr std::size_t kMost = 40'000;
  return std::min(context_tokens, kMost);
}

AddedTraces AddTraces(const std::vector<Trace>& traces, const TraceBudget& budget, Material& material) {
  DigestOptions options;
  options.budget_tokens = budget.tokens;
  options.whole = budget.whole_in_parts > 0;
  if (budget.whole_in_parts > 1) options.whole_tokens = budget.whole_in_parts * PartTokens(budget.tokens);
  Digest digest = MakeDigest(traces, options);
  const auto most = [&] { return digest.whole ? std::max(budget.tokens, options.whole_tokens) : budget.tokens; };
  // In a prompt, items have headings and ids in place of the digest's list marks.
  for (std::size_t tokens = TokensOf(digest); tokens > most() && options.budget_tokens > 0; tokens = TokensOf(digest)) {
    options.whole_tokens = 0;
    options.budget_tokens -= std::min(options.budget_tokens, tokens - most());
    digest = MakeDigest(traces, options);
  }
  const std::size_t first = material.items.size();
  for (const DigestItem& item : digest.items) {
    MaterialItem made{NextId(material),        KindFor(item.kind),          item.text, {},
                      DetailFrom(item.detail), EvidenceWords(item.evidence)};
    for (const EventPlace& place : item.places) made.places.push_back(ToText(place));
    material.items.push_back(std::move(made));
  }
  ReferToIds(material, first);
  for (const Trace& trace : traces) AddRequests(trace, material);
  return {KeptLine(digest), !digest.whole};
}

void AddDocument(const std::string& name, const std::string& text, Material& material) {
  constexpr std::size_t kPieceBytes = 6000;
  const std::string read_in_docs = EvidenceWords(HowKnown::kReadInDocs);
  for (std::string& piece : Pieces(text.substr(0, kMaxDocumentBytes), kPieceBytes)) {
    material.items.push_back({NextId(material), MaterialKind::kDocument, std::move(piece), {name}, {}, read_in_docs});
  }
}

Status AddTool(const Json& schema, const std::string& source, Material& material) {
  const std::string name = JsonGet<std::string>(schema, "name", "");
  if (name.empty()) return InputError(source + ": a tool has no name");
  Json input = Json::object();
  for (const char* key : {"inputSchema", "input_schema", "parameters"}) {
    if (schema.contains(key)) input = schema.at(key);
  }
  material.items.push_back(
      {NextId(material),
       MaterialKind::kTool,
       fmt::format("{}: {}\narguments: {}", name, JsonGet<std::string>(schema, "description", ""), DumpJson(input)),
       {source},
       {},
       EvidenceWords(HowKnown::kReadInDocs)});
  return {};
}

Example ParseExample(const std::string& text) {
  for (const std::string_view arrow : {" -> ", " => ", " → "}) {
    const std::size_t at = text.find(arrow);
    if (at == std::string::npos) continue;
    return {std::string(Trim(std::string_view(text).substr(0, at))),
            std::string(Trim(std::string_view(text).substr(at + arrow.size())))};
  }
  return {std::string(Trim(text)), ""};
}

std::string ExamplesText(const Material& material) {
  std::string text;
  for (const Example& example : material.examples) {
    text += fmt::format("- input: {}\n", example.input);
    if (!example.output.empty()) text += fmt::format("  output: {}\n", example.output);
  }
  return text;
}

std::string ItemsText(const Material& material, std::size_t first, std::size_t last) {
  std::string text;
  bool noted = false;
  for (std::size_t i = first; i < std::min(last, material.items.size()); ++i) {
    const MaterialItem& item = material.items[i];
    const bool traced = item.kind != MaterialKind::kDocument && item.kind != MaterialKind::kTool;
    if (traced && !item.known.empty() && !std::exchange(noted, true))
      text.insert(0, std::string(DigestReadingNote()) + "\n\n");
    text += fmt::format("[{}] {}{}{}\n{}\n\n", item.id, MaterialKindTitle(item.kind), item.known.empty() ? "" : " · ",
                        item.known, Trim(item.text));
  }
  return text;
}

}  // namespace upskill
