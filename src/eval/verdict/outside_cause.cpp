// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/outside_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

#include "check/asked_files.h"
#include "check/command_check.h"

namespace upskill {
namespace {

constexpr std::size_t kMostAnswers = 10;  // of a case and a student
constexpr std::string_view kNoFile = "the answer has no file ";
constexpr std::string_view kTimeLimit = "the checks reached their time limit";
constexpr std::string_view kCutOff = "the answers were cut off before a file that the checks need";

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

constexpr std::array<std::string_view, 4> kMissing = {"No module named", "Cannot find module", "No such file",
                                                      "can't open file"};

// The file that the programs of the check say isn't there; empty if none of those that the answer should have.
std::string MissingFile(std::string_view said, const Case& test_case) {
  const auto says = [said](std::string_view words) { return Contains(said, words); };
  if (std::none_of(kMissing.begin(), kMissing.end(), says)) return "";
  for (const std::string& file : AskedFiles(test_case)) {
    const std::string module = std::filesystem::path(file).stem().string();
    if (Contains(said, file) || Contains(said, fmt::format("'{}'", module)) ||
        Contains(said, fmt::format("/{}'", module)))
      return file;
  }
  return "";
}

// Empty if the failure is the answer's own.
std::string CauseOf(const Sample& sample, const Case& test_case) {
  const auto failed = std::find_if(sample.checks.begin(), sample.checks.end(),
                                   [](const CheckResult& check) { return check.outcome == Outcome::kFail; });
  if (failed == sample.checks.end()) return "";
  if (ReachedTimeLimit(*failed)) return std::string(kTimeLimit);
  if (!Contains(sample.response.text, "```")) return "";  // nothing that could be the file
  const auto no_file = [&sample](std::string_view file) {
    return sample.response.stop == StopReason::kLength ? std::string(kCutOff)
                                                       : fmt::format("the checks found no file {}", file);
  };
  if (failed->detail.starts_with(kNoFile)) return no_file(std::string_view(failed->detail).substr(kNoFile.size()));
  const std::string missing = MissingFile(failed->detail, test_case);
  return missing.empty() ? "" : no_file(missing);
}

std::string CureOf(std::string_view cause, const Plan& plan) {
  if (cause == kTimeLimit) return "raise the check's \"timeout_seconds\"";
  if (cause == kCutOff) return fmt::format("raise --max-tokens ({})", plan.sampling.max_tokens);
  return "have the question ask for this file by name, in a block of its own";
}

// What most failures of a case have in common.
std::string CauseOfCase(const RunData& data, std::size_t case_index) {
  const Plan& plan = data.plan();
  std::map<std::string, std::size_t> causes;
  std::size_t failures = 0;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (const Arm arm : plan.arms) {
      if (plan.has_arm(Arm::kSkill) && arm != Arm::kSkill) continue;
      const SampleList samples = data.samples(student, arm, case_index);
      std::size_t looked = 0;
      for (std::size_t i = 0; i < samples.size() && looked < kMostAnswers; ++i) {
        if (!samples.final(i).answered || samples.final(i).passed) continue;
        ++looked;
        ++causes[CauseOf(*samples[i], plan.suite.cases[case_index])];
      }
      failures += looked;
    }
  }
  for (const auto& [cause, count] : causes) {
    if (count > 1 && 2 * count > failures) return cause;
  }
  return "";
}

}  // namespace

std::vector<OutsideCause> FindOutsideCauses(const RunData& data) {
  std::vector<OutsideCause> found;
  for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
    const std::string cause = CauseOfCase(data, i);
    if (cause.empty()) continue;
    auto known = std::find_if(found.begin(), found.end(), [&](const OutsideCause& one) { return one.cause == cause; });
    if (known == found.end()) {
      known = found.insert(found.end(), {cause, CureOf(cause, data.plan()), {}});
    }
    known->cases.push_back(data.plan().suite.cases[i].id);
  }
  return found;
}

}  // namespace upskill
