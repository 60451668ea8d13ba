// SPDX-License-Identifier: Apache-2.0
#include "report/export/benchmark_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "report/export/derived_file.h"
#include "report/terminal/figures.h"
#include "report/terminal/table.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Four digits after the point, as skill-creator rounds.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::size_t PassedChecks(const Sample& sample) {
  return static_cast<std::size_t>(
      std::count_if(sample.checks.begin(), sample.checks.end(),
                    [](const CheckResult& check) { return check.outcome == Outcome::kPass; }));
}

double RateOf(std::size_t passed, std::size_t checks) {
  return checks == 0 ? 0.0 : Rounded(static_cast<double>(passed) / static_cast<double>(checks));
}

double CheckRate(const Sample& sample) { return RateOf(PassedChecks(sample), sample.checks.size()); }

std::optional<std::int64_t> TokensOf(const Sample& sample) {
  if (!ReportsTokens(sample)) return std::nullopt;
  return sample.response.usage.prompt() + sample.response.usage.output;
}

Json Assertions(const Sample& sample) {
  Json list = Json::array();
  for (const CheckResult& check : sample.checks) {
    std::string evidence = check.detail;
    if (check.outcome == Outcome::kPass && evidence.empty()) evidence = "the check passed";
    if (check.outcome == Outcome::kSkip) evidence.insert(0, "not checked: ");
    list.push_back(
        {{"text", check.name}, {"passed", check.outcome == Outcome::kPass}, {"evidence", std::move(evidence)}});
  }
  return list;
}

// One property of all answers in one configuration; null where it is unknown for some.
Json Statistics(const std::vector<double>& values, std::size_t answers) {
  if (values.size() < answers) return nullptr;
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = values.size() < 2 ? 0.0 : std::sqrt(squares / (n - 1.0));
  return {{"mean", Rounded(mean)},
          {"stddev", Rounded(deviation)},
          {"min", Rounded(*std::min_element(values.begin(), values.end()))},
          {"max", Rounded(*std::max_element(values.begin(), values.end()))}};
}

// The skill's arm first, then the one that it is compared with: viewers show the first two.
std::vector<Arm> ArmsBySkill(const Plan& plan) {
  std::vector<Arm> arms = plan.arms;
  const std::optional<Arm> reference = ReferenceArm(plan);
  std::stable_sort(arms.begin(), arms.end(), [&](Arm a, Arm b) {
    const auto place = [&](Arm arm) { return arm == Arm::kSkill ? 0 : arm == reference ? 1 : 2; };
    return place(a) < place(b);
  });
  return arms;
}

// The figures of the answers.
std::vector<const SampleFigures*> AnswersOf(const JudgedRun& run, std::size_t student, Arm arm) {
  std::vector<const SampleFigures*> answers;
  const SampleList samples = run.data.samples(student, arm);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.final(i).answered) answers.push_back(samples.final(i).figures);
  }
  return answers;
}

Json Configuration(const std::vector<const SampleFigures*>& answers) {
  std::vector<double> rates;
  std::vector<double> seconds;
  std::vector<double> tokens;
  for (const SampleFigures* answer : answers) {
    rates.push_back(RateOf(answer->checks_passed, answer->checks));
    seconds.push_back(Rounded(answer->seconds));
    if (answer->reports_tokens()) tokens.push_back(static_cast<double>(answer->prompt_tokens + answer->output_tokens));
  }
  return {{"pass_rate", Statistics(rates, answers.size())},
          {"time_seconds", Statistics(seconds, answers.size())},
          {"tokens", Statistics(tokens, answers.size())}};
}

