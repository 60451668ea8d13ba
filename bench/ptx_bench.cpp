// SPDX-License-Identifier: Apache-2.0
// How fast kernels are interpreted: usage: ptx_bench FOLDER [TIMES [gemm|softmax]], with the PTX of FOLDER (bench/ptx).
// Prints for each kernel the fastest of TIMES runs (3) with all checks and without, on one thread by processor time,
// and on one and two threads by the clock; exits with 1 if a target is missed or a result is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/ptx/launch.h"

namespace upskill::ptx {
namespace {

constexpr double kTarget = 200e6;       // thread instructions a second
constexpr double kTargetSeconds = 2.5;  // of one launch: 5 s on two processors

struct Workload {
  std::string name;
  std::string file;
  LaunchConfig config;
  std::vector<std::vector<float>> inputs;
  std::size_t outputs = 0;
  std::vector<std::int32_t> numbers;
  std::vector<float> expected;
  double native_seconds = 0;  // of the same loops, compiled for the host
};

// Processor time: other programs on the machine don't change it much.
double Since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

std::vector<float> Values(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(seed >> 40U) / 8388608.0F - 1.0F;
  }
  return values;
}

Workload Gemm(std::size_t n) {
  Workload work{
      "tiled GEMM, 256 x 256 x 256", "gemm_tiled.ptx", {}, {Values(n * n, 1), Values(n * n, 2)}, n * n, {}, {}, 0};
  const auto tiles = static_cast<std::uint32_t>(n / 16);
  work.config.grid = Dim3{tiles, tiles, 1};
  work.config.block = Dim3{16, 16, 1};
  work.numbers.assign(3, static_cast<std::int32_t>(n));
  work.expected.resize(n * n);
  const std::clock_t start = std::clock();
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += work.inputs[0][row * n + k] * work.inputs[1][k * n + column];
      work.expected[row * n + column] = sum;
    }
  }
  work.native_seconds = Since(start);
  return work;
}

Workload Softmax(std::size_t rows, std::size_t columns) {
  Workload work{fmt::format("softmax of {} rows of {}", rows, columns),
                "softmax_two_pass.ptx",
                {},
                {Values(rows * columns, 3)},
                rows * columns,
                {static_cast<std::int32_t>(columns)},
                {},
                0};
  work.config.grid.x = static_cast<std::uint32_t>(rows);
  work.config.block.x = 128;
  work.expected.resize(rows * columns);
  const std::clock_t start = std::clock();
  for (std::size_t row = 0; row < rows; ++row) {
    const float* in = work.inputs[0].data() + row * columns;
    const float largest = *std::max_element(in, in + columns);
    float sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(in[i] - largest);
    for (std::size_t i = 0; i < columns; ++i) work.expected[row * columns + i] = std::exp(in[i] - largest) / sum;
  }
  work.native_seconds = Since(start);
  return work;
}

struct Measured {
  double seconds = 0;  // of the processor
  double elapsed = 0;  // by the clock
  double instructions = 0;
  bool right = false;
};

Measured RunOnce(const Workload& work, const std::shared_ptr<const Module>& module, bool checks,
                 std::uint32_t threads) {
  DeviceMemory memory;
  const LoadedModule loaded = LoadedModule::Load(module, memory).value();
  std::vector<std::uint64_t> pointers;
  for (const std::vector<float>& input : work.inputs) {
    pointers.push_back(memory.Allocate(input.size() * 4, "in").value());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
    static_cast<void>(memory.Write(pointers.back(), {bytes, input.size() * 4}));
  }
  pointers.push_back(memory.Allocate(work.outputs * 4, "out").value());
  std::vector<std::uint8_t> arguments(pointers.size() * 8 + work.numbers.size() * 4);
  std::memcpy(arguments.data(), pointers.data(), pointers.size() * 8);
  std::memcpy(arguments.data() + pointers.size() * 8, work.numbers.data(), work.numbers.size() * 4);
  RunOptions options;
  options.check_races = options.check_uninitialised = options.count_memory = checks;
  options.threads = threads;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t start = std::clock();
  const LaunchOutcome outcome =
      Launch(loaded, memory, module->Kernels().front().name, work.config, arguments, options).value();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  Measured measured{Since(start), elapsed.count(), static_cast<double>(outcome.counters.thread_instructions), false};
  std::vector<float> got(work.outputs);
  const auto bytes = memory.Read(pointers.back(), work.outputs * 4).value();
  std::memcpy(got.data(), bytes.data(), bytes.size());
  measured.right = outcome.ending == Ending::kCompleted && outcome.findings.empty() &&
                   outcome.division == (threads == 1 ? LaunchDivision::kNone : LaunchDivision::kDone);
  for (std::size_t i = 0; i < got.size(); ++i) {
    measured.right = measured.right && std::abs(got[i] - work.expected[i]) <= 1e-4F * (1 + std::abs(work.expected[i]));
  }
  return measured;
}

