// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skill/formats/readers.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxChoices = 26;

// The user's message; nothing if the sample is a conversation, which a case can't be.
std::optional<std::string> InputOf(const Json& input) {
  if (!input.is_array()) return TextOf(input);
  if (input.size() != 1 || StringAt(input.front(), "role") != "user") return std::nullopt;
  return TextOfContent(Member(input.front(), "content"));
}

// As Inspect reads them: a list, or a text with commas or spaces between them.
std::vector<std::string> ChoicesOf(const Json& choices) {
  std::vector<std::string> list;
  if (choices.is_array()) {
    for (const Json& one : choices) list.push_back(TextOf(one));
    return list;
  }
  if (choices.is_null()) return list;
  const std::string text = TextOf(choices);
  const char separator = text.find(',') == std::string::npos ? ' ' : ',';
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    const std::string_view one = Trim(std::string_view(text).substr(from, end - from));
    if (!one.empty()) list.emplace_back(one);
    from = end + 1;
  }
  return list;
}

std::vector<std::string> TargetsOf(const Json& target) {
  std::vector<std::string> targets;
  for (const Json& one : target.is_array() ? target : Json::array({target})) {
    std::string text = one.is_null() ? "" : TextOf(one);
    if (!Trim(text).empty()) targets.push_back(std::move(text));
  }
  return targets;
}

std::string WithChoices(const std::string& question, const std::vector<std::string>& choices) {
  std::string text = question + "\n\n";
  for (std::size_t i = 0; i < choices.size(); ++i)
    text += fmt::format("{}) {}\n", static_cast<char>('A' + static_cast<char>(i)), choices[i]);
  return text + "\nEnd your answer with a line of this form, where X is the letter of the right choice: ANSWER: X";
}

// The last line is `ANSWER: B`, perhaps emphasized, or with the choice's text after the letter.
Json ChoiceCheck(const std::vector<std::string>& targets, std::size_t choices) {
  std::vector<char> letters;
  for (const std::string& target : targets) {
    for (const char c : target) {
      if (c == ',' || c == ' ') continue;
      const auto upper = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
      if (upper < 'A' || static_cast<std::size_t>(upper - 'A') >= choices)
        return SkippedCheck("the target", fmt::format("\"{}\" is not the letter of a choice", ExcerptLine(target, 60)));
      letters.push_back(upper);
    }
  }
  std::sort(letters.begin(), letters.end());
  std::string pattern = R"((?i)\bANSWER\s*:\W*)";
  for (std::size_t i = 0; i < letters.size(); ++i)
    pattern += fmt::format("{}{}", i == 0 ? "" : R"(\W*(?:and\W*)?)", letters[i]);
  return {{"type", "regex"}, {"pattern", pattern + R"((?:[).:][^\n]*|\W*)\s*\z)"}};
}

Json TargetCheck(const std::vector<std::string>& targets, std::size_t choices) {
  if (targets.empty())
    return SkippedCheck("a sample without a target", "its scorer decides without one, in Inspect only");
  if (choices > 0) return ChoiceCheck(targets, choices);
  if (targets.size() == 1) return ContainsCheck(targets.front());
  return {{"type", "any_of"}, {"values", targets}};
}

// Files that Inspect copies into the sandbox are shown with the question.
void AddFiles(const Json& files, const fs::path& folder, Json& made, Json& checks) {
  if (!files.is_object()) return;
  Json context = Json::object();
  for (const auto& [name, value] : files.items()) {
    const std::string text = TextOf(value);
    if (text.starts_with("data:") || text.find("://") < 10) {
      checks.push_back(SkippedCheck(fmt::format("the file \"{}\"", ExcerptLine(name, 60)),
                                    "only text in the file of samples, or beside it, is read"));
      continue;
    }
    const bool is_name = text.size() < 1000 && text.find('\n') == std::string::npos;
    const Result<std::string> beside =
        is_name ? ReadTextBelow(folder, text) : Result<std::string>(Error{ErrorKind::kNotFound, ""});
    context[name] = beside ? *beside : text;
  }
  if (!context.empty()) made["context"] = {{"files", std::move(context)}};
}

// An object, or one as JSON in a string.
Json MetadataOf(const Json& sample) {
  const Json& metadata = Member(sample, "metadata");
  if (!metadata.is_string()) return metadata;
  const Result<Json> parsed = ParseJson(metadata.get_ref<const std::string&>(), "metadata");
  return parsed ? *parsed : Json();
}

}  // namespace

bool HasInspectSamples(const std::vector<FileRecord>& records) {
  return !records.empty() && std::all_of(records.begin(), records.end(), [](const FileRecord& record) {
    return FindMember(record.json, "input") != nullptr && FindMember(record.json, "expected") == nullptr &&
           FindMember(record.json, "checks") == nullptr && FindMember(record.json, "verifiers") == nullptr;
  }) && std::any_of(records.begin(), records.end(), [](const FileRecord& record) {
    return FindMember(record.json, "target") != nullptr || FindMember(record.json, "choices") != nullptr;
  });
}

ConvertedSuite ConvertInspectSamples(const std::vector<FileRecord>& records, const fs::path& file) {
  ConvertedSuite suite;
  UniqueIds ids;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Json& sample = records[i].json;
    const Json* const id = FindMember(sample, "id");
    Json made = {{"id", ids.Take(id == nullptr ? fmt::format("sample-{}", i + 1) : TextOf(*id))}};
    Json checks = Json::array();
    std::vector<std::string> choices = ChoicesOf(Member(sample, "choices"));
    if (choices.size() > kMaxChoices) {
      checks.push_back(SkippedCheck("\"choices\"", fmt::format("there may be {}", kMaxChoices)));
      choices.clear();
    }
    const std::optional<std::string> input = InputOf(sample.at("input"));
    if (!input) checks.push_back(SkippedCheck("\"input\"", "a case is one message of text, not a conversation"));
    const std::string question = input.value_or("(a conversation)");
    made["input"] = choices.empty() ? question : WithChoices(question, choices);
    AddFiles(Member(sample, "files"), FolderOf(file), made, checks);
    checks.push_back(TargetCheck(TargetsOf(Member(sample, "target")), choices.size()));
    made["checks"] = std::move(checks);
    suite.cases.push_back({std::move(made), records[i].place, FactsIn(MetadataOf(sample))});
  }
  AddSharedTags(suite.cases);
  return suite;
}

}  // namespace upskill
