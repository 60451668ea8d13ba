// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/ptx_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view FirstPtxWord(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  std::size_t end = text.find_first_of(" \t\r;,(){}[]:");
  // "shared::cta" is one word, a label ends with one colon.
  while (end != std::string_view::npos && text.substr(end, 2) == "::")
    end = text.find_first_of(" \t\r;,(){}[]:", end + 2);
  return text.substr(0, end);
}

std::string_view AfterWord(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + word.size());
}

std::optional<std::uint64_t> NumberIn(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() ? std::optional(value) : std::nullopt;
}

// The number that stands before such words in the line, as in "Used 14 registers".
std::optional<std::uint64_t> NumberBefore(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return NumberIn(line.substr(begin, at - begin));
}

bool IsInstructionStart(char c) { return c >= 'a' && c <= 'z'; }

// A line without its comment.
std::string_view WithoutPtxComment(std::string_view line) { return line.substr(0, line.find("//")); }

void TakeDirective(std::string_view line, std::string_view word, PtxFacts& facts) {
  if (word == ".target") {
    facts.target = std::string(FirstPtxWord(AfterWord(line, ".target")));
  }
  if (line.find(".entry") != std::string_view::npos)
    facts.kernels.emplace_back(FirstPtxWord(AfterWord(line, ".entry")));
  if (line.find(".shared") != std::string_view::npos) {
    if (const auto alignment = NumberIn(AfterWord(line, ".align")))
      facts.shared_alignment = std::max(facts.shared_alignment, *alignment);
  }
}

void TakeStatement(std::string_view statement, PtxFacts& facts) {
  std::string_view word = FirstPtxWord(statement);
  // A label: "loop:" in inline assembly.
  if (const std::string_view rest = AfterWord(statement, word); !word.empty() && rest.starts_with(':')) {
    statement = rest.substr(1);
    word = FirstPtxWord(statement);
  }
  // A guard: "@%p1 bra $L__BB0_2".
  if (word.starts_with('@')) {
    statement = AfterWord(statement, word);
    word = FirstPtxWord(statement);
  }
  if (word.empty() || !IsInstructionStart(word.front())) return;
  ++facts.instructions[std::string(word)];
}

// The parts of an instruction's name: "cp", "async", "ca", "shared::cta".
std::vector<std::string_view> PartsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

// The third part of what begins with cp.async and isn't the copy of 4, 8 or 16 bytes that is meant by cp.async alone:
// bulk copies, and waiting for copies.
std::string_view OtherAsyncCopy(const std::vector<std::string_view>& parts) {
  constexpr std::array<std::string_view, 5> kOthers = {"bulk", "commit_group", "wait_group", "wait_all", "mbarrier"};
  if (parts.size() < 3 || parts[0] != "cp" || parts[1] != "async") return {};
  return std::find(kOthers.begin(), kOthers.end(), parts[2]) == kOthers.end() ? std::string_view() : parts[2];
}

}  // namespace

PtxFacts FactsOfPtx(std::string_view ptx) {
  PtxFacts facts;
  for (const std::string_view whole : SplitLines(ptx)) {
    std::string_view line = WithoutPtxComment(whole);
    const std::string_view word = FirstPtxWord(line);
    if (word.starts_with('.') || line.find(".entry") != std::string_view::npos) {
      TakeDirective(line, word, facts);
      continue;
    }
    while (!line.empty()) {
      const std::size_t end = line.find_first_of(";{}");
      TakeStatement(line.substr(0, end), facts);
      line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
    }
  }
  return facts;
}

bool UsesInstruction(const PtxFacts& facts, std::string_view name) {
  const std::vector<std::string_view> wanted = PartsOf(name == "tma" ? "cp.async.bulk" : name);
  return std::any_of(facts.instructions.begin(), facts.instructions.end(), [&](const auto& used) {
    const std::vector<std::string_view> parts = PartsOf(used.first);
    if (parts.front() != wanted.front()) return false;
    if (wanted.size() > 1 && OtherAsyncCopy(parts) != OtherAsyncCopy(wanted)) return false;
    auto at = parts.begin();
    return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view part) {
      at = std::find(at, parts.end(), part);
      if (at == parts.end()) return false;
      ++at;
      return true;
    });
  });
}

AssemblerFacts FactsOfAssembler(std::string_view log) {
  AssemblerFacts facts;
  const auto take_most = [](std::optional<std::uint64_t>& fact, std::optional<std::uint64_t> value) {
    if (value) fact = std::max(fact.value_or(0), *value);
  };
  for (const std::string_view line : SplitLines(log)) {
    for (const char* words : {" bytes spill stores", " bytes spill loads"}) {
      if (const auto bytes = NumberBefore(line, words)) facts.spill_bytes = facts.spill_bytes.value_or(0) + *bytes;
    }
    const auto registers = NumberBefore(line, " registers");
    if (!registers) continue;
    take_most(facts.registers, registers);
    take_most(facts.shared_bytes, NumberBefore(line, " bytes smem").value_or(0));
  }
  return facts;
}

}  // namespace upskill
