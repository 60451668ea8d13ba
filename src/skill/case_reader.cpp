// SPDX-License-Identifier: Apache-2.0
#include "skill/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "skill/check_reader.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

Result<std::string> ReadId(const Json& raw, std::size_t number) {
  for (const char* key : {"id", "name"}) {
    const Json* value = FindMember(raw, key);
    if (value == nullptr) continue;
    if (value->is_number_integer()) return value->dump();
    if (!value->is_string()) return WrongType(key, "a string or a whole number", *value);
    auto id = value->get<std::string>();
    if (Trim(id).empty()) return InputError(fmt::format("\"{}\" is empty", key));
    return id;
  }
  return fmt::format("case-{}", number);
}

Result<std::string> ReadInput(const Json& raw) {
  for (const char* key : {"input", "prompt"}) {
    if (FindMember(raw, key) == nullptr) continue;
    ASSIGN_OR_RETURN(std::string input, ReadText(raw, key));
    if (Trim(input).empty()) return InputError(fmt::format("\"{}\" is empty", key));
    return input;
  }
  return InputError("no \"input\"; add the text to send to the model");
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// The member `files` of an object. `key`: what errors call it.
Result<NamedTexts> ReadFiles(const Json& object, const std::string& key) {
  NamedTexts files;
  const Json* listed = FindMember(object, "files");
  if (listed == nullptr) return files;
  if (!listed->is_object()) return WrongType(key, "an object {name: text}", *listed);
  std::map<std::string, std::string> plain;
  for (const auto& [name, text] : listed->items()) {
    RETURN_IF_ERROR(ContainedPath("", name).With("\"" + key + "\""));
    if (!text.is_string()) return WrongType(fmt::format("{}[{}]", key, name), "a string", text);
    files.emplace_back(name, text.get<std::string>());
    plain[PlainFileName(name)];
  }
  if (const std::string conflict = ConflictOfFiles(plain); !conflict.empty())
    return InputError(fmt::format("\"{}\": {}", key, conflict));
  return files;
}

Result<NamedTexts> ReadContextFiles(const Json& raw) {
  const Json* context = FindMember(raw, "context");
  if (context == nullptr) return NamedTexts();
  if (!context->is_object()) return WrongType("context", "null or an object {\"files\": {name: text}}", *context);
  return ReadFiles(*context, "context.files");
}

Result<std::string> ReadOutputFile(const Json& raw) {
  ASSIGN_OR_RETURN(std::string name, ReadText(raw, "output_file"));
  if (!name.empty()) RETURN_IF_ERROR(ContainedPath("", name).With("\"output_file\""));
  return name;
}

Result<std::optional<Fill>> ReadFill(const Json& raw) {
  const Json* fill = FindMember(raw, "fill");
  if (fill == nullptr) return std::optional<Fill>();
  if (!fill->is_object()) return WrongType("fill", "null or an object {\"file\": \"…\", \"gap\": \"…\"}", *fill);
  Fill read;
  ASSIGN_OR_RETURN(read.files, ReadFiles(*fill, "fill.files"));
  for (const auto& [key, value] : fill->items()) {
    if (key == "files") continue;
    if (key != "file" && key != "gap" && key != "pattern") {
      return InputError(fmt::format("\"fill\" has the unknown key \"{}\"; its keys are file, gap, pattern and files",
                                    ExcerptLine(key, 60)));
    }
    if (!value.is_string()) return WrongType("fill." + key, "a string", value);
    auto text = value.get<std::string>();
    if (Trim(text).empty()) return InputError(fmt::format("\"fill.{}\" is empty", key));
    (key == "file" ? read.file : key == "gap" ? read.gap : read.pattern) = std::move(text);
  }
  if (read.file.empty()) return InputError("\"fill\" has no \"file\"; add the name of the file that has the gap");
  if (read.gap.empty()) return InputError("\"fill\" has no \"gap\"; add the text that the answer replaces");
  return std::optional<Fill>(std::move(read));
}

Result<std::vector<CheckSpec>> ReadExpected(const Json& raw) {
  std::vector<CheckSpec> checks;
  const Json* expected = FindMember(raw, "expected");
  if (expected == nullptr) return checks;
  if (!expected->is_object()) {
    return WrongType("expected", "null or an object {\"contains\": [\"…\"]}", *expected);
  }
  const Json* contains = FindMember(*expected, "contains");
  if (contains == nullptr) {
    constexpr std::array<std::string_view, 1> kKeys = {"contains"};
    for (const auto& member : expected->items()) {
      if (NearestKey(member.key(), kKeys)) {
        return InputError(fmt::format("\"expected\" has the unknown key \"{}\"; did you mean \"contains\"?",
                                      ExcerptLine(member.key(), 60)));
      }
    }
    return checks;
  }
  if (contains->is_array() && contains->empty()) return checks;
  ASSIGN_OR_RETURN(const std::vector<std::string> values, ReadExpectedStrings(*contains, "expected.contains"));
  for (const std::string& value : values) checks.emplace_back("contains", std::vector<std::string>{value});
  return checks;
}

// Strings that aren't empty; anything else is reported by GroupWarnings.
std::vector<std::string> ReadTags(const Json& raw) {
  std::vector<std::string> tags;
  const Json* list = FindMember(raw, "tags");
  if (list == nullptr || !list->is_array()) return tags;
  for (const Json& tag : *list) {
    if (!tag.is_string()) continue;
    auto text = tag.get<std::string>();
    if (!Trim(text).empty() && std::find(tags.begin(), tags.end(), text) == tags.end()) tags.push_back(std::move(text));
  }
  return tags;
}

Split ReadSplit(const Json& raw) {
  const std::string split = StringAt(raw, "split");
  if (split == "train") return Split::kTrain;
  return split == "test" ? Split::kTest : Split::kUnknown;
}

// Other tools may have a key of this name, so a value of theirs is only a warning (AddGroupWarnings).
CaseMode ReadMode(const Json& raw) { return CaseModeFromName(StringAt(raw, "mode")).value_or(CaseMode::kUnset); }

// Other tools may use these keys for something else, so that a wrong type is no error.
void AddGroupWarnings(const Json& raw, std::vector<std::string>& warnings) {
  if (const Json* tags = FindMember(raw, "tags"); tags != nullptr) {
    const bool all = tags->is_array() && std::all_of(tags->begin(), tags->end(), [](const Json& tag) {
                       return tag.is_string() && !Trim(tag.get_ref<const std::string&>()).empty();
                     });
    if (!tags->is_array()) {
      warnings.emplace_back("\"tags\" is ignored: it must be a list of non-empty strings");
    } else if (!all) {
      warnings.emplace_back("\"tags\" must be a list of non-empty strings; other entries are ignored");
    }
  }
  if (const Json* source = FindMember(raw, "source"); source != nullptr && !source->is_string())
    warnings.push_back(fmt::format("\"source\" is ignored: it must be a string, not {}", JsonTypeName(*source)));
  if (const Json* mode = FindMember(raw, "mode"); mode != nullptr && ReadMode(raw) == CaseMode::kUnset) {
    warnings.push_back(fmt::format("\"mode\" is ignored: it must be \"answer\" or \"workspace\", not {}",
                                   ExcerptLine(DumpJson(*mode), 60)));
  }
  if (const Json* split = FindMember(raw, "split"); split != nullptr && ReadSplit(raw) == Split::kUnknown) {
    warnings.push_back(fmt::format("\"split\" is ignored: it must be \"train\" or \"test\", not {}",
                                   ExcerptLine(DumpJson(*split), 60)));
  }
}

// Other tools have keys of their own, so only those that are nearly one of ours are named.
std::vector<std::string> MisspeltKeys(const Json& raw) {
  constexpr std::array<std::string_view, 21> kKeys = {
      "id",       "name",        "input",           "prompt",    "context",
      "expected", "checks",      "verifiers",       "validator", "assertions",
      "tags",     "reference",   "expected_output", "source",    "split",
      "files",    "output_file", "expectations",    "wrong",     "fill",
      "mode"};
  constexpr std::size_t kMostToName = 5;
  std::vector<std::string> misspelt;
  for (const auto& member : raw.items()) {
    const std::optional<std::string> meant = NearestKey(member.key(), kKeys);
    if (!meant || misspelt.size() == kMostToName) continue;
    misspelt.push_back(
        fmt::format("unknown key \"{}\" is ignored; did you mean \"{}\"?", ExcerptLine(member.key(), 60), *meant));
  }
  return misspelt;
}

// Assertions in prose, as in evals.json files, which only a judge could decide.
const char* ProseKey(const Json& raw) {
  for (const char* key : {"assertions", "expectations"}) {
    const Json* list = FindMember(raw, key);
    if (list != nullptr && !list->empty()) return key;
  }
  return nullptr;
}

// A function that another tool has under this name.
CheckSpec ValidatorCheck(const Json& validator, std::vector<std::string>& warnings) {
  CheckSpec check("validator", {});
  const std::string name = validator.is_string() ? validator.get<std::string>() : DumpJson(validator);
  check.options = {{"name", name}};
  check.unavailable = fmt::format("the validator {} is a function of another tool", ExcerptLine(name, 60));
  warnings.push_back(fmt::format("\"validator\" is skipped: {}", check.unavailable));
  return check;
}

Result<std::vector<CheckSpec>> ReadChecks(const Json& raw, std::vector<std::string>& warnings) {
  ASSIGN_OR_RETURN(std::vector<CheckSpec> checks, ReadExpected(raw));
  for (const char* key : {"checks", "verifiers"}) {
    ASSIGN_OR_RETURN(std::vector<CheckSpec> more, ReadCheckList(raw, key, warnings));
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }
  if (const Json* validator = FindMember(raw, "validator")) checks.push_back(ValidatorCheck(*validator, warnings));
  if (!checks.empty()) return checks;
  const char* prose = ProseKey(raw);
  return InputError(fmt::format("no check{}; add \"expected\": {{\"contains\": [\"…\"]}} or \"checks\"",
                                prose == nullptr ? std::string() : fmt::format(" (\"{}\" are prose)", prose)));
}

std::vector<std::string> FindWarnings(const Json& raw) {
  std::vector<std::string> warnings = MisspeltKeys(raw);
  if (const char* prose = ProseKey(raw)) {
    warnings.push_back(fmt::format("\"{}\" are prose, which is not checked", prose));
  }
  if (const Json* files = FindMember(raw, "files"); files != nullptr && !files->empty()) {
    warnings.emplace_back("\"files\" are not sent to the model; move them to \"context\": {\"files\": {name: text}}");
  }
  AddGroupWarnings(raw, warnings);
  const Json* expected = FindMember(raw, "expected");
  if (expected == nullptr) return warnings;
  for (const auto& item : expected->items()) {
    if (item.key() == "contains") continue;
    warnings.push_back(
        fmt::format("\"expected.{}\" is not checked; put it under \"checks\"", ExcerptLine(item.key(), 60)));
  }
  return warnings;
}

}  // namespace

