// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "util/json.h"

namespace upskill {
namespace {

// The samples of a run as one JSON array for each of their properties.
class Columns {
 public:
  template <typename T>
  void Add(const char* name, const T& value) {
    std::string& column = columns_[name];
    column += column.empty() ? '[' : ',';
    fmt::format_to(std::back_inserter(column), "{}", value);
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [name, column] : columns_) sum += column.size();
    return sum;
  }

  // `all`: every column's name, so that a run without samples has them as well.
  template <std::size_t N>
  std::string json(const std::array<const char*, N>& all) const {
    std::string out = "{";
    for (const char* name : all) {
      const auto found = columns_.find(name);
      out +=
          fmt::format("{}\"{}\":{}]", out.size() > 1 ? "," : "", name, found == columns_.end() ? "[" : found->second);
    }
    return out + "}";
  }

 private:
  std::map<std::string_view, std::string> columns_;
};

int StateOf(const Sample& sample) {
  if (!sample.ok()) return 2;
  return sample.passed() ? 1 : 0;
}

int StopOf(const Sample& sample) {
  if (sample.cut_from > 0) return 5;
  switch (sample.response.stop) {
    case StopReason::kEnd:
      return 0;
    case StopReason::kLength:
      return 1;
    case StopReason::kRefusal:
      return 2;
    case StopReason::kToolUse:
      return 3;
    case StopReason::kContext:
      return 4;
  }
  return 0;
}

constexpr std::size_t kLongestMisses = 1000;  // samples in a row that don't fit any more

// The samples of one run, as far as there is room: round by round, so that each case has some.
class SampleColumns {
 public:
  SampleColumns(const JudgedRun& run, TextTable& texts, CheckSets& checks, std::size_t room)
      : run_(run), texts_(texts), checks_(checks), room_(room), bytes_before_(texts.bytes() + checks.bytes()) {
    if (AllFit()) {
      AddAllByCase();
    } else {
      AddByRound();
    }
  }

  std::size_t shown() const { return shown_; }
  std::size_t bytes() const { return texts_.bytes() + checks_.bytes() - bytes_before_ + columns_.bytes(); }
  std::string json() const {
    return columns_.json<14>({"student", "case", "arm", "round", "state", "answer", "checks", "reasoning", "stop",
                              "prompt", "output", "ms", "work", "cost"});
  }

 private:
  bool is_full() const { return misses_ > kLongestMisses; }

  bool AllFit() const {
    std::size_t bytes = 0;
    const SampleList samples = run_.data.samples();
    for (std::size_t i = 0; i < samples.size() && bytes <= room_; ++i) bytes += samples.final(i).figures->line_bytes;
    return bytes <= room_;
  }

  void AddAllByCase() {
    const Plan& plan = run_.plan();
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      for (std::size_t student = 0; student < plan.students.size(); ++student) {
        for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
          for (int round = 0; round < run_.data.rounds(student); ++round) AddCell(student, arm, i, round);
        }
      }
    }
  }

  void AddByRound() {
    int rounds = 0;
    for (std::size_t i = 0; i < run_.plan().students.size(); ++i) rounds = std::max(rounds, run_.data.rounds(i));
    for (int round = 0; round < rounds && !is_full(); ++round) {
      for (std::size_t i = 0; i < run_.plan().suite.cases.size() && !is_full(); ++i) AddRound(i, round);
    }
  }

  void AddRound(std::size_t case_index, int round) {
    for (std::size_t student = 0; student < run_.plan().students.size(); ++student) {
      for (std::size_t arm = 0; arm < run_.plan().arms.size(); ++arm) AddCell(student, arm, case_index, round);
    }
  }

  void AddCell(std::size_t student, std::size_t arm, std::size_t case_index, int round) {
    const FinalSample cell = run_.data.at(student, run_.plan().arms[arm], case_index, round);
    if (cell.figures == nullptr) return;
    if (bytes() + cell.figures->line_bytes > room_) {
      ++misses_;
      return;
    }
    misses_ = 0;
    ++shown_;
    columns_.Add("student", student);
    columns_.Add("case", case_index);
    columns_.Add("arm", arm);
    columns_.Add("round", round);
    Add(*run_.data.Load(student, run_.plan().arms[arm], case_index, round));
  }

  void Add(const Sample& sample) {
    const ChatResponse& response = sample.response;
    columns_.Add("state", StateOf(sample));
    columns_.Add("answer", texts_.Add(sample.ok() ? response.text : sample.error->message));
    columns_.Add("checks", sample.ok() ? checks_.Add(sample.checks) : -1);
    const bool has_reasoning = sample.ok() && !response.reasoning.empty();
    columns_.Add("reasoning", has_reasoning ? static_cast<long long>(texts_.Add(response.reasoning)) : -1LL);
    columns_.Add("stop", StopOf(sample));
    const auto tokens = [&](std::int64_t count) { return ReportsTokens(sample) ? std::to_string(count) : "null"; };
    columns_.Add("prompt", tokens(response.usage.prompt()));
    columns_.Add("output", tokens(response.usage.output));
    columns_.Add("ms", static_cast<long long>(response.seconds * 1000.0));
    const bool worked = response.work && !response.work->transcript.empty();
    columns_.Add("work", worked ? static_cast<long long>(texts_.Add(DumpJson(response.work->transcript))) : -1LL);
    columns_.Add("cost", response.cost_usd ? fmt::format("{:.6g}", *response.cost_usd) : "null");
  }

  const JudgedRun& run_;
  TextTable& texts_;
  CheckSets& checks_;
  Columns columns_;
  std::size_t room_;
  std::size_t bytes_before_;
  std::size_t shown_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace

int CheckSets::Add(const std::vector<CheckResult>& checks) {
  if (checks.empty()) return -1;
  std::string set = "[";
  for (const CheckResult& check : checks) {
    if (set.size() > 1) set += ',';
    const int outcome = check.outcome == Outcome::kPass ? 1 : check.outcome == Outcome::kSkip ? 2 : 0;
    const long long detail = check.detail.empty() ? -1LL : static_cast<long long>(texts_->Add(check.detail));
    fmt::format_to(std::back_inserter(set), "[{},{},{}]", texts_->Add(check.name), outcome, detail);
  }
  set += ']';
  const auto [found, is_new] = numbers_.emplace(std::move(set), static_cast<int>(numbers_.size()));
  if (is_new) {
    if (json_.size() > 1) json_ += ',';
    json_ += found->first;
  }
  return found->second;
}

PageSamples SamplesOfPage(const JudgedRun& run, TextTable& texts, CheckSets& checks, std::size_t room) {
  const SampleColumns columns(run, texts, checks, room);
  return {columns.json(), columns.shown(), columns.bytes()};
}

}  // namespace upskill
