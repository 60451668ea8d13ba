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

// What explains a score, as the details of its check: the graders that it is made of.
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

// An entry of an arm. Nothing: it holds neither a score nor an error.
std::optional<ImportedAnswer> AnswerOfRun(const Json& run, const ImportOptions& options) {
  ImportedAnswer answer;
  answer.error = StringAt(run, "error");
  answer.seconds = NonNegativeAt(run, "durationSeconds").value_or(0.0);
  // What the judge cost is in it, too.
  if (const std::optional<double> cost = NonNegativeAt(run, "costUsd"))
    answer.cost_usd = std::max(0.0, *cost - NonNegativeAt(run, "judgeCostUsd").value_or(0.0));
  if (answer.error.empty() && Member(run, "skippedPaidGraders") == true)
    answer.error = "graders that cost were skipped";
  for (const Json& grader : Member(run, "graders")) {  // which fails such a grader there
    const std::string explanation = StringAt(grader, "explanation");
    if (answer.error.empty() && explanation.find("judge call failed") != std::string::npos)
      answer.error = ExcerptLine(explanation, 200);
  }
  if (!answer.error.empty()) return answer;
  const std::optional<double> score = NonNegativeAt(run, "score");
  if (!score) return std::nullopt;
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
    results.AddNote(fmt::format("The evaluation ended early{}, so that cases or runs are missing.",
                                reason.empty() ? "" : fmt::format(" ({})", reason)));
  }
  results.AddNote(fmt::format("An answer passes if its score is at least {:.4g} %{}.", options.pass_at * 100.0,
                              options.pass_at >= 1.0 ? ": all its graders that count pass" : " (--pass-at)"));
  if (const double threshold = JsonGet(Member(json, "suite"), "threshold", 1.0); threshold < 1.0)
    results.AddNote(
        fmt::format("There, a case passes if the mean of its scores is at least {:.4g} %.", threshold * 100));
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
  std::size_t empty = 0;
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
        std::optional<ImportedAnswer> answer = AnswerOfRun(run, options);
        if (!answer) {
          ++empty;
          continue;
        }
        answer->case_id = id;
        answer->arm = *arm;
        if (*arm == Arm::kSkill && !problem.empty()) {
          answer->error = problem;
          answer->checks.clear();
        }
        results.AddCase(id, StringAt(one, "promptMarkdown"));
        results.answers.push_back(*std::move(answer));
      }
    }
  }
  if (results.answers.empty())
    return InputError(fmt::format("{}: no answer with or without the plugin; {}", source, LabelsHint(labels)));
  models.erase("");
  if (models.size() > 1) results.AddNote("Cases were given to different models; they are judged together.");
  for (ImportedAnswer& answer : results.answers) answer.model = models.size() == 1 ? *models.begin() : "";
  if (empty > 0) results.AddNote(fmt::format("{} with neither a score nor an error left out.", Counted(empty, "run")));
  return results;
}

}  // namespace upskill
