// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/check_makers.h"
#include "check/text_checks.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostToolNames = 50;
constexpr std::size_t kMostArgumentBytes = std::size_t{16} * 1024;
constexpr std::size_t kMostCounted = 1'000'000;
constexpr const char* kNoCalls =
    R"(only students that work in a workspace call tools ("mode": "workspace", or --mode workspace))";

// Which calls count, and how many there must be.
struct WantedCalls {
  std::vector<std::string> tools;
  std::optional<Json> arguments;
  std::unique_ptr<RE2> pattern;
  std::size_t minimum = 0;
  std::optional<std::size_t> maximum;

  bool any_arguments() const { return !arguments && pattern == nullptr; }
};

// Every member of `wanted` is in `found`, in objects at any depth.
bool HasMembers(const Json& found, const Json& wanted) {
  if (!wanted.is_object()) return SameJson(found, wanted);
  if (!found.is_object()) return false;
  for (const auto& member : wanted.items()) {
    const auto at = found.find(member.key());
    if (at == found.end() || !HasMembers(*at, member.value())) return false;
  }
  return true;
}

enum class Fit { kNo, kYes, kUnknown };

Fit FitOf(const CheckedCall& call, const WantedCalls& wanted) {
  if (wanted.any_arguments()) return Fit::kYes;
  const Fit otherwise = call.cut ? Fit::kUnknown : Fit::kNo;
  if (wanted.pattern != nullptr) {
    if (!TooCostly(*wanted.pattern, call.arguments.size()).empty()) return Fit::kUnknown;
    return RE2::PartialMatch(call.arguments, *wanted.pattern) ? Fit::kYes : otherwise;
  }
  if (call.cut) return Fit::kUnknown;
  const Result<Json> arguments = ParseJson(call.arguments, "arguments");
  return arguments && HasMembers(*arguments, *wanted.arguments) ? Fit::kYes : Fit::kNo;
}

struct CountedCalls {
  std::size_t sure = 0;
  std::size_t unknown = 0;   // they may count: their arguments weren't stored whole
  std::size_t of_tools = 0;  // whatever their arguments
};

class ToolCallCheck : public Check {
 public:
  // `acts`: the case is done in a workspace.
  ToolCallCheck(std::string name, WantedCalls wanted, bool acts)
      : name_(std::move(name)), wanted_(std::move(wanted)), acts_(acts) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    if (answer.calls == nullptr) return {name_, Outcome::kSkip, kNoCalls};
    const CountedCalls counted = Count(*answer.calls);
    const std::size_t most = counted.sure + counted.unknown;
    if (most < wanted_.minimum || (wanted_.maximum && counted.sure > *wanted_.maximum))
      return {name_, Outcome::kFail, Found(counted, *answer.calls)};
    if (counted.sure >= wanted_.minimum && (!wanted_.maximum || most <= *wanted_.maximum))
      return {name_, Outcome::kPass, ""};
    return {
        name_, Outcome::kSkip,
        fmt::format("the arguments of {} are too long to have been stored whole", Counted(counted.unknown, "call"))};
  }
  std::string WhyItCannotPass() const override { return acts_ ? "" : CannotRun("tool_call", kNoCalls); }

 private:
  CountedCalls Count(const CheckedCalls& calls) const {
    CountedCalls counted;
    for (const CheckedCall& call : calls.listed) {
      if (!IsWanted(call.tool)) continue;
      ++counted.of_tools;
      const Fit fit = FitOf(call, wanted_);
      if (fit == Fit::kYes) ++counted.sure;
      if (fit == Fit::kUnknown) ++counted.unknown;
    }
    for (const auto& [tool, count] : calls.unlisted) {
      if (!IsWanted(tool)) continue;
      counted.of_tools += count;
      (wanted_.any_arguments() ? counted.sure : counted.unknown) += count;
    }
    return counted;
  }

  bool IsWanted(const std::string& tool) const {
    return std::find(wanted_.tools.begin(), wanted_.tools.end(), tool) != wanted_.tools.end();
  }

  // "called 3 times, 1 with such arguments"
  std::string Found(const CountedCalls& counted, const CheckedCalls& calls) const {
    if (counted.of_tools == 0) {
      const std::string others = OthersIn(calls);
      return others.empty() ? "no tool was called" : "it was not called; the student called " + others;
    }
    std::string found = fmt::format("called {}", Counted(counted.of_tools, "time"));
    if (!wanted_.any_arguments()) found += fmt::format(", {} with such arguments", counted.sure);
    return found;
  }

  static std::string OthersIn(const CheckedCalls& calls) {
    constexpr std::size_t kMostShown = 5;
    std::set<std::string> names;
    for (const CheckedCall& call : calls.listed) names.insert(call.tool);
    for (const auto& [tool, count] : calls.unlisted) names.insert(tool);
    std::string shown;
    std::size_t count = 0;
    for (const std::string& name : names) {
      if (++count > kMostShown) return shown + ", …";
      shown += (shown.empty() ? "" : ", ") + ExcerptLine(name, 40);
    }
    return shown;
  }

  std::string name_;
  WantedCalls wanted_;
  bool acts_;
};

