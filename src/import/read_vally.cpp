// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "import/readers.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// "tests/dotnet/setup-local-sdk/eval.yaml" is the evaluation of setup-local-sdk.
std::string SkillOfEvalFile(const std::string& file) {
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.filename() == "evals" || folder.filename() == "vally") folder = folder.parent_path();
  return folder.filename().string();
}

std::string ErrorOf(const Json& trial) {
  const Json& error = Member(trial, "error");
  if (error.is_string()) return error.get<std::string>();
  if (const std::string message = StringAt(error, "message"); !message.empty()) return message;
  const std::string status = StringAt(trial, "status");
  return status.empty() || status == "success" ? "" : status;
}

std::optional<CheckResult> CheckOfTrial(const Json& trial, const ImportOptions& options) {
  const Json& grade = Member(trial, "gradeResult");
  const Json& passed = Member(grade, "passed");
  if (passed.is_boolean()) {
    return CheckResult{"Vally's grade", passed.get<bool>() ? Outcome::kPass : Outcome::kFail,
                       passed.get<bool>() ? "" : ExcerptLine(StringAt(grade, "evidence"), 1000)};
  }
  const std::optional<double> score = NonNegativeAt(grade, "score");
  return score ? std::optional(ScoreCheck(*score, options.pass_at)) : std::nullopt;
}

class TrialReader {
 public:
  TrialReader(std::string folder, const ImportOptions& options) : folder_(std::move(folder)), options_(options) {}

  void Take(const Json& trial) {
    if (StringAt(trial, "type") != "trial-result") return;
    const std::string variant = StringAt(trial, "variant").empty() ? folder_ : StringAt(trial, "variant");
    const std::optional<Arm> arm = ArmOfLabel(variant, options_);
    if (!arm && seen_.insert(variant).second && !variant.empty()) labels_.push_back(variant);
    ImportedAnswer answer;
    answer.case_id = CaseIdOf(trial);
    if (!arm || answer.case_id.empty()) {
      ++other_;
      return;
    }
    answer.error = ErrorOf(trial);
    if (answer.error.empty()) {
      const std::optional<CheckResult> check = CheckOfTrial(trial, options_);
      if (!check) {
        ++ungraded_;
        return;
      }
      answer.checks.push_back(*check);
    }
    answer.arm = *arm;
    TakeDetails(trial, answer);
    results_.AddCase(answer.case_id, StringAt(Member(Member(trial, "trajectory"), "stimulus"), "prompt"));
    results_.answers.push_back(std::move(answer));
  }

  Result<ImportedResults> Finish(const std::string& source, std::size_t damaged) {
    if (results_.answers.empty())
      return InputError(fmt::format("{}: no graded answer with or without the skill; {}", source, LabelsHint(labels_)));
    results_.format = "Vally";
    results_.is_part = true;
    results_.skill = skills_.size() == 1 ? *skills_.begin() : "";
    if (skills_.size() > 1)
      results_.AddNote(fmt::format("The evaluations of {} are judged together.", Counted(skills_.size(), "skill")));
    results_.AddNote("An answer passes if Vally's grade says so; where there is only a score, by --pass-at.");
    if (ungraded_ > 0) results_.AddNote(fmt::format("{} without a grade left out.", Counted(ungraded_, "trial")));
    if (other_ > 0)
      results_.AddNote(fmt::format("{} of other variants, or without a stimulus, left out.", Counted(other_, "trial")));
    if (damaged > 0) results_.AddNote(fmt::format("{} couldn't be read.", Counted(damaged, "line")));
    return std::move(results_);
  }

 private:
  // Names of stimuli aren't unique among evaluations.
  std::string CaseIdOf(const Json& trial) {
    std::string stimulus = StringAt(trial, "stimulus");
    if (stimulus.empty()) stimulus = StringAt(Member(trial, "gradeResult"), "stimulusName");
    if (stimulus.empty()) return "";
    std::string file = StringAt(Member(trial, "experiment"), "evalFile");
    if (file.empty()) file = StringAt(trial, "evalFilePath");
    std::string skill = SkillOfEvalFile(file);
    if (skill.empty()) skill = StringAt(trial, "evalName");
    if (skill.empty()) return stimulus;
    skills_.insert(skill);
    return skill + ": " + stimulus;
  }

  static void TakeDetails(const Json& trial, ImportedAnswer& answer) {
    const Json& trajectory = Member(trial, "trajectory");
    const Json& metrics = Member(trajectory, "metrics");
    answer.model = StringAt(trial, "model");
    if (answer.model.empty()) answer.model = StringAt(Member(trajectory, "metadata"), "model");
    answer.text = StringAt(trajectory, "output");
    const std::optional<double> ms = NonNegativeAt(metrics, "wallTimeMs");
    answer.seconds = (ms ? *ms : NonNegativeAt(trial, "durationMs").value_or(0.0)) / 1000.0;
    answer.usage.input = TokensAt(Member(metrics, "tokenUsage"), "inputTokens");
    answer.usage.output = TokensAt(Member(metrics, "tokenUsage"), "outputTokens");
    if (const Json& index = Member(trial, "trialIndex"); index.is_number_integer())
      answer.number = NumberAs<std::int64_t>(index);
  }

  std::string folder_;
  const ImportOptions& options_;
  ImportedResults results_;
  std::set<std::string> skills_;
  std::set<std::string> seen_;
  std::vector<std::string> labels_;
  std::size_t other_ = 0;
  std::size_t ungraded_ = 0;
};

}  // namespace

bool IsVallyResults(std::string_view text) {
  constexpr std::size_t kMaxLine = std::size_t{64} << 20U;
  const std::string_view line = Trim(text).substr(0, Trim(text).find('\n'));
  if (line.size() > kMaxLine || line.find("\"type\"") == std::string_view::npos) return false;
  const Result<Json> first = ParseForeignJson(line, "results.jsonl");
  if (!first) return false;
  const std::string type = StringAt(*first, "type");
  return type == "trial-result" || type == "run-summary";
}

Result<ImportedResults> ResultsOfVally(std::string_view text, const std::string& source, const std::string& folder,
                                       const ImportOptions& options) {
  TrialReader reader(folder, options);
  std::size_t damaged = 0;
  for (const std::string_view line : SplitLines(text)) {
    if (Trim(line).empty()) continue;
    if (const Result<Json> trial = ParseForeignJson(line, source)) {
      reader.Take(*trial);
    } else {
      ++damaged;
    }
  }
  return reader.Finish(source, damaged);
}

}  // namespace upskill
