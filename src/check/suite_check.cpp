// SPDX-License-Identifier: Apache-2.0
#include "check/suite_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "check/answer_files.h"
#include "util/fences.h"
#include "util/text.h"
#include "util/work_pool.h"

namespace upskill {
namespace {

using Judged = AnswerReport::Word;

bool Any(const std::vector<CheckResult>& results, Outcome outcome) {
  return std::any_of(results.begin(), results.end(), [&](const CheckResult& r) { return r.outcome == outcome; });
}

void JudgeRight(AnswerReport& report) {
  for (const CheckResult& result : report.results) {
    if (result.outcome != Outcome::kFail) continue;
    report.word = Judged::kNotAsExpected;
    report.problem = fmt::format("should pass, but {}: {}", result.name, result.detail);
    return;
  }
  report.word = Any(report.results, Outcome::kSkip) ? Judged::kNotChecked : Judged::kAsExpected;
}

void JudgeWrong(const std::string& fails, AnswerReport& report) {
  const bool skipped = Any(report.results, Outcome::kSkip);
  if (!Any(report.results, Outcome::kFail)) {
    report.word = skipped ? Judged::kNotChecked : Judged::kNotAsExpected;
    if (!skipped) report.problem = "should fail, but passes";
    return;
  }
  std::string seen;
  for (const CheckResult& result : report.results) {
    if (result.outcome != Outcome::kFail) continue;
    const std::string text = result.name + ": " + result.detail;
    if (text.find(fails) != std::string::npos) {
      report.word = Judged::kAsExpected;
      return;
    }
    seen += (seen.empty() ? "" : "; ") + text;
  }
  report.word = skipped ? Judged::kNotChecked : Judged::kNotAsExpected;
  if (!skipped)
    report.problem = fmt::format("should fail with \"{}\", but fails with {}", ExcerptLine(fails, 80), seen);
}

// One answer to be checked, and what came of it.
struct Job {
  std::size_t case_index = 0;
  const std::string* text = nullptr;
  const std::string* fails = nullptr;
  AnswerReport report;
};

std::vector<Job> JobsOf(const std::vector<AnswersOfCase>& answers) {
  static const std::string any_failure;
  std::vector<Job> jobs;
  const auto add = [&jobs](std::size_t case_index, const std::string& name, bool right, const std::string& text,
                           const std::string& fails) {
    Job job{case_index, &text, &fails, {}};
    job.report.name = name;
    job.report.right = right;
    jobs.push_back(std::move(job));
  };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const auto& [name, text] : answers[i].right) add(i, name, true, text, any_failure);
    for (const WrongAnswer& wrong : answers[i].wrong) add(i, wrong.name, false, wrong.text, wrong.fails);
  }
  return jobs;
}

void Conclude(Job& job) {
  if (job.report.right) {
    JudgeRight(job.report);
  } else {
    JudgeWrong(*job.fails, job.report);
  }
}

void RunJob(const CaseChecks& checks, const StopFlag* stop, Job& job) {
  job.report.results = checks.Run(*job.text, stop);
  for (const CheckResult& result : job.report.results) job.report.seconds += result.run ? result.run->seconds : 0.0;
  Conclude(job);
}

// Has the judge decide about the answers that wait for it.
void AskAbout(const Suite& suite, const std::vector<CaseChecks>& checks, const AskJudge& judge,
              std::vector<Job>& jobs) {
  std::vector<AnswerToJudge> answers;
  std::vector<Job*> waiting;
  for (Job& job : jobs) {
    AnswerToJudge answer{&suite.cases[job.case_index],
                         checks[job.case_index].QuestionsAbout(*job.text, job.report.results)};
    if (answer.questions.empty()) continue;
    answers.push_back(std::move(answer));
    waiting.push_back(&job);
  }
  if (answers.empty()) return;
  const std::vector<Result<Judgments>> judged = judge(answers);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    Job& job = *waiting[i];
    if (judged[i]) {
      job.report.results = checks[job.case_index].RunJudged(*job.text, std::move(job.report.results), *judged[i]);
      Conclude(job);
      continue;
    }
    for (CheckResult& result : job.report.results) {
      if (result.outcome == Outcome::kSkip) result.detail = judged[i].error().message;
    }
  }
}

// Runs all jobs, several at a time; false if the user has stopped before the end.
bool RunJobs(const std::vector<CaseChecks>& checks, const SuiteCheckOptions& options, std::vector<Job>& jobs) {
  std::mutex mutex;
  std::condition_variable wake;
  std::size_t done = 0;
  StopFlag at_once = 0;  // nothing is lost, so that commands needn't be waited for
  {
    WorkPool pool(std::max<std::size_t>(1, options.workers));
    for (Job& job : jobs) {
      pool.Post([&] {
        if (at_once.load() == 0) RunJob(checks[job.case_index], &at_once, job);
        const std::lock_guard lock(mutex);
        ++done;
        wake.notify_one();
      });
    }
    std::unique_lock lock(mutex);
    for (std::size_t told = 0; told < jobs.size();) {
      constexpr auto kLook = std::chrono::milliseconds(100);  // how often the stop flag is looked at
      wake.wait_for(lock, kLook, [&] { return done > told; });
      if (options.stop != nullptr && options.stop->load() > 0) at_once = 2;
      if (done == told) continue;
      told = done;
      lock.unlock();
      if (options.progress) options.progress(told, jobs.size());
      lock.lock();
    }
  }
  return options.stop == nullptr || options.stop->load() == 0;
}

