// SPDX-License-Identifier: Apache-2.0
// The judgement of a run with --stop-when-decided while it grows to 100,000 samples of 10 students, with answers of
// about 2 kB: each round is judged for each student when it is complete, also if its verdict is settled already, and
// the whole run at its end. In three situations: nothing is ever decided; half of the students are decided, so that
// Holm's rule asks for several error probabilities; and 1 % of the answers with the skill time out before they are
// answered, so that the verdict is found three times. One argument: how many of the 100 rounds are judged (default:
// all; with fewer the evidence of the rounds between is computed in one look, and the first target does not apply).
// Prints ratios and processor time; exits with 1 when a target is missed.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "eval/verdict/verdict.h"
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

enum class Situation { kOpen, kHalfDecided, kErrors };

// Half of the answers pass, with the skill and without; those of a decided student do with the skill alone.
Sample MakeSample(const Plan& plan, std::size_t student, std::size_t case_index, Arm arm, int round, bool decided,
                  Rng& rng) {
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
  const bool alternates = (case_index + static_cast<std::size_t>(round) + (arm == Arm::kSkill ? 1 : 0)) % 2 == 0;
  const bool passes = decided ? arm == Arm::kSkill : alternates;
  sample.checks = {{"contains \"kernel\"", passes ? Outcome::kPass : Outcome::kFail, ""}};
  return sample;
}

struct Figures {
  double pass = 0.0;     // seconds of one pass over the samples
  double judged = 0.0;   // seconds of judging one round for all students, on average
  double growing = 0.0;  // seconds of judging all rounds
  double at_end = 0.0;   // seconds of judging the whole run once
  double held = 0.0;     // bytes of the whole run in memory
  double peak = 0.0;     // of the process
};

double SecondsOfPass(const RunData& data) {
  constexpr int kTimes = 5;
  std::int64_t tokens = 0;
  const double start = ProcessorSeconds();
  for (int i = 0; i < kTimes; ++i) {
    for (const SamplePtr& sample : data.samples()) tokens += sample->passed() ? sample->response.usage.output : 1;
  }
  const double seconds = (ProcessorSeconds() - start) / kTimes;
  return tokens > 0 ? seconds : 0.0;
}

// Adds an answer, and before it, in one cell of a hundred, an attempt that timed out.
void AddCell(Sample sample, bool may_fail, Rng& rng, RunData& data) {
  constexpr double kFailing = 0.01;
  if (may_fail && sample.arm == Arm::kSkill && rng.Uniform() < kFailing) {
    Sample failed = sample;
    failed.error = Error{ErrorKind::kUnavailable, "no data for 180 s"}.Because(ErrorCause::kTimeout);
    failed.will_retry = true;
    data.Add(std::move(failed));
    sample.attempt = 1;
  }
  data.Add(std::move(sample));
}

Figures Measure(int judged_rounds, Situation situation) {
  Figures figures;
  Rng rng(1);
  RunData data(MakePlan());
  VerdictWatch watch(data, Arm::kBaseline);
  int judged = 0;
  const double before = StatusBytes("VmRSS:");
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t student = 0; student < kStudents; ++student) {
      for (std::size_t i = 0; i < kCases; ++i) {
        for (const Arm arm : data.plan().arms) {
          const bool decided = situation == Situation::kHalfDecided && student < kStudents / 2;
          AddCell(MakeSample(data.plan(), student, i, arm, round, decided, rng), situation == Situation::kErrors, rng,
                  data);
        }
      }
    }
    if ((round + 1) * judged_rounds / kRounds == round * judged_rounds / kRounds) continue;
    const double start = ProcessorSeconds();
    for (std::size_t student = 0; student < kStudents; ++student)
      static_cast<void>(watch.IsSettledAfter(round + 1, student));
    figures.growing += ProcessorSeconds() - start;
    ++judged;
  }
  figures.judged = figures.growing / judged;
  figures.held = StatusBytes("VmRSS:") - before;
  figures.pass = SecondsOfPass(data);
  const double start = ProcessorSeconds();
  const JudgedRun run = Judge(std::move(data));
  figures.at_end = ProcessorSeconds() - start;
  figures.peak = StatusBytes("VmHWM:");
  return run.verdicts.empty() ? Figures{} : figures;
}

// Prints the figures of a situation; returns whether its targets are met.
bool Report(const std::string& name, Situation situation, int judged_rounds) {
  constexpr double kMostSeconds = 2.0;
  constexpr double kMostPasses = 3.0;
  constexpr double kMostMemory = 1.1;
  const Figures figures = Measure(judged_rounds, situation);
  const double seconds = figures.growing + figures.at_end;
  fmt::print("{}\n", name);
  fmt::print("{:8.2f}  s of processor time: {:.2f} while it grew, {:.2f} for the judgement at the end  (<= {})\n",
             seconds, figures.growing, figures.at_end, kMostSeconds);
  const bool is_first = situation == Situation::kOpen;
  const bool all_rounds = judged_rounds == kRounds;
  fmt::print("{:8.2f}  a round of judging ({:.1f} ms) / a pass over the samples ({:.1f} ms){}\n",
             figures.judged / figures.pass, figures.judged * 1e3, figures.pass * 1e3,
             is_first && all_rounds ? "  (<= 3)" : "");
  bool met = seconds <= kMostSeconds;
  if (!is_first) return met;
  met = met && (!all_rounds || figures.judged / figures.pass <= kMostPasses);
  fmt::print("{:8.2f}  peak memory ({:.0f} MB) / the samples and their index ({:.0f} MB)  (<= 1.1)\n",
             figures.peak / figures.held, figures.peak / 1e6, figures.held / 1e6);
  return met && figures.peak / figures.held <= kMostMemory;
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  const int judged_rounds = argc > 1 ? std::atoi(argv[1]) : upskill::kRounds;
  if (judged_rounds < 1 || judged_rounds > upskill::kRounds) {
    fmt::print(stderr, "usage: judge_bench [ROUNDS], 1 to {}\n", upskill::kRounds);
    return 2;
  }
  using upskill::Situation;
  bool met = upskill::Report("nothing decided", Situation::kOpen, judged_rounds);
  met = upskill::Report("half of the students decided", Situation::kHalfDecided, judged_rounds) && met;
  met = upskill::Report("1 % of the answers with the skill time out once", Situation::kErrors, judged_rounds) && met;
  return met ? 0 : 1;
}