Json RunEntry(const Sample& sample, std::size_t case_index) {
  const std::size_t passed = PassedChecks(sample);
  Json notes = Json::array();
  if (sample.response.stop != StopReason::kEnd)
    notes.push_back(fmt::format("the answer ended with: {}", StopReasonName(sample.response.stop)));
  return {{"eval_id", case_index + 1},
          {"eval_name", sample.case_id},
          {"configuration", ConfigurationName(sample.arm)},
          {"run_number", sample.round + 1},
          {"result",
           {{"pass_rate", CheckRate(sample)},
            {"passed", passed},
            {"failed", sample.checks.size() - passed},
            {"total", sample.checks.size()},
            {"time_seconds", Rounded(sample.response.seconds)},
            {"tokens", JsonOrNull(TokensOf(sample))},
            {"tool_calls", sample.response.tool_calls.size()},
            {"errors", 0}}},
          {"expectations", Assertions(sample)},
          {"notes", std::move(notes)}};
}

std::unordered_map<std::string, std::size_t> CaseNumbers(const Plan& plan) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) numbers.emplace(plan.suite.cases[i].id, i);
  return numbers;
}

// "+0.50" and 0.5 alike.
std::optional<double> NumberOrText(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  try {
    return std::stod(value.get<std::string>());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::size_t CountOf(const Json& object, const char* key) {
  constexpr double kMax = 1e12;
  const double value = JsonGet(object, key, 0.0);
  return std::isfinite(value) ? static_cast<std::size_t>(std::clamp(value, 0.0, kMax)) : 0;
}

// Rows of runs[]: an arm of each configuration; its answers passed when all their expectations did.
std::vector<RunRow> RowsOfRuns(const Json& runs, const BenchmarkSummary& summary) {
  RunRow row;
  row.created = summary.timestamp;
  row.skill = summary.skill;
  row.student.student = {summary.model, summary.model, summary.model};
  for (const Json& entry : runs) {
    const std::string configuration = JsonGet<std::string>(entry, "configuration", "");
    const bool with = configuration == "with_skill" || configuration == "new_skill";
    const bool without = configuration == "without_skill" || configuration == "old_skill";
    const Json* result = FindMember(entry, "result");
    if ((!with && !without) || result == nullptr) continue;
    ArmSummary& arm = row.student.arms[with                           ? Arm::kSkill
                                       : configuration == "old_skill" ? Arm::kPrevious
                                                                      : Arm::kBaseline];
    const std::size_t total = CountOf(*result, "total");
    const std::size_t passed = std::min(total, CountOf(*result, "passed"));
    ++arm.cells;
    ++arm.answered;
    arm.checks_total += total;
    arm.checks_passed += passed;
    arm.passed += total > 0 && passed == total ? 1 : 0;
    const std::size_t tokens = CountOf(*result, "tokens");
    arm.output_tokens += static_cast<std::int64_t>(tokens);
    arm.tokens_known += tokens > 0 ? 1 : 0;
    arm.seconds += std::max(0.0, JsonGet(*result, "time_seconds", 0.0));
  }
  for (const auto& [arm, entry] : row.student.arms) {
    row.cells += entry.cells;
    row.answered += entry.answered;
  }
  if (row.cells == 0) return {};
  const ArmSummary* after = ArmOf(row.student, Arm::kSkill);
  const ArmSummary* before = ArmOf(row.student, Arm::kBaseline);
  if (before == nullptr) before = ArmOf(row.student, Arm::kPrevious);
  if (after != nullptr && before != nullptr) row.student.lift = *after->rate() - *before->rate();
  return {row};
}

// "85 % ± 5"
std::string MeanText(const std::map<std::string, MeanAndDeviation>& values, const char* key, double scale,
                     const char* unit) {
  const auto found = values.find(key);
  if (found == values.end()) return "–";
  return fmt::format("{:.4g}{} ± {:.3g}", found->second.mean * scale, unit, found->second.stddev * scale);
}

}  // namespace

const char* ConfigurationName(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "without_skill";
    case Arm::kSkill:
      return "with_skill";
    case Arm::kPlacebo:
      return "placebo";
    case Arm::kPrevious:
      return "old_skill";
  }
  return "";
}

