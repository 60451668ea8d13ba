// SPDX-License-Identifier: Apache-2.0
#include "check/activation_check.h"

#include <string>
#include <utility>

#include "skill/check_types.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr const char* kExpected = "expected";
constexpr const char* kWhySkipped =
    "only `upskill eval --activation` lets the student choose whether to read the skill";

std::string ActivationName(const CheckSpec& spec) {
  return ExpectsActivation(spec) ? "the skill is read" : "the skill is left alone";
}

class ActivationCheck : public Check {
 public:
  explicit ActivationCheck(std::string name) : name_(std::move(name)) {}

  CheckResult Run(const CheckedAnswer& /*answer*/) const override { return {name_, Outcome::kSkip, kWhySkipped}; }
  std::string WhyItCannotPass() const override { return CannotRun("activates", kWhySkipped); }

 private:
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Check>> MakeActivates(const CheckSpec& spec, CaseParts& /*parts*/) {
  const Json& expected = Member(spec.options, kExpected);
  if (!expected.is_null() && !expected.is_boolean()) return InputError("activates: \"expected\" must be true or false");
  return std::unique_ptr<Check>(std::make_unique<ActivationCheck>(ActivationName(spec)));
}

bool IsActivationCheck(const CheckSpec& spec) {
  const CheckType* const type = FindCheckType(spec.type);
  return type != nullptr && type->is_about_reading();
}

bool ExpectsActivation(const CheckSpec& spec) { return JsonGet(spec.options, kExpected, true); }

CheckResult ActivationResult(const CheckSpec& spec, bool skill_was_read) {
  if (skill_was_read == ExpectsActivation(spec)) return {ActivationName(spec), Outcome::kPass, ""};
  return {ActivationName(spec), Outcome::kFail, skill_was_read ? "it was read" : "it was not read"};
}

}  // namespace upskill
