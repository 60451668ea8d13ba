// SPDX-License-Identifier: Apache-2.0
// Reading a JSONL trace into events, against reading and parsing the same bytes line by line with nlohmann::json. Prints
// the ratio of the two times and of peak memory to the largest record and the kept events. Sizes in MB as arguments
// (default 1 10 100; 1000 takes a minute and about 2 GB).
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "trace/read_trace.h"
#include "util/rng.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct Measurement {
  double seconds = 0;
  double peak_bytes = 0;  // growth while it ran
  double kept_bytes = 0;
  double records = 0;
};

// A session as Claude Code writes it: short answers, tool calls, outputs of up to some 60 kB.
std::size_t WriteSession(const fs::path& path, std::size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  Rng rng(1);
  std::size_t written = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; written < bytes; ++i) {
    std::string output;
    const auto lines = rng.Next() % 40 == 0 ? 900 : rng.Next() % 60;
    for (std::size_t k = 0; k < lines; ++k) output += fmt::format("{:>6}\\tconst auto value_{} = table[{}] + \\\"offset\\\"; // \u00e9\\n", k, rng.Next() % 9999, rng.Next() % 512);
    const std::string common = fmt::format(R"("sessionId":"s","cwd":"/p","version":"2.1.0","gitBranch":"main","timestamp":"2026-03-01T10:00:00.000Z")");
    const std::array<std::string, 2> records = {
        fmt::format(R"({{"type":"assistant","uuid":"a{0}","parentUuid":"u{0}",{1},"message":{{"id":"m{0}","role":"assistant","model":"claude-x","content":[{{"type":"tool_use","id":"t{0}","name":"Bash","input":{{"command":"sed -n 1,{2}p src/part_{0}.c"}}}}],"usage":{{"input_tokens":3,"cache_read_input_tokens":9000,"output_tokens":57}}}}}})", i, common, lines),
        fmt::format(R"({{"type":"user","uuid":"r{0}","parentUuid":"a{0}",{1},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{0}","content":"{2}"}}]}},"toolUseResult":{{"stdout":"{2}","stderr":""}}}})", i, common, output)};
    for (const std::string& record : records) {
      file << record << '\n';
      written += record.size() + 1;
      largest = std::max(largest, record.size());
    }
  }
  return largest;
}

double PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// In a process of its own, so that memory peaks don't mix.
Measurement Measure(const std::function<Measurement()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const double before = PeakBytes();
    const auto start = std::chrono::steady_clock::now();
    Measurement measured = work();
    measured.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    measured.peak_bytes = PeakBytes() - before;
    const bool sent = ::write(ends[1], &measured, sizeof measured) == static_cast<ssize_t>(sizeof measured);
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  Measurement measured;
  if (::read(ends[0], &measured, sizeof measured) != static_cast<ssize_t>(sizeof measured)) std::abort();
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return measured;
}

Measurement ParseWithLibrary(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  Measurement measured;
  while (std::getline(file, line)) measured.records += nlohmann::json::parse(line).size() > 0 ? 1 : 0;
  return measured;
}

Measurement ReadEvents(const fs::path& path) {
  const Result<Trace> trace = ReadTrace(path, {});
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    std::abort();
  }
  Measurement measured;
  measured.records = static_cast<double>(trace->records);
  measured.kept_bytes = static_cast<double>(trace->events.capacity() * sizeof(Event));
  for (const Event& event : trace->events) {
    measured.kept_bytes += static_cast<double>(event.text.capacity() + event.command.capacity() + event.call_id.capacity() + event.path.capacity());
  }
  return measured;
}

void RunSize(std::size_t megabytes) {
  const fs::path path = fs::temp_directory_path() / fmt::format("upskill-bench-{}.jsonl", megabytes);
  const std::size_t largest = WriteSession(path, megabytes * 1'000'000);
  Measurement library;
  Measurement ours;
  const int rounds = megabytes <= 10 ? 5 : megabytes <= 100 ? 3 : 1;
  for (int i = 0; i < rounds; ++i) {
    const Measurement a = Measure([&] { return ParseWithLibrary(path); });
    const Measurement b = Measure([&] { return ReadEvents(path); });
    if (i == 0 || a.seconds < library.seconds) library = a;
    if (i == 0 || b.seconds < ours.seconds) ours = b;
  }
  const double spare = std::max(0.0, ours.peak_bytes - ours.kept_bytes);
  std::printf("%5zu MB  time / nlohmann parse: %.2f   peak memory: kept events (%.1f MB) + %.1f MB, largest record %.3f MB   events / file: %.2f\n",
              megabytes, ours.seconds / library.seconds, ours.kept_bytes / 1e6, spare / 1e6, static_cast<double>(largest) / 1e6,
              ours.kept_bytes / static_cast<double>(fs::file_size(path)));
  fs::remove(path);
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)));
  if (sizes.empty()) sizes = {1, 10, 100};
  for (const std::size_t size : sizes) upskill::RunSize(size);
  return 0;
}
