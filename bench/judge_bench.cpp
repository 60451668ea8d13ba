// SPDX-License-Identifier: Apache-2.0
// The judgement of a run with --stop-when-decided while it grows to 100,000 samples of 10 students, with answers of
// about 2 kB: each round is judged for each student when it is complete. No verdict is ever settled, so every round is
// needed. One argument: how many of the 100 rounds are judged (default: all; with fewer
// the evidence of the rounds between is computed in one look, and the first target does not apply).
// Prints ratios; exits with 1 when a target is missed.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "eval/judged_run.h"
#include "eval/plan.h"
#include "eval/run_data.h"
#include "eval/verdict.h"
#include "util/rng.h"

namespace upskill {
namespace {

constexpr int kStudents = 10;
constexpr int kCases = 50;
constexpr int kRounds = 100;
constexpr std::size_t kAnswerBytes = 2000;

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A line of /proc/self/status, in bytes.
double StatusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == name) status >> kilobytes;
  }
  return kilobytes * 1024;
}

Plan MakePlan() {
  Plan plan;
  for (int i = 0; i < kStudents; ++i) {
    const std::string name = fmt::format("student-{}", i);
    plan.students.push_back({name, name, name});
  }
  for (int i = 0; i < kCases; ++i) {
    Case& test_case = plan.suite.cases.emplace_back();
    test_case.id = fmt::format("case-{}", i);
    test_case.input = fmt::format("question {}", i);
  }
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = kRounds;
  plan.verdict.margin = 0.001;
  plan.stop_when_decided = true;
  return plan;
}

// Half of the answers pass, with the skill and without.
Sample MakeSample(const Plan& plan, std::size_t student, std::size_t case_index, Arm arm, int round, Rng& rng) {
  Sample sample;
  sample.key = std::string(64, 'k');
  sample.student = plan.students[student].spec;
  sample.case_id = plan.suite.cases[case_index].id;
  sample.arm = arm;
  sample.round = round;
  sample.time = "2026-11-22T10:00:00Z";
  sample.response.text = fmt::format("{} ", rng.Next()) + std::string(kAnswerBytes, 'x');
  sample.response.usage = {300, 0, 0, 500, 0};
  sample.response.seconds = 1.0;
  // Rounds alternate, so that neither side ever collects evidence.
  const bool passes = (case_index + static_cast<std::size_t>(round) + (arm == Arm::kSkill ? 1 : 0)) % 2 == 0;
  sample.checks = {{"contains \"kernel\"", passes ? Outcome::kPass : Outcome::kFail, ""}};
  return sample;
}

struct Figures {
  double pass = 0.0;    // seconds of one pass over the samples
  double judged = 0.0;  // seconds of judging one round for all students, on average
  double at_end = 0.0;  // seconds of judging the whole run once
  double held = 0.0;    // bytes of the whole run in memory
  double peak = 0.0;    // of the process
  int settled = 0;
};

double SecondsOfPass(const RunData& data) {
  constexpr int kTimes = 5;
  std::int64_t tokens = 0;
  const double start = ProcessorSeconds();
  for (int i = 0; i < kTimes; ++i) {
    for (const Sample* sample : data.samples()) tokens += sample->passed() ? sample->response.usage.output : 1;
  }
  const double seconds = (ProcessorSeconds() - start) / kTimes;
  return tokens > 0 ? seconds : 0.0;
}

Figures Measure(int judged_rounds) {
  Figures figures;
  Rng rng(1);
  RunData data(MakePlan());
  VerdictWatch watch(data);
  int judged = 0;
  const double before = StatusBytes("VmRSS:");
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t student = 0; student < kStudents; ++student) {
      for (std::size_t i = 0; i < kCases; ++i) {
        for (const Arm arm : data.plan().arms) data.Add(MakeSample(data.plan(), student, i, arm, round, rng));
      }
    }
    if ((round + 1) * judged_rounds / kRounds == round * judged_rounds / kRounds) continue;
    const double start = ProcessorSeconds();
    for (std::size_t student = 0; student < kStudents; ++student)
      figures.settled += watch.IsSettledAfter(round + 1, student) ? 1 : 0;
    figures.judged += ProcessorSeconds() - start;
    ++judged;
  }
  figures.judged /= judged;
  figures.held = StatusBytes("VmRSS:") - before;
  figures.pass = SecondsOfPass(data);
  const double start = ProcessorSeconds();
  const JudgedRun run = Judge(std::move(data));
  figures.at_end = ProcessorSeconds() - start;
  figures.peak = StatusBytes("VmHWM:");
  figures.settled += IsSettled(run.verdicts.front()) ? 1 : 0;
  return figures;
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  const int judged_rounds = argc > 1 ? std::atoi(argv[1]) : upskill::kRounds;
  if (judged_rounds < 1 || judged_rounds > upskill::kRounds) {
    fmt::print(stderr, "usage: judge_bench [ROUNDS], 1 to {}\n", upskill::kRounds);
    return 2;
  }
  const upskill::Figures figures = upskill::Measure(judged_rounds);
  fmt::print("{:8.2f}  a round of judging ({:.1f} ms) / a pass over the samples ({:.1f} ms)  (<= 3)\n",
             figures.judged / figures.pass, figures.judged * 1e3, figures.pass * 1e3);
  fmt::print("{:8.2f}  the judgement of the whole run ({:.1f} ms) / a pass over the samples\n",
             figures.at_end / figures.pass, figures.at_end * 1e3);
  fmt::print("{:8.2f}  peak memory ({:.0f} MB) / the samples and their index ({:.0f} MB)  (<= 1.1)\n",
             figures.peak / figures.held, figures.peak / 1e6, figures.held / 1e6);
  if (figures.settled > 0) fmt::print("{} verdicts were settled: the run would have stopped\n", figures.settled);
  const bool fast = judged_rounds < upskill::kRounds || figures.judged / figures.pass <= 3.0;
  return fast && figures.peak / figures.held <= 1.1 && figures.settled == 0 ? 0 : 1;
}
