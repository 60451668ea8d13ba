// SPDX-License-Identifier: Apache-2.0
#include "prompts/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "util/files.h"
#include "util/hash.h"
#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxPromptBytes = 256U << 10U;

const PromptKind* FindKind(std::string_view name) {
  const auto& kinds = PromptKinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const PromptKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

// What is said to those who are measured, and to those who judge them.
std::vector<PromptKind> KindsForAnswers() {
  return {
      {"student", "The system prompt of the students, which the skill follows", {}},
      {"workspace", "The system prompt of students that work in a workspace with tools", {}},
      {"workspace-skill",
       "Lists the skills that a student in a workspace loads on demand; follows `workspace`",
       {{"skills", true}}},
      {"workspace-listed-skill",
       "Names one of them; in `workspace-skill`",
       {{"name", true}, {"description", true}, {"location", true}}},
      {"workspace-skill-tools", "Describes the tool that loads one of them, after `workspace-tools`", {}},
      {"workspace-json",
       "Tells a student in a workspace how to call tools if its model has no format for that",
       {{"tools", true}}},
      {"workspace-tools", "Describes the tools of a student in a workspace, and their parameters", {}},
      {"judge-system", "Tells a judge what its verdict must rest on", {}},
      {"judge",
       "Asks a judge whether an answer meets a rubric; after `judge-system`",
       {{"request", true}, {"reference"}, {"answer", true}, {"rubric", true}, {"mark"}}},
      {"judge-pair",
       "Asks a judge which of two answers meets a rubric better; after `judge-system`",
       {{"request", true}, {"first", true}, {"second", true}, {"rubric", true}, {"mark"}}},
  };
}

std::vector<PromptKind> KindsForDrafts() {
  return {
      {"notes",
       "Asks the teacher for notes on a part of material that doesn't fit into one request",
       {{"task"}, {"examples"}, {"part"}, {"tokens"}, {"material", true}}},
      {"draft-system", "Tells the teacher what a skill is and what belongs in it; also before `notes`", {}},
      {"draft",
       "Asks the teacher for the skill",
       {{"task", true},
        {"examples"},
        {"existing", true},
        {"students"},
        {"material", true},
        {"tokens", true},
        {"asks_name"},
        {"rejected"},
        {"problem", true}}},
      {"critique",
       "Asks the teacher what is wrong with its draft, and for the corrected skill; after `draft-system`",
       {{"task"},
        {"examples"},
        {"material", true},
        {"draft", true},
        {"rejected"},
        {"lost"},
        {"length"},
        {"tokens", true},
        {"most"}}},
      {"activation-system", "Tells the teacher what activation is; before `queries` and `describe-better`", {}},
      {"queries",
       "Asks the teacher for requests that should make an agent load a skill, and for near misses",
       {{"name", true}, {"description", true}, {"skill", true}, {"others"}, {"count", true}}},
      {"describe-better",
       "Asks the teacher for a description by which an agent finds a skill when it should",
       {{"name", true},
        {"description", true},
        {"skill", true},
        {"others"},
        {"missed"},
        {"misled"},
        {"tried"},
        {"characters", true}}},
  };
}

std::vector<PromptKind> KindsForTests() {
  return {
      {"cases-system", "Tells the teacher what a good test is", {}},
      {"cases",
       "Asks the teacher for tests",
       {{"task", true},
        {"examples"},
        {"material", true},
        {"count", true},
        {"work", true},
        {"transfers", true},
        {"executed"},
        {"gaps"},
        {"languages"},
        {"cuda"},
        {"covered", true},
        {"rejected", true},
        {"broken"},
        {"aside"}}},
      {"probe",
       "Shows the students a test's reference answer, to see whether a skill can help them",
       {{"request", true}, {"reference", true}}},
      {"refine-system", "Tells the teacher how to improve a skill", {}},
      {"refine",
       "Asks the teacher for changes that fix the failing answers",
       {{"task"},
        {"examples"},
        {"skill", true},
        {"failures", true},
        {"tried", true},
        {"left_out"},
        {"references"},
        {"students"},
        {"length"},
        {"material", true},
        {"count", true},
        {"tokens", true}}},
      {"describe",
       "Asks the teacher for the description of a skill from which parts were left out; after `draft-system`",
       {{"task"}, {"examples"}, {"material"}, {"skill", true}, {"description", true}}},
  };
}

}  // namespace