namespace {

Result<CaseReading> ReadObject(const Json& raw, std::size_t number) {
  CaseReading reading;
  Case& test_case = reading.test_case;
  ASSIGN_OR_RETURN(test_case.id, ReadId(raw, number));
  ASSIGN_OR_RETURN(test_case.input, ReadInput(raw));
  ASSIGN_OR_RETURN(test_case.files, ReadContextFiles(raw));
  ASSIGN_OR_RETURN(test_case.output_file, ReadOutputFile(raw));
  ASSIGN_OR_RETURN(test_case.fill, ReadFill(raw));
  RETURN_IF_ERROR(CheckFill(test_case));
  const bool other_spelling = FindMember(raw, "reference") == nullptr;
  ASSIGN_OR_RETURN(test_case.reference, ReadText(raw, other_spelling ? "expected_output" : "reference"));
  ASSIGN_OR_RETURN(test_case.checks, ReadChecks(raw, reading.warnings));
  test_case.tags = ReadTags(raw);
  test_case.source = StringAt(raw, "source");
  test_case.split = ReadSplit(raw);
  test_case.mode = ReadMode(raw);
  if (test_case.mode == CaseMode::kWorkspace && test_case.fill)
    return InputError(
        "a case with \"fill\" can't have the \"mode\" \"workspace\": there, the model edits the file itself");
  test_case.raw = raw;
  for (std::string& warning : FindWarnings(raw)) reading.warnings.push_back(std::move(warning));
  return reading;
}

}  // namespace

Result<CaseReading> ReadCase(const Json& raw, std::size_t number) {
  if (!raw.is_object()) {
    return InputError(fmt::format("must be an object with \"input\" and \"expected\", not {}", JsonTypeName(raw)));
  }
  Result<CaseReading> reading = ReadObject(raw, number);
  if (reading) return reading;
  // What is missing may be there under a misspelt name.
  const std::vector<std::string> misspelt = MisspeltKeys(raw);
  if (misspelt.empty()) return reading;
  return InputError(fmt::format("{}; {}", reading.error().message, misspelt.front()));
}

std::string CaseLabel(const Json& raw, std::size_t number) {
  std::string unnamed = fmt::format("case {}", number);
  if (!raw.is_object() || (FindMember(raw, "id") == nullptr && FindMember(raw, "name") == nullptr)) return unnamed;
  const Result<std::string> id = ReadId(raw, number);
  if (!id) return unnamed;
  return fmt::format("{} (\"{}\")", unnamed, ExcerptLine(*id, 60));
}

}  // namespace upskill
