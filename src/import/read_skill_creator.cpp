// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "import/readers.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSkillCreator = "skill-creator";
constexpr std::size_t kMaxGradings = 50'000;
constexpr std::uint64_t kMaxGradingBytes = 16ULL << 20U;
constexpr int kMaxDepth = 8;

const Json& ExpectationsIn(const Json& graded) {
  for (const char* key : {"expectations", "assertion_results", "assertions"}) {
    if (const Json& list = Member(graded, key); list.is_array() && !list.empty()) return list;
  }
  return Member(graded, "expectations");
}

// A check for each expectation. One without a verdict is skipped, so that its answer doesn't pass.
std::vector<CheckResult> ChecksOfExpectations(const Json& expectations) {
  std::vector<CheckResult> checks;
  if (!expectations.is_array()) return checks;
  for (const Json& one : expectations) {
    const Json& passed = Member(one, "passed");
    CheckResult check;
    check.name = StringAt(one, "text");
    if (check.name.empty()) check.name = fmt::format("expectation {}", checks.size() + 1);
    check.outcome = !passed.is_boolean() ? Outcome::kSkip : passed.get<bool>() ? Outcome::kPass : Outcome::kFail;
    check.detail = passed.is_boolean() ? StringAt(one, "evidence") : "not graded";
    checks.push_back(std::move(check));
  }
  return checks;
}

// The share of expectations that passed, by the summary of the grader. Nothing if it doesn't say.
std::optional<double> ShareIn(const Json& summary) {
  const std::optional<double> passed = NonNegativeAt(summary, "passed");
  const std::optional<double> total = NonNegativeAt(summary, "total");
  if (passed && total && *total > 0.0) return std::min(1.0, *passed / *total);
  const std::optional<double> rate = NonNegativeAt(summary, "pass_rate");
  return rate && *rate <= 1.0 ? rate : std::nullopt;
}

// The checks of an answer: its expectations, or the share of them that passed. Empty: it wasn't graded.
std::vector<CheckResult> ChecksOfGrading(const Json& graded, const Json& summary, const ImportOptions& options) {
  std::vector<CheckResult> checks = ChecksOfExpectations(ExpectationsIn(graded));
  if (options.pass_at >= 1.0 && !checks.empty()) return checks;
  if (!checks.empty()) {
    const auto passed = std::count_if(checks.begin(), checks.end(),
                                      [](const CheckResult& check) { return check.outcome == Outcome::kPass; });
    return {ScoreCheck(static_cast<double>(passed) / static_cast<double>(checks.size()), options.pass_at)};
  }
  const std::optional<double> share = ShareIn(summary);
  if (!share) return {};
  return {ScoreCheck(*share, options.pass_at)};
}

void NotePassRule(const ImportOptions& options, ImportedResults& results) {
  results.AddNote(
      options.pass_at >= 1.0
          ? "An answer passes if all its expectations do. Mean rates in the file are of expectations, which "
            "aren't independent: the answer is the unit of evidence."
          : fmt::format("An answer passes if at least {:.4g} % of its expectations do (--pass-at).",
                        options.pass_at * 100.0));
}

// Configurations of a benchmark.json, in order.
std::vector<std::string> ConfigurationsIn(const Json& runs) {
  std::vector<std::string> labels;
  std::set<std::string> seen;
  for (const Json& run : runs) {
    std::string label = StringAt(run, "configuration");
    if (!label.empty() && seen.insert(label).second) labels.push_back(std::move(label));
  }
  return labels;
}

Error OnlyAggregates(const Json& json, const std::string& source) {
  const bool has_rates = FindMember(json, "run_summary") != nullptr;
  return Error{ErrorKind::kInput,
               fmt::format("{}: no runs[]{}; import the workspace's folder with its grading.json files", source,
                           has_rates ? ", only mean rates (run_summary), from which no verdict can be computed: a mean "
                                       "says neither how many answers it is of nor which cases they answer"
                                     : ", so there is nothing to judge")};
}

std::string CaseIdOf(const Json& run) {
  const std::string id = IdText(Member(run, "eval_id"));
  const std::string name = StringAt(run, "eval_name");
  if (id.empty() || name.empty()) return id.empty() ? name : "eval-" + id;
  return "eval-" + id + " " + name;
}

// Whether the answers of a case have names that differ by entry, so that the id alone must tell which case it is.
std::map<std::string, std::string> CaseIdsByEval(const Json& runs) {
  std::map<std::string, std::string> ids;
  for (const Json& run : runs) {
    const std::string id = IdText(Member(run, "eval_id"));
    if (!id.empty()) ids.emplace(id, CaseIdOf(run));  // the first name counts
  }
  return ids;
}

}  // namespace

