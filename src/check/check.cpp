// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "check/answer_files.h"
#include "check/command_check.h"
#include "check/cuda_compile_check.h"
#include "check/group_check.h"
#include "check/kernel_builder_check.h"
#include "check/number_check.h"
#include "check/text_checks.h"
#include "check/value_checks.h"
#include "skill/check_types.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

// Each result of a check is journaled with each answer.
constexpr std::size_t kMaxChecks = 20'000;
constexpr std::size_t kMaxStrings = 20'000;
constexpr std::size_t kMaxStringBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxSearches = 500;
constexpr std::size_t kMaxDataChecks = 100;

Result<std::unique_ptr<Check>> MakeOfKind(CheckKind kind, const CheckSpec& spec, CaseParts& parts) {
  switch (kind) {
    case CheckKind::kContains:
      return MakeContains(spec, parts);
    case CheckKind::kNotContains:
      return MakeNotContains(spec, parts);
    case CheckKind::kAnyOf:
      return MakeAnyOf(spec, parts);
    case CheckKind::kInOrder:
      return MakeInOrder(spec, parts);
    case CheckKind::kEquals:
      return MakeEquals(spec, parts);
    case CheckKind::kRegex:
      return MakeRegex(spec, parts);
    case CheckKind::kNumber:
      return MakeNumber(spec, parts);
    case CheckKind::kJsonSchema:
      return MakeJsonSchema(spec, parts);
    case CheckKind::kJsonValue:
      return MakeValueCheck(DataFormat::kJson, spec, parts);
    case CheckKind::kTomlValue:
      return MakeValueCheck(DataFormat::kToml, spec, parts);
    case CheckKind::kYamlValue:
      return MakeValueCheck(DataFormat::kYaml, spec, parts);
    case CheckKind::kFileExists:
      return MakeFileExists(spec, parts);
    case CheckKind::kCommand:
      return MakeCommandCheck(spec, parts);
    case CheckKind::kCudaCompile:
      return MakeCudaCompile(spec, parts);
    case CheckKind::kAll:
    case CheckKind::kAny:
    case CheckKind::kAtLeast:
      return MakeGroup(kind, spec, parts);
    case CheckKind::kKernelBuilder:
      return MakeKernelBuilder(spec, parts);
  }
  return InputError("unknown check type");
}

struct CheckSizes {
  std::size_t checks = 0;
  std::size_t strings = 0;
  std::size_t bytes = 0;
  std::size_t searches = 0;  // one by one
  std::size_t data = 0;      // documents to parse
};

void AddSizes(const std::vector<CheckSpec>& checks, CheckSizes& sizes) {
  for (const CheckSpec& spec : checks) {
    ++sizes.checks;
    sizes.strings += spec.values.size();
    for (const std::string& value : spec.values) sizes.bytes += value.size();
    const CheckType* const type = FindCheckType(spec.type);
    if (type != nullptr && type->kind == CheckKind::kInOrder) sizes.searches += spec.values.size();
    if (type != nullptr && (type->kind == CheckKind::kRegex || type->kind == CheckKind::kNumber)) ++sizes.searches;
    if (type != nullptr &&
        (type->kind == CheckKind::kJsonSchema || type->kind == CheckKind::kKernelBuilder || type->finds_value()))
      ++sizes.data;
    AddSizes(spec.members, sizes);
  }
}

Status CheckSizeOf(const Case& test_case) {
  CheckSizes sizes;
  AddSizes(test_case.checks, sizes);
  const auto too_many = [](std::size_t most, const char* what) {
    return InputError(fmt::format("more than {} {}, the maximum for a case; divide it into several cases",
                                  WithThousands(static_cast<long long>(most)), what));
  };
  if (sizes.checks > kMaxChecks) return too_many(kMaxChecks, "checks");
  if (sizes.strings > kMaxStrings) return too_many(kMaxStrings, "strings to look for");
  if (sizes.bytes > kMaxStringBytes) return too_many(kMaxStringBytes, "bytes of strings to look for");
  if (sizes.searches > kMaxSearches) return too_many(kMaxSearches, "regex checks, numbers and values in order");
  if (sizes.data > kMaxDataChecks) return too_many(kMaxDataChecks, "checks of JSON, TOML, YAML or projects");
  return {};
}

}  // namespace

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
      return "fail";
    case Outcome::kSkip:
      return "skip";
  }
  return "unknown";
}

Result<Outcome> OutcomeFromName(std::string_view name) {
  for (const Outcome outcome : {Outcome::kPass, Outcome::kFail, Outcome::kSkip}) {
    if (name == OutcomeName(outcome)) return outcome;
  }
  return InputError(fmt::format("unknown check outcome \"{}\"; expected pass, fail or skip", name));
}

std::size_t CaseParts::Number(const std::string& file) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].file == file) return i;
  }
  parts_.push_back({file, {}});
  return parts_.size() - 1;
}

