// SPDX-License-Identifier: Apache-2.0
#include "check/text_checks.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/unicode_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShownColumns = 80;
constexpr std::size_t kShownValues = 20;
constexpr std::size_t kMaxValueBytes = std::size_t{16} * 1024;

std::string QuotedList(const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < std::min(values.size(), kShownValues); ++i)
    out += (out.empty() ? "" : ", ") + Quoted(values[i]);
  if (values.size() > kShownValues)
    out += fmt::format(" and {} more", WithThousands(static_cast<long long>(values.size() - kShownValues)));
  return out;
}

// A string to search for, ignoring case.
struct Literal {
  std::string value;
  std::size_t number = 0;  // in the part's LiteralSearch

  bool IsIn(const CheckedPart& part) const { return part.found[number]; }
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

// Each literal is to occur, or none.
class Contains : public PartCheck {
 public:
  Contains(CheckSubject subject, std::vector<Literal> literals, bool wanted)
      : PartCheck(std::move(subject)), literals_(std::move(literals)), wanted_(wanted) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    std::vector<std::string> wrong;
    for (const Literal& literal : literals_) {
      if (literal.IsIn(part) != wanted_) wrong.push_back(literal.value);
    }
    if (wrong.empty()) return "";
    if (literals_.size() == 1) return wanted_ ? "not found" : "found";
    return (wanted_ ? "missing " : "found ") + QuotedList(wrong);
  }

  std::vector<Literal> literals_;
  bool wanted_;
};

class AnyOf : public PartCheck {
 public:
  AnyOf(CheckSubject subject, std::vector<Literal> literals)
      : PartCheck(std::move(subject)), literals_(std::move(literals)) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    const bool any =
        std::any_of(literals_.begin(), literals_.end(), [&](const Literal& literal) { return literal.IsIn(part); });
    if (any) return "";
    return literals_.size() == 1 ? "not found" : "none found";
  }

  std::vector<Literal> literals_;
};

class Equals : public PartCheck {
 public:
  Equals(CheckSubject subject, std::string value) : PartCheck(std::move(subject)), value_(std::move(value)) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    const std::string_view trimmed = Trim(*part.text);
    return trimmed == value_ ? "" : (subject().file.empty() ? "the answer is " : "it is ") + Quoted(trimmed);
  }

  std::string value_;
};

// The pattern is to match somewhere, or nowhere.
class Regex : public PartCheck {
 public:
  Regex(CheckSubject subject, std::unique_ptr<RE2> search, bool wanted)
      : PartCheck(std::move(subject)), search_(std::move(search)), wanted_(wanted) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    if (std::string reason = TooCostly(*search_, part.text->size()); !reason.empty()) return reason;
    re2::StringPiece match;
    const re2::StringPiece text(part.text->data(), part.text->size());
    const bool found = search_->Match(text, 0, text.size(), RE2::UNANCHORED, &match, wanted_ ? 0 : 1);
    if (found == wanted_) return "";
    return wanted_ ? "no match" : "matches " + Quoted(std::string_view(match.data(), match.size()));
  }

  std::unique_ptr<RE2> search_;
  bool wanted_;
};

// As std::string::find, but in linear time where a long text has many near matches.
std::size_t FindFrom(std::string_view text, std::string_view wanted, std::size_t from) {
  const void* const at = ::memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return at == nullptr ? std::string::npos : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

// Literals that occur one after the other.
class InOrder : public PartCheck {
 public:
  InOrder(CheckSubject subject, const std::vector<std::string>& values)
      : PartCheck(std::move(subject)), values_(values) {
    for (const std::string& value : values_) folded_.push_back(FoldCase(ReplaceInvalidUtf8(value)));
  }

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    const std::string text = FoldCase(*part.text);
    std::size_t from = 0;
    for (std::size_t i = 0; i < folded_.size(); ++i) {
      const std::size_t at = FindFrom(text, folded_[i], from);
      if (at != std::string::npos) {
        from = at + folded_[i].size();
        continue;
      }
      const bool earlier = FindFrom(text, folded_[i], 0) != std::string::npos;
      if (!earlier) return "missing " + Quoted(values_[i]);
      return fmt::format("{} doesn't occur after {}", Quoted(values_[i]), Quoted(values_[i - 1]));
    }
    return "";
  }

  std::vector<std::string> values_;
  std::vector<std::string> folded_;
};

class FileExists : public PartCheck {
 public:
  explicit FileExists(CheckSubject subject) : PartCheck(std::move(subject)) {}

 private:
  std::string FindProblem(const CheckedPart& /*part*/) const override { return ""; }
};

template <typename LiteralCheck, typename... Wanted>
Result<std::unique_ptr<Check>> MakeLiteralCheck(const CheckSpec& spec, CaseParts& parts, Wanted... wanted) {
  CheckSubject subject = SubjectOf(spec, QuotedList(spec.values), parts);
  ASSIGN_OR_RETURN(std::vector<Literal> literals, MakeLiterals(spec, parts.strings(subject.part)));
  return std::unique_ptr<Check>(std::make_unique<LiteralCheck>(std::move(subject), std::move(literals), wanted...));
}

Result<std::unique_ptr<Check>> MakePatternCheck(const CheckSpec& spec, CaseParts& parts, bool wanted) {
  if (spec.pattern.empty()) return InputError(fmt::format("{} needs a pattern", spec.type));
  ASSIGN_OR_RETURN(std::unique_ptr<RE2> search, CompilePattern(spec.pattern, parts));
  return std::unique_ptr<Check>(
      std::make_unique<Regex>(SubjectOf(spec, Quoted(spec.pattern), parts), std::move(search), wanted));
}

}  // namespace