std::string FileNamePart(const std::string& id) {
  std::string slug;
  for (const char c : id) {
    const bool plain = IsAsciiAlphanumeric(c);
    if (plain) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  slug = slug.substr(0, 40);
  slug.erase(slug.find_last_not_of('-') + 1);
  return slug;
}

Json GradingToJson(const Sample& sample) {
  const std::size_t passed = PassedChecks(sample);
  const Json assertions = Assertions(sample);
  return {{"assertion_results", assertions},
          {"expectations", assertions},
          {"summary",
           {{"passed", passed},
            {"failed", sample.checks.size() - passed},
            {"total", sample.checks.size()},
            {"pass_rate", CheckRate(sample)}}}};
}

Json BenchmarkToJson(const JudgedRun& run, std::size_t student, bool with_runs) {
  const Plan& plan = run.plan();
  const std::unordered_map<std::string, std::size_t> numbers = CaseNumbers(plan);
  Json summary = Json::object();
  Json runs = Json::array();
  Json notes = Json::array();
  for (const Arm arm : ArmsBySkill(plan)) {
    const std::vector<const SampleFigures*> answers = AnswersOf(run, student, arm);
    const ArmSummary& counts = run.summary.students[student].arms.at(arm);
    if (counts.answered < counts.cells) {
      notes.push_back(fmt::format("{}: {} of {} cells are unanswered and left out", ConfigurationName(arm),
                                  counts.cells - counts.answered, counts.cells));
    }
    for (const SamplePtr& sample : with_runs ? run.data.samples(student, arm) : SampleList(run.data, {})) {
      if (sample->ok()) runs.push_back(RunEntry(*sample, numbers.at(sample->case_id)));
    }
    if (!answers.empty()) summary[ConfigurationName(arm)] = Configuration(answers);
  }
  const std::optional<Arm> reference = ReferenceArm(plan);
  if (reference && summary.contains("with_skill") && summary.contains(ConfigurationName(*reference))) {
    Json delta = Json::object();
    for (const char* key : {"pass_rate", "time_seconds", "tokens"}) {
      const Json& with = summary["with_skill"][key];
      const Json& without = summary[ConfigurationName(*reference)][key];
      const bool known = with.is_object() && without.is_object();
      delta[key] = known ? Json(Rounded(with["mean"].get<double>() - without["mean"].get<double>())) : Json(nullptr);
    }
    summary["delta"] = std::move(delta);
  }
  Json evals = Json::array();
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) evals.push_back(i + 1);
  if (!with_runs)
    notes.push_back("runs[] is left out: there are too many answers; samples.jsonl beside this folder has them");
  if (const std::optional<Verdict> word = WordOf(run, student))
    notes.push_back(fmt::format("verdict: {}", VerdictName(*word)));
  return {{"metadata",
           {{"skill_name", plan.skill.name},
            {"skill_path", plan.skill.folder},
            {"executor_model", plan.students[student].spec},
            {"analyzer_model", nullptr},
            {"timestamp", plan.created},
            {"evals_run", std::move(evals)},
            {"runs_per_configuration", run.summary.students[student].rounds}}},
          {"runs", std::move(runs)},
          {"run_summary", std::move(summary)},
          {"notes", std::move(notes)}};
}

std::string StudentFolderName(std::size_t student, const std::string& name) {
  const std::string slug = FileNamePart(name);
  return fmt::format("{}{}{}", student + 1, slug.empty() ? "" : "-", slug);
}

std::string EvalFolderName(std::size_t case_index, const std::string& case_id) {
  const std::string slug = FileNamePart(case_id);
  return fmt::format("eval-{}{}{}", case_index + 1, slug.empty() ? "" : "-", slug);
}

