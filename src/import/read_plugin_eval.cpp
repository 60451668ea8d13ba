// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "import/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// Why an answer has its score: the graders that failed, or the mock that ended the run.
std::string FailedGraders(const Json& run) {
  if (const Json* const aborted = FindMember(run, "aborted"))
    return fmt::format("the mock of {} ended the run: {}", ExcerptLine(StringAt(*aborted, "server"), 40),
                       ExcerptLine(StringAt(*aborted, "reason"), 200));
  std::string failed;
  for (const Json& grader : Member(run, "graders")) {
    if (JsonGet(grader, "passed", true) || !JsonGet(grader, "scored", true)) continue;
    constexpr std::size_t kMostBytes = 1000;
    if (failed.size() > kMostBytes) return failed + ", …";
    failed += (failed.empty() ? "" : ", ") + ExcerptLine(StringAt(grader, "name"), 80);
  }
  return failed.empty() ? "" : "failed: " + failed;
}

constexpr const char* kNoScore = "it has no score";

// An entry of an arm. Without a score, it is an error: nobody knows whether it would have passed.
ImportedAnswer AnswerOfRun(const Json& run, const ImportOptions& options) {
  ImportedAnswer answer;
  const Json& error = Member(run, "error");
  const bool any_error = !error.is_null() && error != false;
  if (any_error) answer.error = ExcerptLine(error.is_string() ? error.get<std::string>() : DumpJson(error), 200);
  answer.seconds = NonNegativeAt(run, "durationSeconds").value_or(0.0);
  // It includes what the judge cost.
  if (const std::optional<double> cost = NonNegativeAt(run, "costUsd"))
    answer.cost_usd = std::max(0.0, *cost - NonNegativeAt(run, "judgeCostUsd").value_or(0.0));
  if (answer.error.empty() && Member(run, "skippedPaidGraders") == true)
    answer.error = "graders that cost were skipped";
  // There, a failed call of the judge is a failed grader.
  for (const Json& grader : Member(run, "graders")) {
    const std::string explanation = StringAt(grader, "explanation");
    if (answer.error.empty() && explanation.find("judge call failed") != std::string::npos)
      answer.error = ExcerptLine(explanation, 200);
  }
  const std::optional<double> score = NonNegativeAt(run, "score");
  if (!score && answer.error.empty()) answer.error = kNoScore;
  if (!answer.error.empty()) return answer;
  answer.checks.push_back(ScoreCheck(*score, options.pass_at));
  CheckResult& check = answer.checks.front();
  if (const std::string failed = FailedGraders(run); check.outcome == Outcome::kFail && !failed.empty())
    check.detail += (check.detail.empty() ? "" : "; ") + failed;
  return answer;
}

std::string PluginNameIn(const Json& suite) {
  const Json& plugins = Member(suite, "plugins");
  if (plugins.is_array() && !plugins.empty()) return StringAt(plugins[0], "name");
  const std::string id = StringAt(suite, "pluginId");  // NAME@MARKETPLACE
  return id.substr(0, id.find('@'));
}

// Why the arm with the plugin ran without it; empty: it didn't, as far as is known. Other problems are about what the
// program could find out of a plugin, which it loaded.
std::string ProblemOfPlugins(const Json& suite) {
  for (const Json& plugin : Member(suite, "plugins")) {
    const std::string problem = StringAt(plugin, "problem");
    if (problem == "manifest_invalid" || problem == "disabled_by_default" || problem == "will_not_load") return problem;
  }
  return "";
}

void AddNotes(const Json& json, const ImportOptions& options, ImportedResults& results) {
  if (Member(json, "partial") == true) {
    const std::string reason = ExcerptLine(StringAt(json, "partialReason"), 40);
    results.AddNote(fmt::format("The evaluation ended early{}, so some cases or runs are missing.",
                                reason.empty() ? "" : fmt::format(" ({})", reason)));
  }
  results.AddNote(fmt::format("An answer passes if its score is at least {:.4g} %{}.", options.pass_at * 100.0,
                              options.pass_at >= 1.0 ? ", that is, if every scored grader passes" : " (--pass-at)"));
  if (const double threshold = JsonGet(Member(json, "suite"), "threshold", 1.0); threshold < 1.0)
    results.AddNote(fmt::format("`claude plugin eval` passes a case if the mean of its scores is at least {:.4g} %.",
                                threshold * 100));
}

}  // namespace

bool IsPluginEval(const Json& json) {
  const Json& cases = Member(json, "cases");
  return cases.is_array() &&
         std::any_of(cases.begin(), cases.end(), [](const Json& one) { return Member(one, "arms").is_object(); });
}

Result<ImportedResults> ResultsOfPluginEval(const Json& json, const std::string& source, const ImportOptions& options) {
  ImportedResults results;
  results.format = "claude plugin eval";
  const Json& suite = Member(json, "suite");
  results.skill = PluginNameIn(suite);
  results.time = StringAt(json, "startedAt");
  const std::string problem = ProblemOfPlugins(suite);
  if (!problem.empty())
    results.AddNote(fmt::format("The plugin wasn't there ({}): its answers don't count.", ExcerptLine(problem, 80)));
  AddNotes(json, options, results);
  std::set<std::string> models;
  std::set<std::string> seen;
  std::vector<std::string> labels;
  std::map<std::string, std::string> folders;  // of the first case of each name: others may have it, too
  for (const Json& one : Member(json, "cases")) {
    const std::string name = StringAt(one, "name");
    const std::string folder = StringAt(one, "dir");
    std::string id = folders.emplace(name, folder).first->second == folder ? name : folder;
    if (id.empty()) id = fmt::format("case-{}", folders.size());
    const std::string of_all = StringAt(suite, "modelOverride");
    models.insert(of_all.empty() ? StringAt(one, "model") : of_all);
    const Json& arms = Member(one, "arms");
    if (!arms.is_object()) continue;
    for (const auto& [label, runs] : arms.items()) {
      const std::optional<Arm> arm = ArmOfLabel(label, options);
      if (!arm && seen.insert(label).second) labels.push_back(label);
      if (!arm || !runs.is_array()) continue;
      for (const Json& run : runs) {
        ImportedAnswer answer = AnswerOfRun(run, options);
        answer.case_id = id;
        answer.arm = *arm;
        if (*arm == Arm::kSkill && !problem.empty()) {
          answer.error = problem;
          answer.checks.clear();
        }
        results.AddCase(id, StringAt(one, "promptMarkdown"));
        results.answers.push_back(std::move(answer));
      }
    }
  }
  if (results.answers.empty())
    return InputError(fmt::format("{}: no answer with or without the plugin; {}", source, LabelsHint(labels)));
  const bool any_known = std::any_of(results.answers.begin(), results.answers.end(),
                                     [](const ImportedAnswer& answer) { return answer.error != kNoScore; });
  if (!any_known) return InputError(source + ": no run has a score");
  models.erase("");
  if (models.size() > 1) results.AddNote("Cases were given to different models; they are judged together.");
  for (ImportedAnswer& answer : results.answers) answer.model = models.size() == 1 ? *models.begin() : "";
  return results;
}

}  // namespace upskill
