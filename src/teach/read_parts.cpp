// SPDX-License-Identifier: Apache-2.0
#include "teach/read_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "teach/draft.h"
#include "teach/weak_teacher.h"
#include "trace/digest/excerpt.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kHeadingTokens = 20;  // of an item's id, title and how it is known

std::size_t TokensInPrompt(const Material& material) {
  return EstimateTokens(ItemsText(material, 0, material.items.size()));
}

// Pieces of at most `most` bytes, cut at line ends where possible.
std::vector<std::string> PiecesOf(std::string_view text, std::size_t most) {
  std::vector<std::string> pieces;
  while (text.size() > most) {
    std::size_t end = text.rfind('\n', most);
    if (end == std::string_view::npos || end == 0) {
      end = most;
      while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // inside a character
    }
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.starts_with('\n')) text.remove_prefix(1);
  }
  if (pieces.empty() || !Trim(text).empty()) pieces.emplace_back(text);
  return pieces;
}

// The material in parts of about `part_tokens`, each with the task.
std::vector<Material> MaterialParts(const Material& material, std::size_t part_tokens) {
  const std::size_t most = std::max<std::size_t>(part_tokens, 2 * kHeadingTokens) - kHeadingTokens;
  Material empty;
  empty.task = material.task;
  empty.examples = material.examples;
  std::vector<Material> parts = {empty};
  std::size_t used = EstimateTokens(DigestReadingNote());
  for (const MaterialItem& item : material.items) {
    const std::vector<std::string> pieces = PiecesOf(item.text, most * kBytesPerToken);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      MaterialItem piece{item.id, item.kind, pieces[k], item.places, {}, item.known};
      if (pieces.size() > 1) piece.text = fmt::format("(piece {} of {})\n", k + 1, pieces.size()) + piece.text;
      const std::size_t tokens = EstimateTokens(piece.text) + kHeadingTokens;
      if (used + tokens > part_tokens && !parts.back().items.empty()) {
        parts.push_back(empty);
        used = EstimateTokens(DigestReadingNote());
      }
      used += tokens;
      parts.back().items.push_back(std::move(piece));
    }
  }
  return parts;
}

Json NotesSchema() {
  const Json note = {{"type", "object"},
                     {"properties", {{"id", StringSchema(20)}, {"note", StringSchema(0)}}},
                     {"required", {"id", "note"}},
                     {"additionalProperties", false}};
  return {{"type", "object"},
          {"properties", {{"notes", {{"type", "array"}, {"maxItems", 400}, {"items", note}}}}},
          {"required", {"notes"}},
          {"additionalProperties", false}};
}

// Has a teacher read material in parts, and gathers its notes by item.
class PartReader {
 public:
  PartReader(Teacher& teacher, const Material& material, std::size_t context_tokens, const Prompts& prompts)
      : teacher_(teacher), material_(material), context_tokens_(context_tokens), prompts_(prompts) {}

  Result<Material> Read() {
    const std::vector<Material> parts = MaterialParts(material_, PartTokens(context_tokens_));
    constexpr std::size_t kLeast = 200;
    constexpr std::size_t kMost = 6000;
    allowed_tokens_ = std::clamp(context_tokens_ / 4 * 3 / parts.size(), kLeast, kMost);
    for (std::size_t i = 0; i < parts.size(); ++i)
      RETURN_IF_ERROR(ReadPart(parts[i], fmt::format("part {} of {}", i + 1, parts.size())));
    Material notes = material_;
    std::erase_if(notes.items, [&](const MaterialItem& item) { return !notes_.contains(item.id); });
    for (MaterialItem& item : notes.items) {
      item.text = notes_.at(item.id);
      item.detail = std::monostate{};
    }
    return notes;
  }

