// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/known_student.h"

#include <algorithm>
#include <map>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "eval/plan/prompts.h"

namespace upskill {
namespace {

struct Tally {
  double passed = 0.0;
  double answered = 0.0;
};

struct Sums {
  KnownStudent student;
  double prompt_tokens = 0.0;
  double output_tokens = 0.0;
  std::size_t tokens_known = 0;
  double usd = 0.0;
  std::size_t usd_known = 0;
  std::vector<Tally> baseline;
};

// The tokens of an answer under another limit.
double OutputUnder(const Sample& sample, double max_tokens) {
  const auto output = static_cast<double>(sample.response.usage.output);
  if (sample.response.work) return output;  // of all turns
  if (sample.response.stop == StopReason::kLength && max_tokens > output) return 0.5 * (output + max_tokens);
  return std::min(output, max_tokens);
}

void Add(const Sample& sample, std::size_t case_index, double max_tokens, Sums& sums) {
  KnownStudent& student = sums.student;
  ++student.answers;
  sums.prompt_tokens += static_cast<double>(sample.response.usage.prompt());
  const auto output = static_cast<double>(sample.response.usage.output);
  const double expected = OutputUnder(sample, max_tokens);
  sums.output_tokens += expected;
  sums.tokens_known += ReportsTokens(sample) ? 1 : 0;
  student.seconds += sample.response.seconds * (output > 0.0 ? expected / output : 1.0);
  if (sample.response.cost_usd && expected == output) {
    sums.usd += *sample.response.cost_usd;
    ++sums.usd_known;
  }
  if (sample.arm != Arm::kBaseline) return;
  ++student.baseline_answers;
  Tally& tally = sums.baseline[case_index];
  tally.answered += 1.0;
  if (sample.passed()) tally.passed += 1.0;
}

KnownStudent Finish(Sums sums) {
  KnownStudent& student = sums.student;
  if (student.answers == 0) return student;
  const auto answers = static_cast<double>(student.answers);
  if (sums.tokens_known == student.answers) {
    student.prompt_tokens = sums.prompt_tokens / answers;
    student.output_tokens = sums.output_tokens / answers;
  }
  student.seconds /= answers;
  if (sums.usd_known == student.answers) student.usd = sums.usd / answers;
  if (student.baseline_answers == 0) return student;
  double passed = 0.0;
  for (const Tally& tally : sums.baseline) passed += tally.passed;
  student.baseline_rate = passed / static_cast<double>(student.baseline_answers);
  for (const Tally& tally : sums.baseline)
    student.baseline.push_back((tally.passed + student.baseline_rate) / (tally.answered + 1.0));
  return student;
}

bool IsOwnAnswer(const Sample& sample, const std::string& model) {
  return sample.student == model && sample.ok() && sample.cached_from.empty();
}

// Of the newest run that has answers of the student.
std::optional<double> SecondsPerToken(const std::vector<std::filesystem::path>& runs, const std::string& model) {
  constexpr int kMostRuns = 20;
  int looked_at = 0;
  for (auto run = runs.rbegin(); run != runs.rend() && looked_at < kMostRuns; ++run) {
    const Result<Plan> plan = LoadPlan(*run);
    if (!plan || std::none_of(plan->students.begin(), plan->students.end(),
                              [&](const Student& student) { return student.spec == model; }))
      continue;
    ++looked_at;
    const Result<RunData> data = RunData::Read(*run);
    if (!data) continue;
    double seconds = 0.0;
    double tokens = 0.0;
    for (const SamplePtr& sample : data->samples()) {
      if (!IsOwnAnswer(*sample, model)) continue;
      seconds += sample->response.seconds;
      tokens += static_cast<double>(sample->response.usage.output);
    }
    if (seconds > 0.0 && tokens > 0.0) return seconds / tokens;
  }
  return std::nullopt;
}

}  // namespace

Result<KnownStudent> FindKnownStudent(const std::filesystem::path& runs_dir, const std::string& model,
                                      const Suite& suite, int max_tokens) {
  Sums sums;
  sums.baseline.resize(suite.cases.size());
  std::map<std::string, std::size_t> wanted;  // by user message
  for (std::size_t i = 0; i < suite.cases.size(); ++i) wanted.emplace(UserMessage(suite.cases[i]), i);
  const std::vector<std::filesystem::path> runs = FindRuns(runs_dir);
  for (const std::filesystem::path& run : runs) {
    Result<Plan> plan = LoadPlan(run);
    if (!plan) continue;
    std::map<std::string, std::size_t> cases;  // by id in that run
    for (const Case& test_case : plan->suite.cases) {
      if (const auto found = wanted.find(UserMessage(test_case)); found != wanted.end())
        cases.emplace(test_case.id, found->second);
    }
    if (cases.empty()) continue;
    const Result<RunData> data = RunData::Read(run);
    if (!data) continue;
    for (const SamplePtr& sample : data->samples()) {
      const auto found = cases.find(sample->case_id);
      if (found == cases.end() || !IsOwnAnswer(*sample, model)) continue;
      Add(*sample, found->second, max_tokens, sums);
    }
  }
  KnownStudent student = Finish(std::move(sums));
  if (student.answers == 0) student.seconds_per_token = SecondsPerToken(runs, model);
  return student;
}

}  // namespace upskill
