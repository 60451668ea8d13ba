// SPDX-License-Identifier: Apache-2.0
// Compares reading a JSONL trace into events with parsing the same bytes line by line with nlohmann::json: the ratio of
// processor times, the cost per byte at each size, and peak memory against its bound. The arguments are sizes in MB
// (default 1 10 100 1000; the last takes a minute and 1 GB of disk). Exits with 1 if a bound is missed: the time ratio,
// the cost per byte relative to that at smaller sizes, or memory.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trace/load/read_trace.h"
#include "util/rng.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr double kMega = 1e6;
// The bounds. Memory: in largest records, in addition to the kept events.
constexpr double kMaxTimeRatio = 1.5;
constexpr double kMaxCostGrowth = 1.5;
constexpr double kMaxRecords = 3;

struct Measurement {
  double seconds = 0;     // of the processor, user and system
  double peak_bytes = 0;  // of the process
  double kept_bytes = 0;
};

std::string Record(const char* type, std::size_t number, const std::string& message, const std::string& more) {
  return fmt::format(
      R"({{"type":"{}","uuid":"{:08x}-5b2e-4a7c-9d11-0123456789ab","parentUuid":"{:08x}-5b2e-4a7c-9d11-0123456789ab",)"
      R"("sessionId":"5f0c","cwd":"/p","version":"2.1.0","gitBranch":"main","timestamp":"2026-03-01T10:00:00.000Z",)"
      R"("message":{}{}}})",
      type, number, number - 1, message, more);
}

// Writes a session in Claude Code's format: short answers, tool calls, outputs of up to about 60 kB, and in each
// quarter of the file one record of `most` bytes, which no other exceeds by much. Returns the size of the largest
// record.
std::size_t WriteSession(const fs::path& path, std::size_t bytes, std::size_t most) {
  std::ofstream file(path, std::ios::binary);
  Rng rng(1);
  std::size_t written = 0;
  std::size_t largest = 0;
  std::size_t quarter = 1;
  for (std::size_t i = 0; written < bytes; ++i) {
    std::string output;
    const auto lines = rng.Next() % 40 == 0 ? 900 : rng.Next() % 60;
    const bool dump = written > bytes * quarter / 5;
    if (dump) ++quarter;
    for (std::size_t k = 0; (k < lines || dump) && output.size() < most / 2; ++k) {
      output += fmt::format("{:>6}\\tconst auto value_{} = table[{}] + \\\"offset\\\"; // \u00e9\\n", k,
                            rng.Next() % 9999, rng.Next() % 512);
    }
    const std::string call = fmt::format(
        R"({{"id":"msg_{0:012}","role":"assistant","model":"claude-x","content":[{{"type":"tool_use","id":"toolu_{0:012}","name":"Bash",)"
        R"("input":{{"command":"sed -n 1,{1}p src/part_{0}.c"}}}}],"usage":{{"input_tokens":3,)"
        R"("cache_read_input_tokens":9000,"output_tokens":57}}}})",
        i, lines);
    const std::string result = fmt::format(
        R"({{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{:012}","content":"{}"}}]}})", i,
        output);
    for (const std::string& record :
         {Record("assistant", 2 * i + 1, call, ""),
          Record("user", 2 * i + 2, result,
                 fmt::format(R"(,"toolUseResult":{{"stdout":"{}","stderr":""}})", output))}) {
      file << record << '\n';
      written += record.size() + 1;
      largest = std::max(largest, record.size());
    }
  }
  return largest;
}

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// From /proc, because getrusage's maximum includes that of the process that started this one.
double PeakBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

// glibc's heap blocks have an 8-byte header, and their sizes are multiples of 16.
std::size_t BlockBytes(std::size_t bytes) { return (bytes + 8 + 15) / 16 * 16; }

std::size_t HeapBytes(const std::string& text) {
  return text.size() <= std::string().capacity() ? 0 : BlockBytes(text.size() + 1);
}

// libstdc++'s deque stores its elements in blocks of 512 bytes, with a pointer to each.
template <typename T>
std::size_t HeapBytes(const std::deque<T>& elements) {
  const std::size_t in_block = std::max<std::size_t>(1, 512 / sizeof(T));
  return elements.size() / in_block * (BlockBytes(512) + sizeof(void*));
}

// Size in memory of the kept events: the trace's events and API messages with their texts.
double KeptBytes(const Trace& trace) {
  std::size_t bytes = HeapBytes(trace.events) + HeapBytes(trace.messages);
  for (const Event& event : trace.events) {
    for (const std::string* text :
         {&event.text, &event.tool, &event.call_id, &event.command, &event.path, &event.agent}) {
      bytes += HeapBytes(*text);
    }
  }
  for (const ApiMessage& message : trace.messages) {
    bytes += HeapBytes(message.id) + HeapBytes(message.model) + HeapBytes(message.agent);
  }
  return static_cast<double>(bytes);
}