 private:
  Status ReadPart(const Material& part, const std::string& name) {
    constexpr std::size_t kMostUnusable = 4;
    PromptValues values = ValuesOf(part, ItemsText(part, 0, part.items.size()));
    values["part"] = name;
    values["tokens"] = std::to_string(allowed_tokens_);
    TeacherCall call{"notes", prompts_.Render("draft-system"), prompts_.Render("notes", values), NotesSchema()};
    call.max_tokens = static_cast<int>(allowed_tokens_ * 3 / 2 + 500);
    if (!teacher_.HasAnswered(call))
      teacher_.Tell(call.stage, fmt::format("{} reads {}, {}, and takes notes", teacher_.info().name, name,
                                            Counted(EstimateTokens(values.at("material")), "token")));
    const Result<Json> answer = teacher_.Ask(call);
    if (answer) return TakeNotes(*answer, PromptCopies(prompts_, {"draft-system", "notes"}, part));
    if (answer.error().kind != ErrorKind::kInput) return answer.error();
    if (++unusable_ > kMostUnusable) return answer.error().With("notes on " + name);
    if (part.items.size() == 1) {
      AddNote(part.items.front().id, Excerpt(part.items.front().text, allowed_tokens_ * kBytesPerToken));
      return {};
    }
    const auto middle = static_cast<std::ptrdiff_t>(part.items.size() / 2);
    Material half = part;
    half.items.assign(part.items.begin(), part.items.begin() + middle);
    RETURN_IF_ERROR(ReadPart(half, name + ", first half"));
    half.items.assign(part.items.begin() + middle, part.items.end());
    return ReadPart(half, name + ", second half");
  }

  Status TakeNotes(const Json& answer, const PromptCopies& copies) {
    for (const Json& entry : answer.at("notes")) {
      const auto note = JsonGet<std::string>(entry, "note", "");
      ++taken_;
      if (copies.Has(note)) {
        ++copied_;
      } else {
        AddNote(JsonGet<std::string>(entry, "id", ""), note);
      }
    }
    if (!IsTooWeak(copied_, taken_)) return {};
    return TooWeak(teacher_, fmt::format("{} of its {} notes on the material repeat the instructions for taking notes",
                                         copied_, taken_));
  }

  // Several notes on an item are one, without repetitions.
  void AddNote(const std::string& id, const std::string& note) {
    const std::string text = HeadAndTail(Trim(note), allowed_tokens_ * kBytesPerToken);
    if (text.empty()) return;
    std::string& known = notes_[id];
    if (known.find(text) == std::string::npos) known += (known.empty() ? "" : "\n") + text;
  }

  Teacher& teacher_;
  const Material& material_;
  std::size_t context_tokens_;
  const Prompts& prompts_;
  std::size_t allowed_tokens_ = 0;  // of the notes on one part
  std::size_t unusable_ = 0;        // answers
  std::size_t taken_ = 0;           // notes
  std::size_t copied_ = 0;          // notes that repeat the prompt
  std::map<std::string, std::string> notes_;
};

// The notes, each cut to an equal share; the last ones are dropped if even that is too much.
void CutNotes(Material& notes, std::size_t context_tokens) {
  constexpr std::size_t kLeast = 40;
  const std::size_t room = context_tokens / 8 * 7;
  const std::size_t share = std::max(room / std::max<std::size_t>(notes.items.size(), 1), kLeast);
  notes.items.resize(std::min(notes.items.size(), room / share));
  for (MaterialItem& item : notes.items)
    item.text = Excerpt(item.text, (share - std::min(share, kHeadingTokens)) * kBytesPerToken);
}

}  // namespace

std::size_t CountParts(const Material& material, std::size_t context_tokens) {
  if (TokensInPrompt(material) <= context_tokens) return 1;
  return MaterialParts(material, PartTokens(context_tokens)).size();
}

std::size_t CountPartsOfAll(const std::vector<Trace>& traces, std::size_t context_tokens) {
  constexpr std::size_t kAnyNumber = 1'000'000;
  Material all;
  AddTraces(traces, {context_tokens, kAnyNumber}, all);
  return CountParts(all, context_tokens);
}

Result<Material> FitMaterial(Teacher& teacher, const Material& material, std::size_t context_tokens,
                             const Prompts& prompts) {
  if (TokensInPrompt(material) <= context_tokens) return material;
  constexpr int kMostPasses = 3;
  Material notes = material;
  for (int pass = 0; pass < kMostPasses && TokensInPrompt(notes) > context_tokens; ++pass) {
    const Material before = std::move(notes);
    ASSIGN_OR_RETURN(notes, PartReader(teacher, before, context_tokens, prompts).Read());
  }
  if (TokensInPrompt(notes) > context_tokens) CutNotes(notes, context_tokens);
  return notes;
}

Result<std::string> FitItems(Teacher& teacher, const Material& material, std::size_t context_tokens,
                             const Prompts& prompts) {
  ASSIGN_OR_RETURN(const Material fitting, FitMaterial(teacher, material, context_tokens, prompts));
  return ItemsText(fitting, 0, fitting.items.size());
}

}  // namespace upskill
