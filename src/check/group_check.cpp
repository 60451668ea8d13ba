// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/check_makers.h"
#include "check/text_checks.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kRounding = 1e-9;  // of sums of weights such as 0.1

struct GroupMember {
  std::unique_ptr<Check> check;
  double weight = 1.0;
};

class Group : public Check {
 public:
  // `needed`: the sum of the weights that must pass.
  Group(std::string name, std::vector<GroupMember> members, double needed)
      : name_(std::move(name)), members_(std::move(members)), needed_(needed) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    double passed = 0.0;
    double skipped = 0.0;
    std::vector<std::string> problems;
    std::optional<CheckRun> run;
    for (const GroupMember& member : members_) {
      const CheckResult result = member.check->Run(answer);
      if (result.run) run = CheckRun{result.run->seconds + (run ? run->seconds : 0.0), result.run->tools};
      if (result.outcome == Outcome::kPass) passed += member.weight;
      if (result.outcome == Outcome::kSkip) skipped += member.weight;
      if (result.outcome != Outcome::kPass) problems.push_back(fmt::format("{}: {}", result.name, result.detail));
    }
    if (passed >= needed_ - kRounding) return {name_, Outcome::kPass, "", run};
    const bool undecided = passed + skipped >= needed_ - kRounding;
    return {name_, undecided ? Outcome::kSkip : Outcome::kFail, JoinProblems(problems, problems.size()), run};
  }

  bool AsksJudge() const override {
    return std::any_of(members_.begin(), members_.end(),
                       [](const GroupMember& member) { return member.check->AsksJudge(); });
  }

  std::string WhyItCannotPass() const override {
    double possible = 0.0;
    std::string first;
    for (const GroupMember& member : members_) {
      std::string reason = member.check->WhyItCannotPass();
      if (reason.empty()) possible += member.weight;
      if (first.empty()) first = std::move(reason);
    }
    return possible >= needed_ - kRounding ? "" : fmt::format("{}: {}", name_, first);
  }

 private:
  std::string name_;
  std::vector<GroupMember> members_;
  double needed_;
};

class Skipped : public Check {
 public:
  Skipped(std::string name, std::string reason) : name_(std::move(name)), reason_(std::move(reason)) {}

  CheckResult Run(const CheckedAnswer& /*answer*/) const override { return {name_, Outcome::kSkip, reason_}; }
  std::string WhyItCannotPass() const override { return CannotRun(name_, reason_); }

 private:
  std::string name_;
  std::string reason_;
};

}  // namespace

Result<std::unique_ptr<Check>> MakeGroup(CheckKind kind, const CheckSpec& spec, CaseParts& parts) {
  if (spec.members.empty()) return InputError(spec.type + " needs \"checks\"");
  std::vector<GroupMember> members;
  double sum = 0.0;
  for (const CheckSpec& each : spec.members) {
    GroupMember member;
    ASSIGN_OR_RETURN(member.check, MakeCheck(each, parts).With(spec.type));
    member.weight = kind == CheckKind::kAtLeast ? each.weight : 1.0;
    sum += member.weight;
    members.push_back(std::move(member));
  }
  double needed = kind == CheckKind::kAny ? 1.0 : sum;
  std::string name = fmt::format("{} of {}", spec.type, Counted(members.size(), "check"));
  if (kind == CheckKind::kAtLeast) {
    const Json* const count = FindMember(spec.options, "count");
    if (count == nullptr || !count->is_number()) return InputError("at_least needs a \"count\": a number");
    needed = count->get<double>();
    if (!(needed > kRounding) || needed > sum + kRounding)
      return InputError(
          fmt::format("at_least: \"count\" must be above 0 and at most {:.12g}, the sum of the weights", sum));
    const bool weighted =
        std::any_of(members.begin(), members.end(), [](const GroupMember& member) { return member.weight != 1.0; });
    name = weighted
               ? fmt::format("at_least {:.12g} of {:.12g} by weight, {}", needed, sum, Counted(members.size(), "check"))
               : fmt::format("at_least {} of {}", needed, Counted(members.size(), "check"));
  }
  return std::unique_ptr<Check>(std::make_unique<Group>(std::move(name), std::move(members), needed));
}

std::unique_ptr<Check> MakeSkipped(const CheckSpec& spec) {
  return std::make_unique<Skipped>(ExcerptLine(spec.type, 60),
                                   spec.unavailable.empty() ? "unknown type" : spec.unavailable);
}

}  // namespace upskill