bool IsBenchmark(const Json& json) {
  const Json& runs = Member(json, "runs");
  if (FindMember(json, "run_summary") != nullptr) return true;
  return runs.is_array() && std::any_of(runs.begin(), runs.end(),
                                        [](const Json& run) { return Member(run, "configuration").is_string(); });
}

Result<ImportedResults> ResultsOfBenchmark(const Json& json, const std::string& source, const ImportOptions& options) {
  const Json& runs = Member(json, "runs");
  if (!runs.is_array() || runs.empty()) return OnlyAggregates(json, source);
  const Json& metadata = Member(json, "metadata");
  ImportedResults results;
  results.format = kSkillCreator;
  results.skill = StringAt(metadata, "skill_name");
  if (results.skill.empty()) results.skill = StringAt(json, "skill_name");
  results.time = StringAt(metadata, "timestamp");
  std::string model = StringAt(metadata, "executor_model");
  if (model.empty() || model == "<model-name>") model = StringAt(metadata, "model");
  const std::map<std::string, std::string> ids = CaseIdsByEval(runs);
  std::size_t other = 0;
  std::size_t ungraded = 0;
  for (const Json& run : runs) {
    const std::optional<Arm> arm = ArmOfLabel(StringAt(run, "configuration"), options);
    const auto known = ids.find(IdText(Member(run, "eval_id")));
    ImportedAnswer answer;
    answer.case_id = known == ids.end() ? CaseIdOf(run) : known->second;
    if (!arm || answer.case_id.empty()) {
      ++other;
      continue;
    }
    // Some writers leave out the level of `result`.
    const Json& result = Member(run, "result").is_object() ? Member(run, "result") : run;
    answer.checks = ChecksOfGrading(run, result, options);
    if (answer.checks.empty()) {
      ++ungraded;
      continue;
    }
    answer.arm = *arm;
    answer.model = model;
    if (const Json& number = Member(run, "run_number"); number.is_number_integer())
      answer.number = NumberAs<std::int64_t>(number);
    answer.seconds = NonNegativeAt(result, "time_seconds").value_or(0.0);
    results.AddCase(answer.case_id, "");
    results.answers.push_back(std::move(answer));
  }
  if (results.answers.empty() && ungraded > 0) {
    return InputError(
        fmt::format("{}: no answer is graded: neither expectations, nor passed and total, nor a pass_rate", source));
  }
  if (results.answers.empty()) {
    return InputError(
        fmt::format("{}: no answer with or without the skill; {}", source, LabelsHint(ConfigurationsIn(runs))));
  }
  NotePassRule(options, results);
  if (other > 0)
    results.AddNote(
        fmt::format("{} of other configurations, or without an eval_id, left out.", Counted(other, "result")));
  if (ungraded > 0) results.AddNote(fmt::format("{} without grades left out.", Counted(ungraded, "result")));
  results.AddNote("Neither the prompts nor the answers are in the file, so every eval counts as an input of its own.");
  results.AddNote("Tokens aren't imported: the file doesn't tell those of the prompt from those of the answer.");
  return results;
}

