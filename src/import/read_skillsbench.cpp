// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "import/readers.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTrialBytes = 16U << 20U;
constexpr const char* kSkillsBench = "SkillsBench";

bool IsTrialOfLeaderboard(const Json& entry) {
  return Member(entry, "task_id").is_string() && Member(entry, "condition").is_string();
}

// The trials of a leaderboard's file, which are in the list or one level below.
std::vector<const Json*> TrialsIn(const Json& json) {
  std::vector<const Json*> trials;
  const Json& list = Member(json, "results");
  if (!list.is_array()) return trials;
  for (const Json& entry : list) {
    if (IsTrialOfLeaderboard(entry)) trials.push_back(&entry);
    const Json& inner = Member(entry, "results");
    if (!inner.is_array()) continue;
    for (const Json& trial : inner)
      if (IsTrialOfLeaderboard(trial)) trials.push_back(&trial);
  }
  return trials;
}

class TrialResults {
 public:
  explicit TrialResults(const ImportOptions& options) : options_(options) {}

  void TakeLeaderboard(const Json& trial) {
    ImportedAnswer answer;
    answer.case_id = StringAt(trial, "task_id");
    answer.seconds = NonNegativeAt(trial, "time_used").value_or(0.0);
    for (const char* key : {"infra_failure_type", "error_type"})
      if (answer.error.empty()) answer.error = StringAt(trial, key);
    if (!JsonGet(trial, "score_eligible", true)) {
      ++not_eligible_;
      return;
    }
    std::optional<double> reward = NonNegativeAt(trial, "reward");
    const std::optional<double> most = NonNegativeAt(trial, "max_score");
    if (reward && most && *most > 0.0) reward = *reward / *most;
    if (!reward && Member(trial, "passed").is_boolean()) reward = JsonGet(trial, "passed", false) ? 1.0 : 0.0;
    Add(StringAt(trial, "condition"), reward, std::move(answer));
  }

  // label: the condition, which is a folder's name.
  void TakeHarbor(const Json& trial, const std::string& label) {
    ImportedAnswer answer;
    answer.case_id = StringAt(trial, "task_name");
    answer.model = StringAt(Member(Member(trial, "config"), "agent"), "model_name");
    answer.time = StringAt(trial, "started_at");
    const std::optional<double> reward = NonNegativeAt(Member(Member(trial, "verifier_result"), "rewards"), "reward");
    const Json& exception = Member(trial, "exception_info");
    if (!reward && !exception.is_null())
      answer.error = StringAt(exception, "exception_type").empty() ? "error" : StringAt(exception, "exception_type");
    const Json& used = Member(trial, "agent_result");
    answer.cost_usd = NonNegativeAt(used, "cost_usd");
    if (TokensAt(used, "n_output_tokens") > 0) {  // 0 stands for unknown
      answer.usage.input = TokensAt(used, "n_input_tokens");
      answer.usage.output = TokensAt(used, "n_output_tokens");
    }
    Add(label, reward, std::move(answer));
  }

  Result<ImportedResults> Finish(const std::string& source) {
    if (results_.answers.empty())
      return InputError(fmt::format("{}: no trial with or without skills; {}", source, LabelsHint(labels_)));
    results_.format = results_.skill = kSkillsBench;
    results_.source = source;
    results_.AddNote(fmt::format("A trial passes if its reward is at least {:.4g} %{}.", options_.pass_at * 100.0,
                                 options_.pass_at >= 1.0 ? "" : " (--pass-at)"));
    results_.AddNote("Each task has skills of its own: the verdict is about the tasks' skills together.");
    if (not_eligible_ > 0)
      results_.AddNote(fmt::format("{} left out that the file says don't count.", Counted(not_eligible_, "trial")));
    if (ungraded_ > 0)
      results_.AddNote(fmt::format("{} with neither a reward nor an error left out.", Counted(ungraded_, "trial")));
    return std::move(results_);
  }

 private:
  void Add(const std::string& label, std::optional<double> reward, ImportedAnswer answer) {
    const std::optional<Arm> arm = ArmOfLabel(label, options_);
    if (!arm && seen_.insert(label).second) labels_.push_back(label);
    if (!arm || answer.case_id.empty()) return;
    if (answer.error.empty() && !reward) {
      ++ungraded_;
      return;
    }
    if (answer.error.empty()) answer.checks.push_back(ScoreCheck(*reward, options_.pass_at));
    answer.arm = *arm;
    results_.AddCase(answer.case_id, "");
    results_.answers.push_back(std::move(answer));
  }

  const ImportOptions& options_;
  ImportedResults results_;
  std::set<std::string> seen_;
  std::vector<std::string> labels_;
  std::size_t ungraded_ = 0;
  std::size_t not_eligible_ = 0;
};

// The condition of a trial: the nearest folder above it that is one, else what its task set is called.
std::string ConditionOf(const Json& trial, const fs::path& file, const fs::path& folder, const ImportOptions& options) {
  std::string above;
  for (const fs::path& part : fs::absolute(folder).lexically_normal() / file.parent_path().lexically_relative(folder))
    if (ArmOfLabel(part.string(), options)) above = part.string();
  if (!above.empty()) return above;
  std::string source = StringAt(trial, "source");
  if (ArmOfLabel(source, options)) return source;
  if (source == "tasks-no-skills") return "no_skills";
  return source == "tasks" ? "with_skills" : source;
}

}  // namespace

bool IsSkillsBench(const Json& json) { return !TrialsIn(json).empty(); }

Result<ImportedResults> ResultsOfSkillsBench(const Json& json, const std::string& source,
                                             const ImportOptions& options) {
  TrialResults results(options);
  for (const Json* trial : TrialsIn(json)) results.TakeLeaderboard(*trial);
  return results.Finish(source);
}

Result<ImportedResults> ResultsOfTrials(const fs::path& folder, const std::vector<fs::path>& files,
                                        const ImportOptions& options) {
  TrialResults results(options);
  StreamingHash hash(StreamingHash::Kind::kSha256);
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxTrialBytes));
    ASSIGN_OR_RETURN(const Json trial, ParseForeignJson(text, file.string()));
    hash.Add(fmt::format("{}\n{}\n", file.lexically_relative(folder).string(), Sha256Hex(text)));
    if (Member(trial, "task_name").is_string()) results.TakeHarbor(trial, ConditionOf(trial, file, folder, options));
  }
  ASSIGN_OR_RETURN(ImportedResults found, results.Finish(folder.string()));
  found.sha256 = hash.Hex();
  return found;
}

}  // namespace upskill