bool CaseParts::AddPattern(int instructions) {
  constexpr int kMaxInstructions = 20'000;
  instructions_ += std::min(instructions, kMaxInstructions + 1);
  return instructions_ <= kMaxInstructions;
}

void CaseParts::Finish() {
  for (Part& part : parts_) part.strings.Finish();
}

std::vector<CheckedPart> CaseParts::Search(const std::vector<std::optional<std::string_view>>& texts) const {
  std::vector<CheckedPart> searched(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    searched[i].text = texts[i];
    if (texts[i]) searched[i].found = parts_[i].strings.FindIn(*texts[i]);
  }
  return searched;
}

Result<std::unique_ptr<Check>> MakeCheck(const CheckSpec& spec, CaseParts& parts) {
  const CheckType* const type = FindCheckType(spec.type);
  if (type == nullptr || !spec.unavailable.empty()) return MakeSkipped(spec);
  return MakeOfKind(type->kind, spec, parts);
}

Result<CaseChecks> CaseChecks::Make(const Case& test_case, const Sandbox& sandbox) {
  const std::string label = test_case.place.empty() ? fmt::format("case \"{}\"", test_case.id) : test_case.place;
  if (test_case.checks.empty()) return InputError(label + ": no checks");
  RETURN_IF_ERROR(CheckSizeOf(test_case).With(label));
  CaseChecks made;
  made.parts_ = CaseParts(sandbox);
  made.output_file_ = test_case.output_file;
  made.executes_ = AnyCheck(test_case.checks, &CheckType::executes);
  for (const CheckSpec& spec : test_case.checks) {
    ASSIGN_OR_RETURN(std::unique_ptr<Check> check, MakeCheck(spec, made.parts_).With(label));
    made.checks_.push_back(std::move(check));
  }
  made.parts_.Finish();
  made.context_files_.resize(made.parts_.size());
  for (const auto& [name, content] : test_case.files) {
    if (made.parts_.files_needed()) made.all_context_files_[PlainFileName(name)] = content;
    for (std::size_t part = 1; part < made.parts_.size(); ++part) {
      if (made.parts_.file(part) == name) made.context_files_[part] = ReplaceInvalidUtf8(content);
    }
  }
  return made;
}

std::vector<CheckResult> CaseChecks::Run(std::string_view answer, const StopFlag* stop) const {
  std::string replaced;
  if (FindInvalidUtf8(answer)) answer = replaced = ReplaceInvalidUtf8(answer);
  std::string content;
  std::string_view whole = answer;
  if (!output_file_.empty()) whole = content = OutputFileContent(answer, output_file_);
  std::vector<std::optional<std::string_view>> texts(parts_.size());
  texts[0] = whole;
  std::map<std::string, std::string> files;
  if (parts_.size() > 1 || parts_.files_needed()) files = AnswerFiles(answer, WantedFiles());
  std::vector<bool> unchanged(parts_.size());
  for (std::size_t part = 1; part < parts_.size(); ++part) {
    const std::string& name = parts_.file(part);
    if (const auto found = files.find(name); found != files.end()) {
      texts[part] = found->second;
    } else if (name == output_file_ && !Trim(whole).empty()) {
      texts[part] = whole;
    } else if (context_files_[part]) {
      texts[part] = *context_files_[part];
      unchanged[part] = true;
    }
  }
  std::vector<CheckedPart> searched = parts_.Search(texts);
  for (std::size_t part = 0; part < searched.size(); ++part) searched[part].is_unchanged = unchanged[part];
  if (parts_.files_needed()) {
    if (!output_file_.empty() && !Trim(whole).empty()) files.try_emplace(PlainFileName(output_file_), whole);
    files.insert(all_context_files_.begin(), all_context_files_.end());
  }
  std::vector<CheckResult> results;
  results.reserve(checks_.size());
  for (const auto& check : checks_) results.push_back(check->Run({searched, files, stop}));
  return results;
}

// Those that checks name; if checks look at all files, those of the context too.
std::vector<std::string> CaseChecks::WantedFiles() const {
  std::vector<std::string> wanted;
  for (std::size_t part = 1; part < parts_.size(); ++part) wanted.push_back(parts_.file(part));
  for (const auto& [name, content] : all_context_files_) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  }
  return wanted;
}

std::string CaseChecks::WhyNoneCanPass() const {
  for (const std::unique_ptr<Check>& check : checks_) {
    if (std::string reason = check->WhyItCannotPass(); !reason.empty()) return reason;
  }
  return "";
}

std::string CannotRun(std::string_view check, std::string_view reason) {
  return fmt::format("{} can't run: {}", check, reason);
}

bool AllPass(const std::vector<CheckResult>& results) {
  // Without any check, nothing has been shown.
  if (results.empty()) return false;
  return std::all_of(results.begin(), results.end(), [](const CheckResult& r) { return r.outcome == Outcome::kPass; });
}

}  // namespace upskill