CheckSubject SubjectOf(const CheckSpec& spec, const std::string& expected, CaseParts& parts) {
  CheckSubject subject;
  subject.name = spec.type;
  if (!spec.file.empty()) subject.name += " " + spec.file;
  if (!expected.empty()) subject.name += " " + expected;
  subject.file = spec.file;
  subject.part = parts.Number(spec.file);
  return subject;
}

std::string Quoted(std::string_view text) { return "\"" + ExcerptLine(text, kShownColumns) + "\""; }

std::string JoinProblems(const std::vector<std::string>& problems, std::size_t count) {
  constexpr std::size_t kMostBytes = 4'000;
  std::string list;
  std::size_t shown = 0;
  for (; shown < problems.size() && (shown == 0 || list.size() + problems[shown].size() <= kMostBytes); ++shown)
    list += (shown == 0 ? "" : "; ") + problems[shown];
  if (count > shown) list += fmt::format("; and {} more", count - shown);
  return list;
}

CheckResult PartCheck::Run(const CheckedAnswer& answer) const {
  const CheckedPart& part = answer.parts[subject_.part];
  std::string problem = part.text ? FindProblem(part) : fmt::format("the answer has no file {}", subject_.file);
  if (!problem.empty() && part.is_unchanged) {
    problem += fmt::format("; the answer has no block named {}, so the case's own file was checked", subject_.file);
  }
  return {subject_.name, problem.empty() ? Outcome::kPass : Outcome::kFail, std::move(problem)};
}

Result<std::unique_ptr<Check>> MakeContains(const CheckSpec& spec, CaseParts& parts) {
  return MakeLiteralCheck<Contains>(spec, parts, true);
}
Result<std::unique_ptr<Check>> MakeNotContains(const CheckSpec& spec, CaseParts& parts) {
  return MakeLiteralCheck<Contains>(spec, parts, false);
}
Result<std::unique_ptr<Check>> MakeAnyOf(const CheckSpec& spec, CaseParts& parts) {
  return MakeLiteralCheck<AnyOf>(spec, parts);
}

Result<std::unique_ptr<Check>> MakeInOrder(const CheckSpec& spec, CaseParts& parts) {
  LiteralSearch unused;
  RETURN_IF_ERROR(MakeLiterals(spec, unused));
  return std::unique_ptr<Check>(
      std::make_unique<InOrder>(SubjectOf(spec, QuotedList(spec.values), parts), spec.values));
}

Result<std::unique_ptr<Check>> MakeEquals(const CheckSpec& spec, CaseParts& parts) {
  if (spec.values.size() != 1) return InputError(fmt::format("{} needs exactly one value", spec.type));
  const std::string value(Trim(ReplaceInvalidUtf8(spec.values.front())));
  if (value.empty()) return InputError(fmt::format("{} has an empty value", spec.type));
  return std::unique_ptr<Check>(std::make_unique<Equals>(SubjectOf(spec, Quoted(value), parts), value));
}

Result<std::unique_ptr<Check>> MakeRegex(const CheckSpec& spec, CaseParts& parts) {
  return MakePatternCheck(spec, parts, true);
}
Result<std::unique_ptr<Check>> MakeNotRegex(const CheckSpec& spec, CaseParts& parts) {
  return MakePatternCheck(spec, parts, false);
}

Result<std::unique_ptr<Check>> MakeFileExists(const CheckSpec& spec, CaseParts& parts) {
  return std::unique_ptr<Check>(std::make_unique<FileExists>(SubjectOf(spec, "", parts)));
}

Result<std::unique_ptr<RE2>> CompilePattern(const std::string& pattern, CaseParts& parts) {
  constexpr int kMaxInstructions = 10'000;
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<RE2>(pattern, options);
  if (!compiled->ok()) {
    const bool looks_around =
        compiled->error_code() == RE2::ErrorBadPerlOp && ContainsAny(pattern, {"(?=", "(?!", "(?<=", "(?<!"});
    return InputError(fmt::format(
        "regex {}: {}{}", Quoted(pattern), compiled->error(),
        looks_around ? "; patterns are RE2's, which has no look-ahead and no look-behind: match the text around it, or "
                       "add a not_regex check"
                     : ""));
  }
  if (compiled->ProgramSize() > kMaxInstructions) {
    return InputError(fmt::format("regex {}: {} instructions, more than the maximum of 10,000; use smaller counts",
                                  Quoted(pattern), WithThousands(compiled->ProgramSize())));
  }
  if (!parts.AddPattern(compiled->ProgramSize())) {
    return InputError(
        fmt::format("regex {}: the case's patterns have more than 20,000 instructions together; divide it "
                    "into several cases",
                    Quoted(pattern)));
  }
  return compiled;
}

std::string TooCostly(const RE2& pattern, std::size_t bytes) {
  constexpr double kMaxSteps = 1e9;  // seconds
  if (static_cast<double>(pattern.ProgramSize()) * static_cast<double>(bytes) <= kMaxSteps) return "";
  return fmt::format("{} is too large a pattern for {} bytes", Quoted(pattern.pattern()),
                     WithThousands(static_cast<long long>(bytes)));
}

}  // namespace upskill
