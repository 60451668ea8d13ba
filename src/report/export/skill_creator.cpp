// SPDX-License-Identifier: Apache-2.0
#include "report/export/skill_creator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "eval/plan/prompts.h"
#include "report/export/benchmark_json.h"
#include "report/export/derived_file.h"
#include "report/export/markdown.h"
#include "report/terminal/figures.h"
#include "util/folder.h"
#include "util/percent.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A case's file, with the answers' checks as assertions.
Json EvalMetadata(const JudgedRun& run, std::size_t student, std::size_t case_index) {
  const Case& test_case = run.plan().suite.cases[case_index];
  Json assertions = Json::array();
  for (const Arm arm : run.plan().arms) {
    for (const SamplePtr& sample : run.data.samples(student, arm, case_index)) {
      if (!assertions.empty()) break;
      if (!sample->ok()) continue;
      for (const CheckResult& check : sample->checks) assertions.push_back(check.name);
    }
  }
  return {{"eval_id", case_index + 1},
          {"eval_name", test_case.id},
          {"prompt", UserMessage(test_case)},
          {"assertions", std::move(assertions)}};
}

bool HasAnswer(const JudgedRun& run, std::size_t student, Arm arm, std::size_t case_index) {
  const SampleList samples = run.data.samples(student, arm, case_index);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.final(i).answered) return true;
  }
  return false;
}

// The viewer looks for eval_metadata.json beside run-K, the script that aggregates above the configurations.
Status WriteEvalMetadata(const JudgedRun& run, std::size_t student, const Folder& folder) {
  for (std::size_t i = 0; i < run.plan().suite.cases.size(); ++i) {
    const std::string text = DumpJsonIndented(EvalMetadata(run, student, i)) + "\n";
    const fs::path place = EvalFolderName(i, run.plan().suite.cases[i].id);
    RETURN_IF_ERROR(WriteDerivedFile(folder, place / "eval_metadata.json", text));
    for (const Arm arm : run.plan().arms) {
      if (!HasAnswer(run, student, arm, i)) continue;
      RETURN_IF_ERROR(WriteDerivedFile(folder, place / ConfigurationName(arm) / "eval_metadata.json", text));
    }
  }
  return {};
}

Status WriteIteration(const JudgedRun& run, std::size_t student, const Folder& folder) {
  RETURN_IF_ERROR(WriteEvalMetadata(run, student, folder));
  RETURN_IF_ERROR(WriteAnswerFolders(run, student, folder, RoundFolders::kAlways));
  const Json benchmark = SkillCreatorBenchmark(run, student);
  RETURN_IF_ERROR(WriteDerivedFile(folder, "benchmark.json", DumpJsonIndented(benchmark) + "\n"));
  return WriteDerivedFile(folder, "benchmark.md", BenchmarkMarkdown(benchmark));
}

// The models of all runs by their model strings, in the order in which they occur.
std::vector<Student> StudentsOf(std::span<const JudgedRun> runs) {
  std::vector<Student> students;
  for (const JudgedRun& run : runs) {
    for (const Student& student : run.plan().students) {
      const bool is_known = std::any_of(students.begin(), students.end(),
                                        [&](const Student& known) { return known.spec == student.spec; });
      if (!is_known) students.push_back(student);
    }
  }
  return students;
}

Status CheckRuns(std::span<const JudgedRun> runs) {
  for (const JudgedRun& run : runs) {
    if (run.summary.answered == 0)
      return InputError(fmt::format("run {} has no answers, so there is nothing to write", run.plan().run));
    if (run.plan().skill.name != runs.front().plan().skill.name) {
      return InputError(
          fmt::format("the iterations of a workspace are those of one skill, but these runs are of {} and of {}; write "
                      "a workspace for each",
                      runs.front().plan().skill.name, run.plan().skill.name));
    }
  }
  return {};
}

Status WriteWorkspace(std::span<const JudgedRun> runs, const Folder& workspace) {
  const std::vector<Student> students = StudentsOf(runs);
  for (std::size_t i = 0; i < students.size(); ++i) {
    const fs::path of_student = students.size() > 1 ? StudentFolderName(i, students[i].name) : "";
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const std::vector<Student>& of_run = runs[k].plan().students;
      const auto found = std::find_if(of_run.begin(), of_run.end(),
                                      [&](const Student& student) { return student.spec == students[i].spec; });
      if (found == of_run.end()) continue;
      const fs::path name = of_student / fmt::format("iteration-{}", k + 1);
      ASSIGN_OR_RETURN(const Folder folder, workspace.MakeBelow(name, Durability::kNotSynced));
      RETURN_IF_ERROR(WriteIteration(runs[k], static_cast<std::size_t>(found - of_run.begin()), folder));
    }
  }
  return {};
}