Result<std::vector<std::string>> ToolsOf(const Json& options) {
  const Json& tool = Member(options, "tool");
  std::vector<std::string> names;
  for (const Json& name : tool.is_array() ? tool : Json::array({tool})) {
    if (!name.is_string() || name.get_ref<const std::string&>().empty() || names.size() == kMostToolNames)
      return InputError(
          fmt::format("tool_call needs a \"tool\": its name, or a list of up to {} names", kMostToolNames));
    names.push_back(name.get<std::string>());
  }
  if (names.empty()) return InputError("tool_call: the list \"tool\" is empty");
  return names;
}

Result<std::optional<std::size_t>> CountAt(const Json& options, const char* key) {
  const Json* const count = FindMember(options, key);
  if (count == nullptr) return std::optional<std::size_t>();
  const std::optional<std::size_t> whole = count->is_number() ? NumberAs<std::size_t>(*count) : std::nullopt;
  if (!whole || *whole > kMostCounted || Json(*whole) != *count)
    return InputError(fmt::format("tool_call: \"{}\" must be a whole number from 0 to 1,000,000", key));
  return whole;
}

Result<WantedCalls> WantedOf(const CheckSpec& spec, CaseParts& parts) {
  WantedCalls wanted;
  ASSIGN_OR_RETURN(wanted.tools, ToolsOf(spec.options));
  ASSIGN_OR_RETURN(const std::optional<std::size_t> minimum, CountAt(spec.options, "minimum"));
  ASSIGN_OR_RETURN(wanted.maximum, CountAt(spec.options, "maximum"));
  wanted.minimum = minimum.value_or(wanted.maximum ? 0 : 1);
  if (wanted.maximum && *wanted.maximum < wanted.minimum)
    return InputError("tool_call: \"maximum\" is below \"minimum\"");
  if (wanted.minimum == 0 && !wanted.maximum)
    return InputError("tool_call: any number of calls passes; give a \"minimum\" above 0, or a \"maximum\"");
  const Json* const arguments = FindMember(spec.options, "arguments");
  const Json* const pattern = FindMember(spec.options, "pattern");
  if (arguments != nullptr && pattern != nullptr)
    return InputError("tool_call takes only one of \"arguments\" and \"pattern\"");
  if (arguments != nullptr) {
    if (!arguments->is_object()) return InputError("tool_call: \"arguments\" must be an object");
    if (DumpJson(*arguments).size() > kMostArgumentBytes)
      return InputError("tool_call: \"arguments\" are longer than 16 KiB");
    wanted.arguments = *arguments;
  }
  if (pattern != nullptr) {
    if (!pattern->is_string()) return InputError("tool_call: \"pattern\" must be a string");
    ASSIGN_OR_RETURN(wanted.pattern, CompilePattern(pattern->get<std::string>(), parts));
  }
  return wanted;
}

// tool_call bash {"command":"make"}, at least 2 times
std::string ToolCallName(const WantedCalls& wanted) {
  std::string name = "tool_call ";
  for (std::size_t i = 0; i < std::min<std::size_t>(wanted.tools.size(), 3); ++i)
    name += (i == 0 ? "" : "/") + ExcerptLine(wanted.tools[i], 40);
  if (wanted.tools.size() > 3) name += "/…";
  if (wanted.arguments) name += " " + ExcerptLine(DumpJson(*wanted.arguments), 80);
  if (wanted.pattern != nullptr) name += " matches " + Quoted(wanted.pattern->pattern());
  if (wanted.minimum > 1) name += fmt::format(", at least {} times", wanted.minimum);
  if (wanted.maximum)
    name += *wanted.maximum == 0 ? ", never" : fmt::format(", at most {}", Counted(*wanted.maximum, "time"));
  return name;
}

}  // namespace

Result<std::unique_ptr<Check>> MakeToolCall(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(WantedCalls wanted, WantedOf(spec, parts));
  std::string name = ToolCallName(wanted);
  return std::unique_ptr<Check>(std::make_unique<ToolCallCheck>(std::move(name), std::move(wanted), parts.acts()));
}

}  // namespace upskill
