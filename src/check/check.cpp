// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "check/answer_files.h"
#include "check/asked_files.h"
#include "check/check_makers.h"
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
constexpr std::size_t kMaxJudgeChecks = 20;  // each is a request

struct CheckSizes {
  std::size_t checks = 0;
  std::size_t strings = 0;
  std::size_t bytes = 0;
  std::size_t searches = 0;  // one by one
  std::size_t data = 0;      // documents to parse
  std::size_t judges = 0;
};

void AddSizes(const std::vector<CheckSpec>& checks, CheckSizes& sizes) {
  for (const CheckSpec& spec : checks) {
    ++sizes.checks;
    sizes.strings += spec.values.size();
    for (const std::string& value : spec.values) sizes.bytes += value.size();
    const CheckType* const type = FindCheckType(spec.type);
    if (type != nullptr && type->kind == CheckKind::kInOrder) sizes.searches += spec.values.size();
    if (type != nullptr && type->searches()) ++sizes.searches;
    if (type != nullptr && (type->kind == CheckKind::kJsonSchema || type->kind == CheckKind::kKernelBuilder ||
                            type->kind == CheckKind::kToolCall || type->finds_value()))
      ++sizes.data;
    if (type != nullptr && type->asks_judge()) ++sizes.judges;
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
  if (sizes.data > kMaxDataChecks)
    return too_many(kMaxDataChecks, "checks of JSON, TOML, YAML, projects or calls of tools");
  if (sizes.judges > kMaxJudgeChecks) return too_many(kMaxJudgeChecks, "checks that ask a judge");
  return {};
}

// The answer to a case with a gap has only what fills it: a check of JSON, TOML or YAML without a file reads the
// completed file, if that has the format.
void NameCompletedFile(const std::string& file, std::vector<CheckSpec>& checks) {
  std::string format = std::filesystem::path(file).extension().string();
  if (format == ".yml") format = ".yaml";
  for (CheckSpec& spec : checks) {
    NameCompletedFile(file, spec.members);
    const CheckType* const type = FindCheckType(spec.type);
    const bool reads_data = type != nullptr && (type->finds_value() || type->kind == CheckKind::kJsonSchema);
    if (reads_data && spec.file.empty() && ("." + spec.type).starts_with(format + "_")) spec.file = file;
  }
}

// A file whose gap is open is no answer, even if it happens to pass.
void FailAll(const std::string& reason, std::vector<CheckResult>& results) {
  for (CheckResult& result : results) {
    if (result.outcome == Outcome::kSkip) continue;
    result.outcome = Outcome::kFail;
    result.detail = reason;
  }
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

std::size_t CaseParts::AddQuestion(const JudgeQuestion& question) {
  const auto known = std::find(questions_.begin(), questions_.end(), question);
  if (known != questions_.end()) return static_cast<std::size_t>(known - questions_.begin());
  questions_.push_back(question);
  return questions_.size() - 1;
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
  if (const CheckMaker make = FindCheckMaker(type->kind); make != nullptr) return make(spec, parts);
  CheckSpec missing = spec;
  missing.unavailable = kWingMissing;
  return MakeSkipped(missing);
}

Result<CaseChecks> CaseChecks::Make(const Case& test_case, const Sandbox& sandbox, bool has_judge) {
  const std::string label = test_case.place.empty() ? fmt::format("case \"{}\"", test_case.id) : test_case.place;
  if (test_case.checks.empty()) return InputError(label + ": no checks");
  RETURN_IF_ERROR(CheckSizeOf(test_case).With(label));
  CaseChecks made;
  made.parts_ = CaseParts(sandbox, has_judge, !test_case.reference.empty(),
                          test_case.mode == CaseMode::kWorkspace && !test_case.fill);
  made.output_file_ = test_case.output_file;
  made.reference_ = test_case.reference;
  made.executes_ = AnyCheck(test_case.checks, &CheckType::executes);
  std::vector<CheckSpec> specs = test_case.checks;
  if (test_case.fill) NameCompletedFile(test_case.fill->file, specs);
  for (const CheckSpec& spec : specs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Check> check, MakeCheck(spec, made.parts_).With(label));
    made.checks_.push_back(std::move(check));
  }
  ASSIGN_OR_RETURN(made.gap_, GapFiller::Make(test_case, made.parts_).With(label));
  for (const std::string& file : AskedFiles(test_case)) made.parts_.Number(file);
  made.parts_.Finish();
  made.context_files_.resize(made.parts_.size());
  const auto add_file = [&made](const std::string& name, const std::string& content) {
    if (made.parts_.files_needed()) made.all_context_files_[PlainFileName(name)] = content;
    for (std::size_t part = 1; part < made.parts_.size(); ++part) {
      if (made.parts_.file(part) == name) made.context_files_[part] = ReplaceInvalidUtf8(content);
    }
  };
  for (const auto& [name, content] : test_case.files) add_file(name, content);
  if (test_case.fill) {
    for (const auto& [name, content] : test_case.fill->files) add_file(name, content);
  }
  return made;
}

void CaseChecks::Prepare(std::string_view answer, Prepared& prepared) const {
  if (FindInvalidUtf8(answer)) answer = prepared.replaced = ReplaceInvalidUtf8(answer);
  std::string_view whole = answer;
  if (!output_file_.empty()) whole = prepared.content = OutputFileContent(answer, output_file_);
  std::vector<std::optional<std::string_view>> texts(parts_.size());
  texts[0] = whole;
  std::map<std::string, std::string>& files = prepared.files;
  if (gap_) {
    Result<std::string> filled = gap_->FileWith(answer);
    if (filled) {
      files[gap_->file()] = std::move(filled).value();
    } else {
      prepared.unfilled = filled.error().message;
    }
  } else if (parts_.size() > 1 || parts_.files_needed()) {
    files = AnswerFiles(answer, WantedFiles());
  }
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
  prepared.parts = parts_.Search(texts);
  for (std::size_t part = 0; part < prepared.parts.size(); ++part) prepared.parts[part].is_unchanged = unchanged[part];
  if (parts_.files_needed()) {
    if (!output_file_.empty() && !Trim(whole).empty()) files.try_emplace(PlainFileName(output_file_), whole);
    files.insert(all_context_files_.begin(), all_context_files_.end());
  }
}

void CaseChecks::PrepareWorkspace(std::string_view answer, const CheckedFiles& workspace, Prepared& prepared) const {
  if (FindInvalidUtf8(answer)) answer = prepared.replaced = ReplaceInvalidUtf8(answer);
  const auto text_of = [&workspace](const std::string& name) -> std::optional<std::string> {
    const auto found = workspace.find(PlainFileName(name));
    if (found == workspace.end()) return std::nullopt;
    return ReplaceInvalidUtf8(found->second);
  };
  std::vector<std::optional<std::string_view>> texts(parts_.size());
  texts[0] = answer;
  if (!output_file_.empty()) texts[0] = prepared.content = text_of(output_file_).value_or("");
  prepared.texts.resize(parts_.size());
  std::vector<bool> unchanged(parts_.size());
  for (std::size_t part = 1; part < parts_.size(); ++part) {
    prepared.texts[part] = text_of(parts_.file(part));
    if (prepared.texts[part]) texts[part] = *prepared.texts[part];
    unchanged[part] = prepared.texts[part] && prepared.texts[part] == context_files_[part];
  }
  prepared.parts = parts_.Search(texts);
  for (std::size_t part = 0; part < prepared.parts.size(); ++part) prepared.parts[part].is_unchanged = unchanged[part];
  if (parts_.files_needed()) prepared.files = workspace;
}

void CaseChecks::Prepare(std::string_view answer, const CheckedWork* work, Prepared& prepared) const {
  answer = WithoutReasoning(answer);
  if (work == nullptr) return Prepare(answer, prepared);
  PrepareWorkspace(answer, work->files, prepared);
}

std::vector<CheckResult> CaseChecks::Run(std::string_view answer, const StopFlag* stop, const CheckedWork* work) const {
  Prepared prepared;
  Prepare(answer, work, prepared);
  const CheckedCalls* const calls = work == nullptr ? nullptr : &work->calls;
  std::vector<CheckResult> results;
  results.reserve(checks_.size());
  for (const auto& check : checks_)
    results.push_back(check->Run({prepared.parts, prepared.files, stop, nullptr, calls}));
  if (!prepared.unfilled.empty()) FailAll(prepared.unfilled, results);
  return results;
}

std::vector<AskedQuestion> CaseChecks::QuestionsAbout(std::string_view answer, const std::vector<CheckResult>& results,
                                                      const CheckedWork* work) const {
  std::vector<AskedQuestion> asked;
  bool waits = false;
  for (std::size_t i = 0; i < results.size() && i < checks_.size(); ++i) {
    if (results[i].outcome == Outcome::kFail) return {};
    waits = waits || (results[i].outcome == Outcome::kSkip && checks_[i]->AsksJudge());
  }
  if (!waits || !parts_.has_judge()) return {};
  Prepared prepared;
  Prepare(answer, work, prepared);
  if (!prepared.unfilled.empty()) return {};
  Prepared reference;
  Prepare(reference_, reference);
  for (std::size_t i = 0; i < parts_.questions().size(); ++i) {
    const JudgeQuestion& question = parts_.questions()[i];
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const std::optional<std::string_view>& text = prepared.parts[part].text;
      if (parts_.file(part) != question.file || !text || Trim(*text).empty() || text->size() > kMaxJudgedBytes)
        continue;
      asked.push_back({i, question, std::string(*text), ""});
      if (question.kind != JudgeQuestion::Kind::kRubric)
        asked.back().reference = reference.parts[part].text.value_or(std::string_view(reference_));
    }
  }
  return asked;
}

std::vector<CheckResult> CaseChecks::Waiting() const {
  return std::vector<CheckResult>(checks_.size(), CheckResult{"", Outcome::kSkip, ""});
}

std::vector<CheckResult> CaseChecks::RunJudged(std::string_view answer, std::vector<CheckResult> results,
                                               const Judgments& judgments, const StopFlag* stop,
                                               const CheckedWork* work) const {
  Prepared prepared;
  Prepare(answer, work, prepared);
  const CheckedCalls* const calls = work == nullptr ? nullptr : &work->calls;
  for (std::size_t i = 0; i < results.size() && i < checks_.size(); ++i) {
    if (results[i].outcome != Outcome::kSkip || !checks_[i]->AsksJudge()) continue;
    results[i] = checks_[i]->Run({prepared.parts, prepared.files, stop, &judgments, calls});
  }
  return results;
}

// Those that checks name and commands need; if the case has all of them, and checks look at all files, any of the case.
std::vector<std::string> CaseChecks::WantedFiles() const {
  std::vector<std::string> wanted;
  bool missing = false;
  for (std::size_t part = 1; part < parts_.size(); ++part) {
    wanted.push_back(parts_.file(part));
    missing = missing || !context_files_[part];
  }
  if (missing) return wanted;
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