namespace {

// One grading.json of a workspace, by its place.
struct GradingFile {
  fs::path file;
  std::string group;      // what its eval's folder is in: "iteration-2"
  std::string eval_name;  // "eval-3-rename"
  Arm arm = Arm::kBaseline;
  std::optional<std::int64_t> number;  // of run-N
};

// The number at the end of "run-12".
std::optional<std::int64_t> RunNumberOf(const std::string& name) {
  constexpr std::string_view kPrefix = "run-";
  constexpr std::size_t kMostDigits = 9;
  const std::string digits = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
  if (digits.empty() || digits.size() > kMostDigits || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(digits);
}

// What the path of a grading.json says; nothing if no folder on it is a configuration inside an eval's folder.
std::optional<GradingFile> PlacedGrading(const fs::path& file, const fs::path& folder, const ImportOptions& options) {
  const fs::path relative = file.lexically_relative(folder);
  std::vector<std::string> parts;
  for (const fs::path& part : relative.parent_path()) parts.push_back(part.string());
  for (std::size_t i = parts.size(); i-- > 1;) {
    const std::optional<Arm> arm = ArmOfLabel(parts[i], options);
    if (!arm) continue;
    GradingFile placed{file, "", parts[i - 1], *arm, std::nullopt};
    for (std::size_t before = 0; before + 1 < i; ++before)
      placed.group += (placed.group.empty() ? "" : "/") + parts[before];
    if (i + 1 < parts.size()) placed.number = RunNumberOf(parts[i + 1]);
    return placed;
  }
  return std::nullopt;
}

Result<std::vector<GradingFile>> FindGradings(const fs::path& folder, const ImportOptions& options) {
  std::vector<GradingFile> found;
  std::error_code code;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied, code);
  if (code) return Error{ErrorKind::kIo, fmt::format("reading {}: {}", folder.string(), code.message())};
  std::size_t entries = 0;
  for (const fs::recursive_directory_iterator end; walk != end; walk.increment(code)) {
    if (code) return Error{ErrorKind::kIo, fmt::format("reading {}: {}", folder.string(), code.message())};
    if (++entries > kMaxGradings * 20)
      return InputError(
          fmt::format("{}: more than {} files; import one iteration", folder.string(), kMaxGradings * 20));
    if (walk.depth() >= kMaxDepth) walk.disable_recursion_pending();
    if (walk->path().filename() != "grading.json" || !fs::is_regular_file(walk->symlink_status(code))) continue;
    if (std::optional<GradingFile> placed = PlacedGrading(walk->path(), folder, options)) found.push_back(*placed);
    if (found.size() > kMaxGradings)
      return InputError(
          fmt::format("{}: more than {} grading.json files; import one iteration", folder.string(), kMaxGradings));
  }
  std::sort(found.begin(), found.end(), [](const GradingFile& a, const GradingFile& b) { return a.file < b.file; });
  return found;
}

// A file beside a grading.json that may be absent or damaged: null then.
Json OptionalJson(const fs::path& file) {
  const Result<std::string> text = ReadFile(file, kMaxGradingBytes);
  if (!text) return nullptr;
  Result<Json> json = ParseForeignJson(*text, file.string());
  return json ? std::move(json).value() : Json(nullptr);
}

void TakeTiming(const fs::path& folder, const Json& graded, ImportedAnswer& answer) {
  const Json timing = OptionalJson(folder / "timing.json");
  std::optional<double> seconds = NonNegativeAt(timing, "executor_duration_seconds");
  if (!seconds) seconds = NonNegativeAt(timing, "total_duration_seconds");
  if (!seconds) {
    if (const std::optional<double> ms = NonNegativeAt(timing, "duration_ms")) seconds = *ms / 1000.0;
  }
  if (!seconds) seconds = NonNegativeAt(Member(graded, "timing"), "executor_duration_seconds");
  answer.seconds = seconds.value_or(0.0);
}

Status TakeGrading(const GradingFile& grading, const ImportOptions& options, StreamingHash& hash,
                   ImportedResults& results) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(grading.file, kMaxGradingBytes));
  ASSIGN_OR_RETURN(const Json graded, ParseForeignJson(text, grading.file.string()));
  hash.Add(fmt::format("{}\n{}\n", grading.file.lexically_relative(results.source).string(), Sha256Hex(text)));
  ImportedAnswer answer;
  answer.case_id = grading.eval_name;
  answer.arm = grading.arm;
  answer.number = grading.number;
  answer.checks = ChecksOfGrading(graded, Member(graded, "summary"), options);
  const fs::path eval_folder = grading.number ? grading.file.parent_path().parent_path().parent_path()
                                              : grading.file.parent_path().parent_path();
  results.AddCase(answer.case_id, StringAt(OptionalJson(eval_folder / "eval_metadata.json"), "prompt"));
  if (answer.checks.empty()) {
    results.AddNote("Some grading.json files hold no grades; their answers are left out.");
    return {};
  }
  TakeTiming(grading.file.parent_path(), graded, answer);
  results.answers.push_back(std::move(answer));
  return {};
}

std::string SkillOfWorkspace(const fs::path& folder) {
  constexpr std::string_view kEnd = "-workspace";
  for (fs::path at = fs::absolute(folder).lexically_normal(); at.has_relative_path(); at = at.parent_path()) {
    const std::string name = at.filename().string();
    if (name.size() > kEnd.size() && name.ends_with(kEnd)) return name.substr(0, name.size() - kEnd.size());
  }
  return "";
}

}  // namespace

Result<std::vector<ImportedResults>> ResultsOfWorkspace(const fs::path& folder, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<GradingFile> gradings, FindGradings(folder, options));
  std::map<std::string, std::vector<const GradingFile*>> groups;
  for (const GradingFile& grading : gradings) groups[grading.group].push_back(&grading);
  std::vector<ImportedResults> all;
  for (const auto& [group, files] : groups) {
    ImportedResults results;
    results.format = kSkillCreator;
    results.source = folder.string();
    results.skill = SkillOfWorkspace(folder);
    StreamingHash hash(StreamingHash::Kind::kSha256);
    for (const GradingFile* grading : files) RETURN_IF_ERROR(TakeGrading(*grading, options, hash, results));
    results.source = (folder / group).string();
    results.sha256 = hash.Hex();
    NotePassRule(options, results);
    results.AddNote("The model isn't named in grading.json files.");
    if (!results.answers.empty()) all.push_back(std::move(results));
  }
  if (all.empty()) {
    return InputError(
        fmt::format("{}: no graded answer in EVAL/CONFIGURATION/[run-N/]grading.json, where CONFIGURATION "
                    "is with_skill, without_skill or what --with and --without name",
                    folder.string()));
  }
  return all;
}

}  // namespace upskill