// "85% ± 5%", "–" where it is unknown.
std::string StatisticsCell(const Json& configuration, const char* key) {
  const Json* value = FindMember(configuration, key);
  if (value == nullptr) return "–";
  const double mean = JsonGet(*value, "mean", 0.0);
  const double deviation = JsonGet(*value, "stddev", 0.0);
  const std::string name = key;
  if (name == "pass_rate") return fmt::format("{:.0f}% ± {:.0f}%", WholePercent(mean), WholePercent(deviation));
  if (name == "time_seconds") return fmt::format("{:.1f} s ± {:.1f} s", mean, deviation);
  return fmt::format("{:.0f} ± {:.0f}", mean, deviation);
}

// A time as it is, or whatever else is in its place as text.
std::string TimeText(const std::string& time) {
  return time.find_first_not_of("0123456789-:.+TZ") == std::string::npos ? time : MarkdownText(time);
}

// "with_skill" as a column's heading.
std::string ConfigurationLabel(std::string name) {
  bool starts_word = true;
  for (char& c : name) {
    if (c == '_') c = ' ';
    if (starts_word && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    starts_word = c == ' ';
  }
  return name;
}

}  // namespace

Json SkillCreatorBenchmark(const JudgedRun& run, std::size_t student) {
  Json benchmark = BenchmarkToJson(run, student);
  Json* const delta = FindMember(benchmark["run_summary"], "delta");
  if (delta == nullptr) return benchmark;
  const auto as_text = [&](const char* key, int digits) {
    if (Json* const value = FindMember(*delta, key)) *value = fmt::format("{:+.{}f}", value->get<double>(), digits);
  };
  as_text("pass_rate", 2);
  as_text("time_seconds", 1);
  as_text("tokens", 0);
  return benchmark;
}

std::string BenchmarkMarkdown(const Json& benchmark) {
  const Json& metadata = Member(benchmark, "metadata");
  const Json& summary = Member(benchmark, "run_summary");
  std::string out = fmt::format(
      "# Skill Benchmark: {}\n\n**Model**: {}  \n**Date**: {}  \n", MarkdownText(StringAt(metadata, "skill_name")),
      MarkdownText(StringAt(metadata, "executor_model")), TimeText(StringAt(metadata, "timestamp")));
  out += fmt::format("**Evals**: {}, {} runs each per configuration\n\n## Summary\n\n| Metric |",
                     Member(metadata, "evals_run").size(), JsonGet(metadata, "runs_per_configuration", 0));
  std::string line = "|---|";
  std::vector<std::string> configurations;
  for (const auto& [name, value] : summary.items()) {
    if (name == "delta") continue;
    configurations.push_back(name);
    out += fmt::format(" {} |", ConfigurationLabel(name));
    line += "--:|";
  }
  const Json* const delta = FindMember(summary, "delta");
  out += delta != nullptr ? fmt::format(" Delta |\n{}--:|\n", line) : fmt::format("\n{}\n", line);
  for (const auto& [key, title] :
       {std::pair{"pass_rate", "Pass Rate"}, {"time_seconds", "Time"}, {"tokens", "Tokens"}}) {
    out += fmt::format("| {} |", title);
    for (const std::string& name : configurations) out += fmt::format(" {} |", StatisticsCell(summary[name], key));
    if (delta != nullptr) {
      const std::string text = StringAt(*delta, key);
      out += fmt::format(" {} |", text.empty() ? "–" : text);
    }
    out += '\n';
  }
  const Json& notes = Member(benchmark, "notes");
  if (notes.empty()) return out;
  out += "\n## Notes\n\n";
  for (const Json& note : notes) out += fmt::format("- {}\n", MarkdownText(note.get<std::string>(), 2000));
  return out;
}

Status ExportToSkillCreator(std::span<const JudgedRun> runs, const fs::path& dir) {
  RETURN_IF_ERROR(CheckRuns(runs));
  std::error_code code;
  if (fs::exists(fs::symlink_status(dir, code)))
    return InputError(
        fmt::format("{} already exists and is left unchanged; name another folder with -o", dir.string()));
  ASSIGN_OR_RETURN(const Folder workspace, Folder::Make(dir));
  return WriteWorkspace(runs, workspace).With(fmt::format("{} is incomplete; remove it", dir.string()));
}

}  // namespace upskill
