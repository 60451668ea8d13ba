// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample_line.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// Reads JSON without white space. Anything unexpected sets `failed` for good, which makes all its results void.
class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool failed() const { return failed_; }
  bool has_non_ascii() const { return non_ascii_; }
  bool at_end() const { return at_ == end_; }
  void Fail() { failed_ = true; }

  bool Take(char c) {
    if (failed_ || at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) failed_ = true;
  }

  // Whether another member or element comes: after `[`, `{` or an element, up to `close`.
  bool More(char close, bool& first) {
    if (failed_ || Take(close)) return false;
    if (!first) Expect(',');
    first = false;
    return !failed_;
  }

  std::string String() {
    Expect('"');
    std::string text;
    while (!failed_) {
      const char* from = at_;
      while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) {
        non_ascii_ |= static_cast<unsigned char>(*at_) >= 0x80;
        ++at_;
      }
      text.append(from, at_);
      if (Take('"')) return text;
      Expect('\\');
      TakeEscape(text);
    }
    return text;
  }

  // A name without escapes.
  std::string_view Name() {
    Expect('"');
    const char* from = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20 &&
           static_cast<unsigned char>(*at_) < 0x80)
      ++at_;
    const std::string_view name(from, static_cast<std::size_t>(at_ - from));
    Expect('"');
    return name;
  }

  std::int64_t Integer() {
    const char* from = at_;
    Take('-');
    Digits(true);
    if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) failed_ = true;
    std::int64_t value = 0;
    if (!failed_ && std::from_chars(from, at_, value).ptr != at_) failed_ = true;
    return value;
  }
  int SmallInteger() {
    const std::int64_t value = Integer();
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) failed_ = true;
    return failed_ ? 0 : static_cast<int>(value);
  }

  double Number() {
    const char* from = at_;
    Take('-');
    Digits(true);
    if (Take('.')) Digits(false);
    if (Take('e') || Take('E')) {
      if (!Take('-')) Take('+');
      Digits(false);
    }
    double value = 0.0;
    if (!failed_) {
      const auto [end, code] = std::from_chars(from, at_, value);
      if (end != at_ || code != std::errc()) failed_ = true;
      if (std::string_view(from, static_cast<std::size_t>(at_ - from)) == "-0") failed_ = true;  // not a whole number
    }
    return value;
  }

 private:
  void Digits(bool no_leading_zero) {
    const char* from = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    const auto count = at_ - from;
    if (count == 0 || count > 18 || (no_leading_zero && count > 1 && *from == '0')) failed_ = true;
  }

  void TakeEscape(std::string& text) {
    if (failed_ || at_ == end_) return Fail();
    switch (*at_++) {
      case '"':
        text += '"';
        break;
      case '\\':
        text += '\\';
        break;
      case '/':
        text += '/';
        break;
      case 'b':
        text += '\b';
        break;
      case 'f':
        text += '\f';
        break;
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      default:
        failed_ = true;
    }
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
  bool non_ascii_ = false;
};

template <typename T>
T Known(Reader& reader, Result<T> value) {
  if (value) return *std::move(value);
  reader.Fail();
  return T{};
}

Usage TakeUsage(Reader& reader) {
  Usage usage;
  unsigned seen = 0;
  const auto take = [&](unsigned bit, std::int64_t& field) {
    if ((seen & bit) != 0) reader.Fail();
    seen |= bit;
    field = reader.Integer();
    if (field < 0 || field > kMaxStoredTokens) reader.Fail();
  };
  reader.Expect('{');
  for (bool first = true; reader.More('}', first);) {
    const std::string_view name = reader.Name();
    reader.Expect(':');
    if (name == "input") {
      take(1, usage.input);
    } else if (name == "cache_read") {
      take(2, usage.cache_read);
    } else if (name == "cache_write") {
      take(4, usage.cache_write);
    } else if (name == "output") {
      take(8, usage.output);
    } else if (name == "reasoning") {
      take(16, usage.reasoning);
    } else {
      reader.Fail();
    }
  }
  return usage;
}

// Members in the order in which they are written.
CheckResult TakeCheck(Reader& reader) {
  CheckResult check;
  const auto name = [&](std::string_view expected) {
    if (reader.Name() != expected) reader.Fail();
    reader.Expect(':');
  };
  reader.Expect('{');
  name("name");
  check.name = reader.String();
  reader.Expect(',');
  name("outcome");
  check.outcome = Known(reader, OutcomeFromName(reader.Name()));
  reader.Expect(',');
  name("detail");
  check.detail = reader.String();
  reader.Expect('}');
  return check;
}

// The members of the line's object.
class SampleReader {
 public:
  explicit SampleReader(std::string_view line) : reader_(line) {}

