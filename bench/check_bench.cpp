// SPDX-License-Identifier: Apache-2.0
// What checks cost: a sandboxed `true` against one that is started plainly; 1,000 commands on two threads, with the
// growth of memory; the text checks of a case on 100,000 answers; and the compilation of a kernel by cuda_compile
// against nvcc alone (where there is one). Prints figures; exits with 1 when a target is missed.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check/check.h"
#include "cuda/checks/cuda_checks.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/temp_folder.h"
#include "util/work_pool.h"

extern char** environ;  // NOLINT: the name is POSIX's

namespace upskill {
namespace {

using SteadyClock = std::chrono::steady_clock;

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double ResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == "VmRSS:") status >> kilobytes;
  }
  return kilobytes / 1024;
}

// Of a program started with posix_spawn and waited for.
double SpawnSeconds(std::vector<std::string> words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto start = SteadyClock::now();
  pid_t pid = -1;
  CHECK(::posix_spawnp(&pid, argv.front(), nullptr, nullptr, argv.data(), environ) == 0);
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK(status == 0);
  return SecondsSince(start);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

CaseChecks ChecksOf(const std::string& checks) {
  const Result<Suite> suite = ParseSuite(R"([{"id": "c", "input": "i", "checks": [)" + checks + "]}]", "bench");
  CHECK(suite.ok());
  Result<CaseChecks> made = CaseChecks::Make(suite->cases[0]);
  CHECK(made.ok());
  return std::move(made).value();
}

bool MeasureStart() {
  constexpr int kRuns = 100;
  constexpr double kTargetMs = 15.0;
  std::vector<double> plain;
  std::vector<double> confined;
  SandboxCommand command;
  command.command = "true";
  for (int i = 0; i < kRuns; ++i) {
    plain.push_back(SpawnSeconds({"sh", "-c", "true"}));
    const auto start = SteadyClock::now();
    CHECK(DefaultSandbox().Run(command).ok());
    confined.push_back(SecondsSince(start));
  }
  const double more_ms = (Median(confined) - Median(plain)) * 1000.0;
  fmt::print("sandboxed true: {:.1f} ms, plain {:.1f} ms, {:.1f} ms more (target: at most {})\n",
             Median(confined) * 1000.0, Median(plain) * 1000.0, more_ms, kTargetMs);
  return more_ms <= kTargetMs;
}

bool MeasureMany() {
  constexpr int kCommands = 1000;
  constexpr double kTargetMegabytes = 8.0;
  const CaseChecks checks = ChecksOf(R"({"type": "command", "command": "grep -q right answer.md"})");
  double after_tenth = 0.0;
  std::atomic<int> passed{0};
  const auto start = SteadyClock::now();
  {
    WorkPool pool(2);
    for (int i = 0; i < kCommands; ++i) {
      pool.Post([&, i] {
        passed += AllPass(checks.Run("the right answer")) ? 1 : 0;
        if (i == kCommands / 10) after_tenth = ResidentMegabytes();
      });
    }
  }
  const double grown = ResidentMegabytes() - after_tenth;
  fmt::print(
      "{} commands on 2 threads: {:.1f} s, {} passed, memory grew by {:.1f} MB after the first tenth (target: at "
      "most {})\n",
      kCommands, SecondsSince(start), passed.load(), grown, kTargetMegabytes);
  return passed == kCommands && grown <= kTargetMegabytes;
}

bool MeasureTexts() {
  constexpr int kAnswers = 100'000;
  const CaseChecks checks = ChecksOf(R"({"type": "contains", "values": ["cuda-capabilities", "9.0"]},
      {"type": "not_contains", "values": ["sm_90"]}, {"type": "regex", "pattern": "edition\\s*=\\s*5"})");
  const std::string text =
      std::string(1500, 'x') + "\nedition = 5\ncuda-capabilities = [\"9.0\"]\n" + std::string(450, 'y');
  int passed = 0;
  const auto start = SteadyClock::now();
  for (int i = 0; i < kAnswers; ++i) passed += AllPass(checks.Run(text)) ? 1 : 0;
  const double seconds = SecondsSince(start);
  fmt::print("text checks of a case (4 texts, 1 pattern) on {} answers of 2 kB: {:.2f} s, {:.0f} answers a second\n",
             kAnswers, seconds, kAnswers / seconds);
  return passed == kAnswers;
}

void MeasureCompiler() {
  const CaseChecks checks = ChecksOf(R"({"type": "cuda_compile"})");
  if (!checks.WhyNoneCanPass().empty()) {
    fmt::print("cuda_compile: skipped: {}\n", checks.Run("")[0].detail);
    return;
  }
  const std::string source =
      "#include <cuda_fp16.h>\n__global__ void scale(__half* x, __half by, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] = __hmul(x[i], by);\n}\n";
  const TempFolder folder;
  const std::string file = folder.Write("scale.cu", source).string();
  std::vector<double> alone;
  std::vector<double> checked;
  for (int i = 0; i < 5; ++i) {
    alone.push_back(SpawnSeconds({"nvcc", "-std=c++17", "-arch=sm_90", "-c", "-o", file + ".o", file}));
    const auto start = SteadyClock::now();
    CHECK(AllPass(checks.Run("`scale.cu`:\n```cuda\n" + source + "```\n")));
    checked.push_back(SecondsSince(start));
  }
  fmt::print("cuda_compile of a kernel: {:.2f} s, nvcc alone {:.2f} s, ratio {:.2f}\n", Median(checked), Median(alone),
             Median(checked) / Median(alone));
}

int BenchMain() {
  const bool texts = MeasureTexts();
  if (const Status available = DefaultSandbox().Available(); !available) {
    fmt::print("commands: skipped: {}\n", available.error().message);
    return texts ? 0 : 1;
  }
  const bool start = MeasureStart();
  const bool many = MeasureMany();
  MeasureCompiler();
  return texts && start && many ? 0 : 1;
}

}  // namespace
}  // namespace upskill

int main() {
  upskill::AddCudaChecks();
  return upskill::BenchMain();
}