Measurement ParseWithLibrary(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::size_t records = 0;
  while (std::getline(file, line)) records += nlohmann::json::parse(line).is_object() ? 1 : 0;
  if (records == 0) std::abort();
  return {};
}

Measurement ReadEvents(const fs::path& path) {
  const double start = ProcessorSeconds();
  const Result<Trace> trace = ReadTrace(path, {});
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    std::abort();
  }
  return {ProcessorSeconds() - start, PeakBytes(), KeptBytes(*trace)};
}

// Runs in the measuring process: prints one Measurement.
int MeasureHere(const std::string& what, const fs::path& path) {
  const double start = ProcessorSeconds();
  Measurement measured = what == "library" ? ParseWithLibrary(path) : ReadEvents(path);
  if (measured.seconds == 0) measured = {ProcessorSeconds() - start, PeakBytes(), 0};
  std::printf("%.6f %.0f %.0f\n", measured.seconds, measured.peak_bytes, measured.kept_bytes);
  return 0;
}

// Measures in a separate process, so that memory peaks stay separate.
Measurement Measure(const char* what, const fs::path& path) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::array<std::string, 4> words = {"trace_bench", "--measure", what, path.string()};
  std::array<char*, 5> arguments = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) != 0) std::abort();
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::FILE* const answer = ::fdopen(ends[0], "r");
  Measurement measured;
  if (std::fscanf(answer, "%lf %lf %lf", &measured.seconds, &measured.peak_bytes, &measured.kept_bytes) != 3)
    std::abort();
  std::fclose(answer);
  ::waitpid(child, nullptr, 0);
  return measured;
}

const char* Verdict(bool reached) { return reached ? "reached" : "MISSED"; }

struct SizeResult {
  bool reached = false;
  double cost = 0;  // seconds per byte
};

// The program's own memory, including read buffers, is what it uses in addition to the events of a session with short
// records. `min_cost`: the lowest cost per byte at smaller sizes, 0 if there is none.
SizeResult RunSize(std::size_t megabytes, double min_cost, const TempFolder& folder) {
  const fs::path path = folder.path() / "session.jsonl";
  const fs::path least = folder.path() / "least.jsonl";
  const std::size_t bytes = megabytes * 1'000'000;
  const auto largest = static_cast<double>(WriteSession(path, bytes, std::min<std::size_t>(bytes / 10, 4'000'000)));
  WriteSession(least, 2'000'000, 2000);
  Measurement library;
  Measurement ours;
  const int rounds = megabytes <= 10 ? 5 : megabytes <= 100 ? 3 : 2;
  for (int i = 0; i < rounds; ++i) {
    const Measurement a = Measure("library", path);
    const Measurement b = Measure("ours", path);
    if (i == 0 || a.seconds < library.seconds) library = a;
    if (i == 0 || b.seconds < ours.seconds) ours = b;
  }
  const Measurement small = Measure("ours", least);
  const double own = small.peak_bytes - small.kept_bytes;
  const double records = std::max(0.0, ours.peak_bytes - own - ours.kept_bytes) / largest;
  const double ratio = ours.seconds / library.seconds;
  const double cost = ours.seconds / static_cast<double>(fs::file_size(path));
  const double growth = min_cost > 0 ? cost / min_cost : 1;
  const bool fast = ratio <= kMaxTimeRatio;
  const bool linear = growth <= kMaxCostGrowth;
  const bool small_enough = records <= kMaxRecords;
  std::printf(
      "%5zu MB  time / nlohmann parse %.2f (<= %.1f: %s)   cost of a byte / least at smaller sizes %.2f (<= %.1f: %s)  "
      " "
      "peak memory = program %.0f MB + kept events %.1f MB + %.2f largest records of %.2f MB (<= %.0f: %s)\n",
      megabytes, ratio, kMaxTimeRatio, Verdict(fast), growth, kMaxCostGrowth, Verdict(linear), own / kMega,
      ours.kept_bytes / kMega, records, largest / kMega, kMaxRecords, Verdict(small_enough));
  std::fflush(stdout);
  return {fast && linear && small_enough, cost};
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--measure") == 0) return upskill::MeasureHere(argv[2], argv[3]);
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)));
  if (sizes.empty()) sizes = {1, 10, 100, 1000};
  const upskill::TempFolder folder;
  bool reached = true;
  double min_cost = 0;
  for (const std::size_t size : sizes) {
    const upskill::SizeResult result = upskill::RunSize(size, min_cost, folder);
    reached = reached && result.reached;
    min_cost = min_cost > 0 ? std::min(min_cost, result.cost) : result.cost;
  }
  return reached ? 0 : 1;
}