// Checks that pass whatever the answer, among those that were tried.
void AddNeverFailing(const std::vector<CaseChecks>& checks, const Suite& suite, const StopFlag* stop,
                     SuiteReport& report) {
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    if (stop != nullptr && stop->load() > 0) {
      report.interrupted = true;
      return;
    }
    CaseReport& one = report.cases[i];
    std::vector<std::vector<CheckResult>> tried;
    tried.reserve(one.answers.size() + 2);
    for (const AnswerReport& answer : one.answers) tried.push_back(answer.results);
    tried.push_back(checks[i].Run("", stop));
    tried.push_back(checks[i].Run(suite.cases[i].input, stop));
    for (std::size_t check = 0; check < checks[i].size(); ++check) {
      const bool always = std::all_of(tried.begin(), tried.end(), [&](const std::vector<CheckResult>& results) {
        return check < results.size() && results[check].outcome == Outcome::kPass;
      });
      if (always && check < tried.back().size())
        one.weaknesses.push_back(fmt::format(
            "the check {} passes every answer that was tried, the empty one among them", tried.back()[check].name));
    }
  }
}

// The block of an answer that delivers a single file, as models write it that don't name their files.
std::vector<std::pair<std::string, std::string>> OtherForms(std::string_view answer) {
  const std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  const auto files = AnswerFiles(answer);
  if (blocks.size() != 1 || files.size() > 1) return {};
  const std::string name = files.empty() ? "" : files.begin()->first;
  const std::size_t dot = name.rfind('.');
  const std::string language = dot == std::string::npos ? "" : name.substr(dot + 1);
  const std::string fence = FenceFor(blocks.front().content);
  const std::string& code = blocks.front().content;
  const std::string tildes(fence.size(), '~');
  return {
      {"without a file name", fmt::format("{}{}\n{}{}\n", fence, language, code, fence)},
      {"without a file name and a language", fmt::format("{}\n{}{}\n", fence, code, fence)},
      {"between tildes", fmt::format("{}{}\n{}{}\n", tildes, language, code, tildes)},
      {"with text before and after it",
       fmt::format("Here is the code:\n\n{}{}\n{}{}\n\nIt does what you asked for.\n", fence, language, code, fence)}};
}

// A right answer whose code fails only because of how it is written down: models would fail the same way.
void AddFailingForms(const CaseChecks& checks, const std::vector<std::pair<std::string, std::string>>& right,
                     const StopFlag* stop, CaseReport& report) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (report.answers[i].word != Judged::kAsExpected) continue;
    for (const auto& [form, text] : OtherForms(right[i].second)) {
      for (const CheckResult& result : checks.Run(text, stop)) {
        if (result.outcome != Outcome::kFail) continue;
        report.weaknesses.push_back(
            fmt::format("{} passes, but fails as a block {}: {}: {}; say in the input how to name the file, or give "
                        "the case an \"output_file\"",
                        right[i].first, form, result.name, result.detail));
        return;
      }
    }
  }
}

Status AddWeaknesses(const Suite& suite, const std::vector<CaseChecks>& checks,
                     const std::vector<AnswersOfCase>& answers, const SuiteCheckOptions& options, SuiteReport& report) {
  std::map<std::string, std::string> first_with;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (options.stop != nullptr && options.stop->load() > 0) {
      report.interrupted = true;
      return {};
    }
    const Case& test_case = suite.cases[i];
    CaseReport& one = report.cases[i];
    ASSIGN_OR_RETURN(one.weaknesses, FindCaseWeaknesses(test_case, *options.sandbox));
    if (checks[i].executes()) {
      if (AllPass(checks[i].Run("", options.stop))) one.weaknesses.emplace_back("an empty answer passes");
      if (AllPass(checks[i].Run(test_case.input, options.stop)))
        one.weaknesses.emplace_back("an echo of the input passes");
      AddFailingForms(checks[i], answers[i].right, options.stop, one);
    }
    if (one.answers.empty()) one.weaknesses.emplace_back("no reference: nothing shows that an answer can pass");
    const auto [known, added] = first_with.emplace(test_case.input, test_case.id);
    if (!added) one.weaknesses.push_back(fmt::format("the same input as case \"{}\"", known->second));
  }
  AddNeverFailing(checks, suite, options.stop, report);
  return {};
}

}  // namespace

bool CaseReport::HasProblem() const {
  return std::any_of(answers.begin(), answers.end(),
                     [](const AnswerReport& answer) { return answer.word == Judged::kNotAsExpected; });
}

Result<SuiteReport> CheckSuite(const Suite& suite, const std::vector<AnswersOfCase>& answers,
                               const SuiteCheckOptions& options) {
  std::vector<CaseChecks> checks;
  SuiteReport report;
  for (const Case& test_case : suite.cases) {
    ASSIGN_OR_RETURN(CaseChecks made, CaseChecks::Make(test_case, *options.sandbox, options.judge != nullptr));
    checks.push_back(std::move(made));
    report.cases.push_back({test_case.id, {}, {}, {}, 0.0});
  }
  std::vector<Job> jobs = JobsOf(answers);
  report.interrupted = !RunJobs(checks, options, jobs);
  if (options.judge && !report.interrupted) {
    AskAbout(suite, checks, options.judge, jobs);
    report.interrupted = options.stop != nullptr && options.stop->load() > 0;
  }
  for (Job& job : jobs) {
    CaseReport& one = report.cases[job.case_index];
    for (const CheckResult& result : job.report.results) {
      if (result.outcome != Outcome::kSkip) continue;
      std::string skip = result.name + ": " + result.detail;
      if (std::find(one.skipped.begin(), one.skipped.end(), skip) == one.skipped.end())
        one.skipped.push_back(std::move(skip));
    }
    one.seconds += job.report.seconds;
    one.answers.push_back(std::move(job.report));
  }
  if (options.lint && !report.interrupted) RETURN_IF_ERROR(AddWeaknesses(suite, checks, answers, options, report));
  return report;
}

}  // namespace upskill
