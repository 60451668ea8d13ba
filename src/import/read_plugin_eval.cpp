// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "import/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// The graders that explain a score, as the details of its check.
std::string FailedGraders(const Json& run) {
  std::string failed;
  for (const Json& grader : Member(run, "graders")) {
    if (JsonGet(grader, "passed", true)) continue;
    constexpr std::size_t kMostBytes = 1000;
    if (failed.size() > kMostBytes) return failed + ", …";
    failed += (failed.empty() ? "" : ", ") + ExcerptLine(StringAt(grader, "name"), 80);
  }
  return failed;
}

// An entry of an arm. Nothing: it holds neither a score nor an error.
std::optional<ImportedAnswer> AnswerOfRun(const Json& run, const ImportOptions& options) {
  ImportedAnswer answer;
  answer.error = StringAt(run, "error");
  if (const Json* error = FindMember(run, "error"); error != nullptr && error->is_object())
    answer.error = StringAt(*error, "message").empty() ? "error" : StringAt(*error, "message");
  answer.seconds = NonNegativeAt(run, "durationSeconds").value_or(0.0);
  answer.cost_usd = NonNegativeAt(run, "costUsd");
  if (answer.error.empty() && Member(run, "skippedPaidGraders") == true)
    answer.error = "graders that cost were skipped";
  if (!answer.error.empty()) return answer;
  const std::optional<double> score = NonNegativeAt(run, "score");
  const Json& passed = Member(run, "passed");
  if (score) {
    answer.checks.push_back(ScoreCheck(*score, options.pass_at));
  } else if (passed.is_boolean()) {
    answer.checks.push_back({"passed", passed.get<bool>() ? Outcome::kPass : Outcome::kFail, ""});
  } else {
    return std::nullopt;
  }
  CheckResult& check = answer.checks.front();
  if (const std::string failed = FailedGraders(run); check.outcome == Outcome::kFail && !failed.empty())
    check.detail += (check.detail.empty() ? "failed: " : "; failed: ") + failed;
  return answer;
}

std::string PluginNameIn(const Json& json) {
  for (const char* key : {"plugin", "target"}) {
    if (const Json* plugin = FindMember(json, key)) {
      std::string name = plugin->is_string() ? plugin->get<std::string>() : StringAt(*plugin, "name");
      const std::size_t end = name.find_last_not_of('/');
      if (end == std::string::npos) continue;
      name.erase(end + 1);
      return name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1);
    }
  }
  const Json& plugins = Member(Member(json, "suite"), "plugins");
  return plugins.is_array() && !plugins.empty() ? StringAt(plugins[0], "name") : StringAt(json, "pluginName");
}

// Why the arm with the plugin ran without it; empty: it didn't.
std::string ProblemOfPlugins(const Json& json) {
  const Json& plugins = Member(Member(json, "suite"), "plugins");
  std::string problem = StringAt(json, "problem");
  for (const Json& plugin : plugins) {
    if (problem.empty()) problem = StringAt(plugin, "problem");
  }
  return problem;
}

std::string ModelIn(const Json& json, const Json& one) {
  for (const auto& [object, key] :
       {std::pair{&one, "model"}, std::pair{&one, "modelOverride"}, std::pair{&Member(json, "suite"), "modelOverride"},
        std::pair{&json, "modelOverride"}, std::pair{&json, "model"}}) {
    if (std::string model = StringAt(*object, key); !model.empty()) return model;
  }
  return "";
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
  results.skill = PluginNameIn(json);
  results.time = StringAt(json, "timestamp").empty() ? StringAt(json, "startedAt") : StringAt(json, "timestamp");
  const std::string problem = ProblemOfPlugins(json);
  if (!problem.empty())
    results.AddNote(fmt::format("The plugin wasn't there ({}): its answers don't count.", ExcerptLine(problem, 80)));
  if (Member(json, "partial") == true || Member(json, "aborted") == true)
    results.AddNote("The evaluation ended early, so that cases or runs are missing.");
  std::set<std::string> models;
  std::set<std::string> seen;
  std::vector<std::string> labels;
  std::size_t empty = 0;
  std::size_t position = 0;
  for (const Json& one : Member(json, "cases")) {
    ++position;
    std::string id = StringAt(one, "name");
    if (id.empty()) id = IdText(Member(one, "id"));
    if (id.empty()) id = fmt::format("case-{}", position);
    models.insert(ModelIn(json, one));
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
        results.AddCase(id, StringAt(one, one.contains("promptMarkdown") ? "promptMarkdown" : "prompt"));
        results.answers.push_back(*std::move(answer));
      }
    }
  }
  if (results.answers.empty())
    return InputError(fmt::format("{}: no answer with or without the plugin; {}", source, LabelsHint(labels)));
  models.erase("");
  if (models.size() > 1) results.AddNote("Cases were given to different models; they are judged together.");
  for (ImportedAnswer& answer : results.answers) answer.model = models.size() == 1 ? *models.begin() : "";
  results.AddNote(fmt::format("An answer passes if its score is at least {:.4g} %{}.", options.pass_at * 100.0,
                              options.pass_at >= 1.0 ? ", the file's own default threshold" : " (--pass-at)"));
  if (empty > 0) results.AddNote(fmt::format("{} with neither a score nor an error left out.", Counted(empty, "run")));
  return results;
}

}  // namespace upskill