// One and two threads by turns, so that both have the same share of a busy machine.
bool CompareThreads(const Workload& work, const std::shared_ptr<const Module>& module, bool checks, int times) {
  std::array<double, 2> fastest{};
  std::array<double, 2> processor{};
  bool good = true;
  for (int i = 0; i < times; ++i) {
    for (const std::uint32_t threads : {1U, 2U}) {
      const Measured measured = RunOnce(work, module, checks, threads);
      good = good && measured.right;
      const auto keep_least = [&](std::array<double, 2>& of, double seconds) {
        double& least = of[threads - 1];
        if (i == 0 || seconds < least) least = seconds;
      };
      keep_least(fastest, measured.elapsed);
      keep_least(processor, measured.seconds);
    }
  }
  fmt::print(
      "{}, {}: {:.3f} s by the clock on one thread, {:.3f} s on two: {:.2f} times as fast, for {:.2f} times the "
      "processor "
      "time{}\n",
      work.name, checks ? "all checks" : "no checks", fastest[0], fastest[1], fastest[0] / fastest[1],
      processor[1] / processor[0], good ? "" : "; wrong results");
  return good;
}

bool RunWorkload(const Workload& work, const std::string& folder, int times) {
  std::ifstream file(folder + "/" + work.file);
  std::stringstream text;
  text << file.rdbuf();
  const auto module = ParseModule(text.str());
  if (!module) {
    fmt::print(stderr, "{}/{}: {}\n", folder, work.file, module.error().message);
    return false;
  }
  bool good = true;
  for (const bool checks : {true, false}) {
    Measured best;
    for (int i = 0; i < times; ++i) {
      const Measured measured = RunOnce(work, *module, checks, 1);
      if (!measured.right) fmt::print(stderr, "{}: wrong results\n", work.name);
      good = good && measured.right;
      if (i == 0 || measured.seconds < best.seconds) best = measured;
    }
    const double speed = best.instructions / best.seconds;
    fmt::print(
        "{}, {}: {:.3f} s, {:.0f} million thread instructions a second ({:.2f} of the target), {:.0f} times the "
        "host's own loops\n",
        work.name, checks ? "all checks" : "no checks", best.seconds, speed / 1e6, speed / kTarget,
        best.seconds / work.native_seconds);
    good = CompareThreads(work, *module, checks, times) && good;
    if (checks) good = good && speed >= kTarget && best.seconds <= kTargetSeconds;
  }
  return good;
}

}  // namespace
}  // namespace upskill::ptx

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: ptx_bench FOLDER [TIMES [gemm|softmax]]\n");
    return 2;
  }
  const int times = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 3;
  const std::string only = argc > 3 ? argv[3] : "";
  bool good = true;
  if (only != "softmax") good = upskill::ptx::RunWorkload(upskill::ptx::Gemm(256), argv[1], times) && good;
  if (only != "gemm") good = upskill::ptx::RunWorkload(upskill::ptx::Softmax(4096, 512), argv[1], times) && good;
  return good ? 0 : 1;
}