Status WriteAnswerFolders(const JudgedRun& run, std::size_t student, const Folder& folder, RoundFolders run_folders) {
  const std::unordered_map<std::string, std::size_t> numbers = CaseNumbers(run.plan());
  for (const Arm arm : run.plan().arms) {
    for (const SamplePtr& sample : run.data.samples(student, arm)) {
      if (!sample->ok()) continue;
      fs::path place = fs::path(EvalFolderName(numbers.at(sample->case_id), sample->case_id)) / ConfigurationName(arm);
      if (run_folders == RoundFolders::kAlways || run.plan().rounds > 1)
        place /= fmt::format("run-{}", sample->round + 1);
      RETURN_IF_ERROR(WriteDerivedFile(folder, place / "outputs" / "answer.md", sample->response.text));
      RETURN_IF_ERROR(
          WriteDerivedFile(folder, place / "grading.json", DumpJsonIndented(GradingToJson(*sample)) + "\n"));
      const Json timing = {{"total_tokens", JsonOrNull(TokensOf(*sample))},
                           {"duration_ms", std::llround(sample->response.seconds * 1000.0)},
                           {"total_duration_seconds", Rounded(sample->response.seconds)}};
      RETURN_IF_ERROR(WriteDerivedFile(folder, place / "timing.json", DumpJsonIndented(timing) + "\n"));
    }
  }
  return {};
}

Status WriteBenchmarkFolder(const JudgedRun& run, std::size_t student, const Folder& folder) {
  RETURN_IF_ERROR(WriteAnswerFolders(run, student, folder, RoundFolders::kIfSeveral));
  return WriteDerivedFile(folder, "benchmark.json", DumpJsonIndented(BenchmarkToJson(run, student)) + "\n");
}

Result<BenchmarkSummary> BenchmarkFromJson(const Json& json, const std::string& source) {
  const Json* summary = FindMember(json, "run_summary");
  const Json* runs = FindMember(json, "runs");
  if (summary == nullptr && runs == nullptr) return InputError(source + ": expected run_summary or runs");
  BenchmarkSummary benchmark;
  if (const Json* metadata = FindMember(json, "metadata")) {
    benchmark.skill = JsonGet<std::string>(*metadata, "skill_name", "");
    benchmark.model = JsonGet<std::string>(*metadata, "executor_model", "");
    benchmark.timestamp = JsonGet<std::string>(*metadata, "timestamp", "");
  }
  if (summary != nullptr && summary->is_object()) {
    for (const auto& [name, configuration] : summary->items()) {
      if (name == "delta") {
        if (const Json* delta = FindMember(configuration, "pass_rate"))
          benchmark.pass_rate_delta = NumberOrText(*delta);
        continue;
      }
      for (const char* key : {"pass_rate", "time_seconds", "tokens"}) {
        if (const Json* value = FindMember(configuration, key); value != nullptr && value->is_object()) {
          benchmark.configurations[name][key] = {JsonGet(*value, "mean", 0.0), JsonGet(*value, "stddev", 0.0)};
        }
      }
    }
  }
  if (runs != nullptr && runs->is_array()) benchmark.rows = RowsOfRuns(*runs, benchmark);
  return benchmark;
}

TerminalText BenchmarkText(const BenchmarkSummary& benchmark, const Style& style) {
  Table table({{"configuration", Table::Align::kLeft, true},
               {"checks passed", Table::Align::kRight},
               {"seconds", Table::Align::kRight},
               {"tokens", Table::Align::kRight}});
  for (const auto& [name, values] : benchmark.configurations) {
    table.AddRow({name, MeanText(values, "pass_rate", 100.0, " %"), MeanText(values, "time_seconds", 1.0, ""),
                  MeanText(values, "tokens", 1.0, "")});
  }
  TerminalText out =
      Tinted(style, Tint::kBold,
             TerminalText::EscapeLine(benchmark.skill.empty() ? "a benchmark.json without a name" : benchmark.skill)) +
      TerminalText::Format("{}{}\n", benchmark.model.empty() ? "" : "   ", benchmark.model) + table.Render(style);
  if (benchmark.pass_rate_delta)
    out += TerminalText::Format("difference  {} points of checks passed\n", PointsText(*benchmark.pass_rate_delta));
  return out;
}

}  // namespace upskill