  std::optional<Sample> Read() {
    reader_.Expect('{');
    for (bool first = true; reader_.More('}', first);) {
      const std::string_view name = reader_.Name();
      reader_.Expect(':');
      if (!TakeCell(name) && !TakeAnswer(name)) return std::nullopt;
    }
    if (reader_.failed() || !reader_.at_end() || (seen_ & kNeeded) != kNeeded) return std::nullopt;
    return std::move(sample_);
  }
  bool has_non_ascii() const { return reader_.has_non_ascii(); }

 private:
  enum Member : unsigned {
    kSchema = 1U << 0U,
    kKey = 1U << 1U,
    kModel = 1U << 2U,
    kArm = 1U << 3U,
    kCase = 1U << 4U,
    kRound = 1U << 5U,
    kAttempt = 1U << 6U,
    kTime = 1U << 7U,
    kStatus = 1U << 8U,
    kCachedFrom = 1U << 9U,
    kPassed = 1U << 10U,
    kAnswer = 1U << 11U,
    kReasoning = 1U << 12U,
    kStop = 1U << 13U,
    kUsage = 1U << 14U,
    kSeconds = 1U << 15U,
    kCost = 1U << 16U,
    kServedModel = 1U << 17U,
    kRequestId = 1U << 18U,
    kChecks = 1U << 19U,
    kNeeded = kSchema | kKey | kModel | kArm | kCase | kRound | kStatus | kAnswer | kStop | kChecks,
  };

  // Duplicate members are left to the slow reader.
  bool Is(std::string_view name, std::string_view expected, Member member) {
    if (name != expected) return false;
    if ((seen_ & member) != 0) reader_.Fail();
    seen_ |= member;
    return true;
  }

  bool TakeCell(std::string_view name) {
    if (Is(name, "schema", kSchema)) {
      const int schema = reader_.SmallInteger();
      if (schema < 1 || schema > kSampleSchema) reader_.Fail();
    } else if (Is(name, "key", kKey)) {
      sample_.key = reader_.String();
    } else if (Is(name, "model", kModel)) {
      sample_.student = reader_.String();
    } else if (Is(name, "arm", kArm)) {
      sample_.arm = Known(reader_, ArmFromName(reader_.Name()));
    } else if (Is(name, "case", kCase)) {
      sample_.case_id = reader_.String();
    } else if (Is(name, "round", kRound)) {
      sample_.round = reader_.SmallInteger();
    } else if (Is(name, "attempt", kAttempt)) {
      sample_.attempt = reader_.SmallInteger();
    } else if (Is(name, "time", kTime)) {
      sample_.time = reader_.String();
    } else if (Is(name, "status", kStatus)) {
      if (reader_.Name() != "ok") reader_.Fail();
    } else if (Is(name, "cached_from", kCachedFrom)) {
      sample_.cached_from = reader_.String();
    } else {
      return false;
    }
    return !reader_.failed();
  }

  bool TakeAnswer(std::string_view name) {
    ChatResponse& response = sample_.response;
    if (Is(name, "passed", kPassed)) {
      for (const char c : reader_.Take('t') ? std::string_view("rue") : std::string_view("false")) reader_.Expect(c);
    } else if (Is(name, "answer", kAnswer)) {
      response.text = reader_.String();
    } else if (Is(name, "reasoning", kReasoning)) {
      response.reasoning = reader_.String();
    } else if (Is(name, "stop", kStop)) {
      response.stop = Known(reader_, StopReasonFromName(reader_.Name()));
    } else if (Is(name, "usage", kUsage)) {
      response.usage = TakeUsage(reader_);
    } else if (Is(name, "seconds", kSeconds)) {
      response.seconds = reader_.Number();
      if (response.seconds < 0.0 || response.seconds > kMaxStoredSeconds) reader_.Fail();
    } else if (Is(name, "cost_usd", kCost)) {
      response.cost_usd = reader_.Number();
      if (*response.cost_usd < 0.0 || *response.cost_usd > kMaxStoredUsd) reader_.Fail();
    } else if (Is(name, "served_model", kServedModel)) {
      response.served_model = reader_.String();
    } else if (Is(name, "request_id", kRequestId)) {
      response.request_id = reader_.String();
    } else if (Is(name, "checks", kChecks)) {
      reader_.Expect('[');
      for (bool first = true; reader_.More(']', first);) sample_.checks.push_back(TakeCheck(reader_));
    } else {
      return false;
    }
    return !reader_.failed();
  }

  Reader reader_;
  Sample sample_;
  unsigned seen_ = 0;
};

}  // namespace

std::optional<Sample> PlainSampleFromLine(std::string_view line) {
  SampleReader reader(line);
  std::optional<Sample> sample = reader.Read();
  if (sample && reader.has_non_ascii() && FindInvalidUtf8(line)) return std::nullopt;
  return sample;
}

Result<Sample> SampleFromLine(std::string_view line) {
  if (std::optional<Sample> sample = PlainSampleFromLine(line)) return *std::move(sample);
  ASSIGN_OR_RETURN(const Json json, ParseJson(line, "samples.jsonl"));
  return SampleFromJson(json);
}

}  // namespace upskill
