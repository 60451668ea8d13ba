// SPDX-License-Identifier: Apache-2.0
#include "check/text_checks.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShownColumns = 80;
constexpr std::size_t kShownValues = 20;
constexpr std::size_t kMaxValueBytes = std::size_t{16} * 1024;

std::string Quoted(std::string_view text) { return "\"" + ExcerptLine(text, kShownColumns) + "\""; }

std::string QuotedList(const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < std::min(values.size(), kShownValues); ++i)
    out += (out.empty() ? "" : ", ") + Quoted(values[i]);
  if (values.size() > kShownValues)
    out += fmt::format(" and {} more", WithThousands(static_cast<long long>(values.size() - kShownValues)));
  return out;
}

Result<std::unique_ptr<RE2>> Compile(const std::string& pattern, const RE2::Options& options) {
  auto compiled = std::make_unique<RE2>(pattern, options);
  if (!compiled->ok()) {
    return InputError(fmt::format("regex {}: {}", Quoted(pattern), compiled->error()));
  }
  return compiled;
}

// A string to search for, ignoring case.
struct Literal {
  std::string value;
  std::size_t number = 0;  // in the case's LiteralSearch

  bool IsIn(const CheckedAnswer& answer) const { return answer.found[number]; }
};

Result<std::vector<Literal>> MakeLiterals(const CheckSpec& spec, LiteralSearch& strings) {
  if (spec.values.empty()) return InputError(fmt::format("{} needs at least one value", spec.type));
  std::vector<Literal> literals;
  for (const std::string& value : spec.values) {
    if (value.empty()) return InputError(fmt::format("{} has an empty value", spec.type));
    if (value.size() > kMaxValueBytes) {
      return InputError(fmt::format("{} has a value longer than 16 KiB: {}", spec.type, Quoted(value)));
    }
    literals.push_back({value, strings.Add(ReplaceInvalidUtf8(value))});
  }
  return literals;
}

class TextCheck : public Check {
 public:
  explicit TextCheck(std::string name) : name_(std::move(name)) {}

  CheckResult Run(const CheckedAnswer& answer) const final {
    std::string problem = FindProblem(answer);
    return {name_, problem.empty() ? Outcome::kPass : Outcome::kFail, std::move(problem)};
  }

 private:
  // Why this answer fails; empty if it passes.
  virtual std::string FindProblem(const CheckedAnswer& answer) const = 0;

  std::string name_;
};

class Contains : public TextCheck {
 public:
  Contains(std::string name, std::vector<Literal> literals)
      : TextCheck(std::move(name)), literals_(std::move(literals)) {}

 private:
  std::string FindProblem(const CheckedAnswer& answer) const override {
    std::vector<std::string> missing;
    for (const Literal& literal : literals_) {
      if (!literal.IsIn(answer)) missing.push_back(literal.value);
    }
    return missing.empty() ? "" : "missing " + QuotedList(missing);
  }

  std::vector<Literal> literals_;
};

class NotContains : public TextCheck {
 public:
  NotContains(std::string name, std::vector<Literal> literals)
      : TextCheck(std::move(name)), literals_(std::move(literals)) {}

 private:
  std::string FindProblem(const CheckedAnswer& answer) const override {
    std::vector<std::string> found;
    for (const Literal& literal : literals_) {
      if (literal.IsIn(answer)) found.push_back(literal.value);
    }
    return found.empty() ? "" : "found " + QuotedList(found);
  }

  std::vector<Literal> literals_;
};

class AnyOf : public TextCheck {
 public:
  AnyOf(std::string name, std::vector<Literal> literals) : TextCheck(std::move(name)), literals_(std::move(literals)) {}

 private:
  std::string FindProblem(const CheckedAnswer& answer) const override {
    std::vector<std::string> missing;
    for (const Literal& literal : literals_) {
      if (literal.IsIn(answer)) return "";
      missing.push_back(literal.value);
    }
    return "none of " + QuotedList(missing);
  }

  std::vector<Literal> literals_;
};

class Equals : public TextCheck {
 public:
  Equals(std::string name, std::string value) : TextCheck(std::move(name)), value_(std::move(value)) {}

 private:
  std::string FindProblem(const CheckedAnswer& answer) const override {
    const std::string_view trimmed = Trim(answer.text);
    return trimmed == value_ ? "" : "the answer is " + Quoted(trimmed);
  }

  std::string value_;
};

class Regex : public TextCheck {
 public:
  Regex(std::string name, std::unique_ptr<RE2> search) : TextCheck(std::move(name)), search_(std::move(search)) {}

 private:
  std::string FindProblem(const CheckedAnswer& answer) const override {
    const bool found = RE2::PartialMatch(re2::StringPiece(answer.text.data(), answer.text.size()), *search_);
    return found ? "" : "no match for " + Quoted(search_->pattern());
  }

  std::unique_ptr<RE2> search_;
};

template <typename LiteralCheck>
Result<std::unique_ptr<Check>> MakeLiteralCheck(const CheckSpec& spec, LiteralSearch& strings) {
  ASSIGN_OR_RETURN(std::vector<Literal> literals, MakeLiterals(spec, strings));
  return std::unique_ptr<Check>(
      std::make_unique<LiteralCheck>(spec.type + " " + QuotedList(spec.values), std::move(literals)));
}

}  // namespace

Result<std::unique_ptr<Check>> MakeContains(const CheckSpec& spec, LiteralSearch& strings) {
  return MakeLiteralCheck<Contains>(spec, strings);
}
Result<std::unique_ptr<Check>> MakeNotContains(const CheckSpec& spec, LiteralSearch& strings) {
  return MakeLiteralCheck<NotContains>(spec, strings);
}
Result<std::unique_ptr<Check>> MakeAnyOf(const CheckSpec& spec, LiteralSearch& strings) {
  return MakeLiteralCheck<AnyOf>(spec, strings);
}

Result<std::unique_ptr<Check>> MakeEquals(const CheckSpec& spec) {
  if (spec.values.size() != 1) return InputError("equals needs exactly one value");
  const std::string value(Trim(ReplaceInvalidUtf8(spec.values.front())));
  if (value.empty()) return InputError("equals has an empty value");
  return std::unique_ptr<Check>(std::make_unique<Equals>("equals " + Quoted(value), value));
}

Result<std::unique_ptr<Check>> MakeRegex(const CheckSpec& spec) {
  if (spec.pattern.empty()) return InputError("regex needs a pattern");
  RE2::Options options;
  options.set_log_errors(false);
  ASSIGN_OR_RETURN(std::unique_ptr<RE2> search, Compile(spec.pattern, options));
  return std::unique_ptr<Check>(std::make_unique<Regex>("regex " + Quoted(spec.pattern), std::move(search)));
}

}  // namespace upskill