const std::vector<PromptKind>& PromptKinds() {
  static const std::vector<PromptKind> kinds = [] {
    std::vector<PromptKind> all = KindsForDrafts();
    for (const auto& more : {KindsForTests(), KindsForAnswers()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kinds;
}

const Prompts& BuiltInPrompts() {
  static const Prompts prompts = [] {
    Result<Prompts> parsed = Prompts::FromTexts(BuiltInPromptTexts(), "assets/prompts");
    CHECK(parsed.ok());
    return *std::move(parsed);
  }();
  return prompts;
}

Status Prompts::Set(const PromptKind& kind, const std::string& text, const std::string& source) {
  if (text.size() > kMaxPromptBytes)
    return InputError(fmt::format("{}: larger than {}", source, BytesText(kMaxPromptBytes)));
  if (FindInvalidUtf8(text)) return InputError(source + ": not valid UTF-8");
  if (Trim(text).empty()) return InputError(source + ": it is empty");
  std::set<std::string> known;
  for (const PromptPlaceholder& placeholder : kind.placeholders) known.emplace(placeholder.name);
  ASSIGN_OR_RETURN(PromptTemplate form, PromptTemplate::Parse(text, known, source));
  const std::set<std::string> used = form.Placeholders();
  for (const PromptPlaceholder& placeholder : kind.placeholders) {
    if (!placeholder.required || used.contains(std::string(placeholder.name))) continue;
    return InputError(fmt::format("{}:{}: {{{{{}}}}} is missing; `upskill prompts {}` prints the built-in text", source,
                                  PositionAt(text, text.size()).line, placeholder.name, kind.name));
  }
  prompts_[std::string(kind.name)] = {text, std::move(form)};
  return {};
}

Result<Prompts> Prompts::FromTexts(const std::map<std::string, std::string>& texts, const std::string& source) {
  Prompts prompts;
  for (const auto& [name, text] : texts) {
    const PromptKind* kind = FindKind(name);
    if (kind == nullptr) return InputError(fmt::format("{}: no prompt is named '{}'", source, name));
    RETURN_IF_ERROR(prompts.Set(*kind, text, fmt::format("{}/{}.md", source, name)));
  }
  return prompts;
}

Result<Prompts> Prompts::FromFolder(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code))
    return Error{ErrorKind::kNotFound, fmt::format("--prompts: {} is not a folder", folder.string())};
  Prompts prompts = BuiltInPrompts();
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".md" || file.filename() == "README.md") continue;
    const PromptKind* kind = FindKind(file.stem().string());
    if (kind == nullptr) {
      return InputError(fmt::format("{}: no prompt has this name; `upskill prompts` lists them", file.string()));
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxPromptBytes));
    RETURN_IF_ERROR(prompts.Set(*kind, text, file.string()));
    ++found;
  }
  if (found == 0) return InputError(fmt::format("--prompts: {} has no NAME.md of a prompt", folder.string()));
  return prompts;
}

Result<Prompts> Prompts::FromJson(const Json& json, const std::string& source) {
  if (!json.is_object()) return InputError(source + ": expected an object of texts");
  Prompts prompts = BuiltInPrompts();
  for (const auto& [name, text] : json.items()) {
    const PromptKind* kind = FindKind(name);
    if (kind == nullptr || !text.is_string())
      return InputError(fmt::format("{}: '{}' is not the text of a prompt of this version", source, name));
    RETURN_IF_ERROR(prompts.Set(*kind, text.get<std::string>(), fmt::format("{}.{}", source, name)));
  }
  return prompts;
}

Json Prompts::ToJson() const {
  Json json = Json::object();
  for (const auto& [name, prompt] : prompts_) json[name] = prompt.text;
  return json;
}

std::string Prompts::Render(std::string_view name, const PromptValues& values) const {
  const auto found = prompts_.find(name);
  CHECK(found != prompts_.end());
  return found->second.form.Render(values);
}

const std::string& Prompts::Text(std::string_view name) const {
  const auto found = prompts_.find(name);
  CHECK(found != prompts_.end());
  return found->second.text;
}

std::string Prompts::Hash() const { return Sha256Hex(CanonicalJson(ToJson())); }

}  // namespace upskill
