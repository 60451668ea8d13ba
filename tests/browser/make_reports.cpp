// SPDX-License-Identifier: Apache-2.0
// Writes the HTML reports that check_report.py opens in a browser, hostile.html, several.html and big.html (100,000
// samples), into the folder given as argument. Prints the CPU seconds that each took as JSON.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "report/html/html_report.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/rng.h"

namespace upskill {
namespace {

// A run of any size with made-up answers.
struct MadeRun {
  Plan plan;
  std::vector<Sample> samples;
};

struct Shape {
  std::string run = "2026_11_21_10_12_33-4f2a";
  std::vector<std::string> cases;
  std::vector<std::pair<std::string, std::pair<double, double>>> students;  // pass rates without and with the skill
  int rounds = 3;
  std::size_t answer_bytes = 600;
};

std::string Answer(Rng& rng, std::size_t bytes, bool passes) {
  static const std::vector<std::string> kWords = {
      "the",   "kernel", "tile", "shared", "memory", "edition = 5", "build.toml", "binding", "torch", "warp",
      "async", "copy",   "\n",   "```\n",  "fn",     "return",      "sm_90",      "{",       "}"};
  std::string text = passes ? "Use `edition = 5` in build.toml:\n\n" : "I would write this manifest:\n\n";
  while (text.size() < bytes) text += kWords[rng.Next() % kWords.size()] + " ";
  return text;
}

void AddSample(MadeRun& run, const Student& student, double chance, const std::string& case_id, Arm arm, int round,
               Rng& rng, std::size_t bytes) {
  Sample sample;
  sample.student = student.spec;
  sample.case_id = case_id;
  sample.arm = arm;
  sample.round = round;
  if (rng.Uniform() < 0.01) {
    sample.error = Error{ErrorKind::kUnavailable, "503 overloaded, gave up after 5 attempts"};
  } else {
    const bool passes = rng.Uniform() < chance;
    sample.response.text = Answer(rng, bytes / 2 + rng.Next() % bytes, passes);
    sample.response.usage = {arm == Arm::kSkill ? 631 : 200, 0, 0,
                             static_cast<std::int64_t>(sample.response.text.size() / 4), 0};
    sample.response.seconds = 0.4 + rng.Uniform() * 3;
    sample.checks = {
        {"contains \"edition = 5\"", passes ? Outcome::kPass : Outcome::kFail, passes ? "" : "missing \"edition = 5\""},
        {"contains \"manifest\"", Outcome::kPass, ""}};
    if (rng.Uniform() < 0.02) sample.response.stop = StopReason::kLength;
  }
  run.samples.push_back(std::move(sample));
}

MadeRun Make(const Shape& shape) {
  MadeRun run;
  run.plan.run = shape.run;
  run.plan.created = "2026-11-21T10:12:33Z";
  run.plan.skill = {"kernel-builder-cuda-kernels",
                    "skills/kernel-builder-cuda-kernels",
                    std::string(1293, 'x'),
                    "0",
                    "",
                    "Write CUDA kernels for the H100 with kernel-builder."};
  run.plan.arms = {Arm::kBaseline, Arm::kSkill};
  run.plan.rounds = shape.rounds;
  for (const std::string& id : shape.cases) {
    Case test_case;
    test_case.id = id;
    test_case.input =
        "Write the build.toml of a kernel package for case " + id + ".\nTarget sm_90 and keep it minimal.";
    run.plan.suite.cases.push_back(std::move(test_case));
  }
  Rng rng(7);
  for (const auto& [name, chances] : shape.students) run.plan.students.push_back({"sim:" + name, name, name});
  for (std::size_t c = 0; c < shape.cases.size(); ++c) {
    for (std::size_t s = 0; s < shape.students.size(); ++s) {
      for (int round = 0; round < shape.rounds; ++round) {
        const auto& [without, with] = shape.students[s].second;
        AddSample(run, run.plan.students[s], without, shape.cases[c], Arm::kBaseline, round, rng, shape.answer_bytes);
        AddSample(run, run.plan.students[s], with, shape.cases[c], Arm::kSkill, round, rng, shape.answer_bytes);
      }
    }
  }
  return run;
}

// Every text from outside tries to break out of its context.
MadeRun Hostile() {
  const std::string attack =
      "</script><script>window.attacked=1</script><img src=x onerror=\"window.attacked=1\"><!--<script>";
  Shape shape;
  shape.cases = {"plain", attack, "\u202Ereversed\u202C id", "big", "nul"};
  shape.students = {{"a" + attack, {0.0, 1.0}}, {"\u05D0\u05D1\u05D2 model", {0.5, 0.5}}};
  shape.rounds = 1;
  MadeRun run = Make(shape);
  run.plan.skill.name = "skill " + attack;
  for (Case& test_case : run.plan.suite.cases) test_case.input += attack;
  for (Sample& sample : run.samples) {
    sample.error.reset();
    sample.checks = {{"contains \"" + attack + "\"", sample.arm == Arm::kSkill ? Outcome::kPass : Outcome::kFail,
                      "missing " + attack}};
    sample.response.text =
        attack + "\u2028\u2029 \x1b[31m {{data}} ${window.attacked=1} `javascript:1` needle-" + sample.case_id;
    if (sample.case_id == "big") sample.response.text = std::string(1U << 20U, 'x') + "end-of-big";
    if (sample.case_id == "nul")
      sample.response.text = "before" + std::string(1, '\0') + "after \xFF\xFE \u202E lanimret";
    if (sample.case_id == "\u202Ereversed\u202C id") sample.response.text = "\u05E9\u05DC\u05D5\u05DD \u202E)(kcatta";
  }
  return run;
}

MadeRun Big() {
  Shape shape;
  for (int i = 0; i < 1000; ++i) shape.cases.push_back(fmt::format("case-{}", i + 1));
  shape.students = {{"haiku", {0.58, 0.94}},
                    {"kimi", {0.81, 0.92}},
                    {"opus", {0.97, 0.97}},
                    {"glm-4.7-flash", {0.41, 0.84}},
                    {"smollm2-135m", {0.06, 0.47}}};
  shape.rounds = 10;
  return Make(shape);
}

std::vector<MadeRun> Several() {
  Shape shape;
  shape.cases = {"binding-macro",  "async-copy", "bf16-header",  "cmake-flags", "torch-ops", "sm90-only",
                 "python-depends", "layout",     "tests-folder", "readme",      "license",   "release-tag"};
  shape.students = {{"haiku", {0.58, 0.94}},
                    {"kimi", {0.81, 0.92}},
                    {"opus", {0.97, 0.92}},
                    {"glm-4.7-flash", {0.41, 0.84}},
                    {"llama:bartowski/SmolLM2-135M-Instruct-GGUF:Q8_0", {0.6, 0.2}}};
  std::vector<MadeRun> runs;
  shape.run = "2026_11_20_09_00_00-0b1c";
  runs.push_back(Make(shape));
  shape.run = "2026_11_21_10_12_33-4f2a";
  shape.rounds = 5;
  runs.push_back(Make(shape));
  return runs;
}

void Write(const std::filesystem::path& file, std::vector<MadeRun> runs, Json& timings) {
  const std::clock_t start = std::clock();
  std::vector<JudgedRun> judged;
  for (MadeRun& run : runs) judged.push_back(Judge(RunData(std::move(run.plan), std::move(run.samples))));
  const std::string html = HtmlReport(judged);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const Status written = WriteFileAtomically(file, html);
  CHECK(written.ok());
  std::size_t samples = 0;
  for (const JudgedRun& run : judged) samples += run.data.sample_count();
#ifdef NDEBUG
  const bool optimized = true;
#else
  const bool optimized = false;
#endif
  timings[file.filename().string()] = {
      {"optimized", optimized}, {"cpu_seconds", seconds}, {"bytes", html.size()}, {"samples", samples}};
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_reports FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  upskill::Json timings = upskill::Json::object();
  upskill::Write(folder / "hostile.html", {upskill::Hostile()}, timings);
  upskill::Write(folder / "several.html", upskill::Several(), timings);
  upskill::Write(folder / "big.html", {upskill::Big()}, timings);
  std::cout << upskill::DumpJsonIndented(timings) << "\n";
  return 0;
}
