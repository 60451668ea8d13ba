// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/judge_text.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kOwnDigits = -1;  // as many as an amount has where it stands alone

double Rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

// `digits`: after the point, of tokens and seconds.
std::string AmountText(double value, Unit unit, int digits) {
  switch (unit) {
    case Unit::kTokens:
      return digits > 0 ? fmt::format("{:.{}f}", Rounded(value, digits), digits) : NumberText(value);
    case Unit::kSeconds:
      return digits == kOwnDigits ? SecondsText(value) : fmt::format("{:.{}f} s", Rounded(value, digits), digits);
    case Unit::kMoney:
      break;
  }
  return MoneyText(value);
}

bool IsZero(const std::string& text) { return text.find_first_of("123456789") == std::string::npos; }

// "+9", "-$0.0010", "0".
std::string SignedText(double value, Unit unit, int digits) {
  const std::string text = AmountText(std::abs(value), unit, digits);
  if (IsZero(text)) return AmountText(0.0, unit, 0);
  return (value > 0 ? "+" : "-") + text;
}

// The difference of the rounded figures.
double ShownChange(const PairedChange& change, int digits) {
  return Rounded(change.with, digits) - Rounded(change.without, digits);
}

// Enough digits to show that a change isn't 0 and equals the difference between the two figures beside it. From ten
// tokens up, figures are rounded to whole tokens.
int DigitsFor(const PairedChange& change, Unit unit) {
  if (unit == Unit::kTokens && std::max(change.without, change.with) >= 10.0) return 0;
  const bool in_seconds = unit == Unit::kSeconds && std::max(change.without, change.with) >= 1.0;
  if (unit != Unit::kTokens && !in_seconds) return kOwnDigits;
  constexpr int kMost = 2;
  for (int digits = 0; digits <= kMost; ++digits) {
    if (IsZero(AmountText(std::abs(change.change()), unit, digits))) continue;
    if (std::abs(ShownChange(change, digits) - Rounded(change.change(), digits)) < 1e-6) return digits;
  }
  return IsZero(AmountText(std::abs(change.change()), unit, kMost)) ? 0 : kMost;
}

std::string PercentChangeText(double ratio) {
  const double percent = WholePercent(ratio);
  return fmt::format("{}{:.0f} %", percent > 0 ? "+" : "", percent);
}

}  // namespace

void VisitSamplesByCase(const RunData& data, const std::function<void(const Sample&)>& visit) {
  for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
    for (std::size_t student = 0; student < data.plan().students.size(); ++student) {
      for (const Arm arm : data.plan().arms) {
        for (const SamplePtr& sample : data.samples(student, arm, i)) visit(*sample);
      }
    }
  }
}

int MostRounds(const JudgedRun& run) {
  int most = 0;
  for (const StudentSummary& student : run.summary.students) most = std::max(most, student.rounds);
  return most;
}

std::string RoundsText(const JudgedRun& run) {
  const int planned = std::max(run.plan().rounds, 0);
  const int most = MostRounds(run);
  int fewest = most;
  for (const StudentSummary& student : run.summary.students) fewest = std::min(fewest, student.rounds);
  if (fewest >= planned || most <= 0) return Counted(static_cast<std::size_t>(planned), "round");
  return fmt::format("{}{} of {} planned", fewest < most ? fmt::format("{} to ", fewest) : "",
                     Counted(static_cast<std::size_t>(most), "round"), planned);
}

std::optional<Arm> ReferenceArm(const Plan& plan) {
  const Arm arm = ComparedArm(plan);
  if (!plan.has_arm(arm)) return std::nullopt;
  return arm;
}

std::string ArmLabel(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "baseline";
    case Arm::kSkill:
      return "with skill";
    case Arm::kPlacebo:
      return "placebo";
    case Arm::kPrevious:
      return "previous version";
  }
  return "";
}

std::string PointsText(double fraction) {
  const double points = WholePercent(fraction);
  return fmt::format("{}{:.0f}", points > 0 ? "+" : "", points);
}

std::string NumberText(double value) { return WithThousands(std::llround(value)); }

std::string SecondsText(double seconds) {
  const double ms = std::abs(seconds) * 1000.0;
  if (ms < 0.05) return "0 s";
  if (ms < 99.5) return fmt::format("{:.{}f} ms", seconds * 1000.0, ms < 9.95 ? 1 : 0);
  return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 1 : 0);
}

std::string ChangeText(const PairedChange& change, Unit unit, std::string_view per) {
  const int digits = DigitsFor(change, unit);
  std::string text =
      fmt::format("{} → {}{}", AmountText(change.without, unit, digits), AmountText(change.with, unit, digits), per);
  if (change.change() == 0.0) return text;
  const double shown = digits == kOwnDigits ? change.change() : ShownChange(change, digits);
  const std::string amount = SignedText(shown, unit, digits);
  text += ": " + amount;
  // Of a change that is shown as 0, a percentage would say something else.
  if (const std::optional<double> ratio = change.ratio(); ratio && !IsZero(amount))
    text += ", " + PercentChangeText(*ratio);
  return text;
}

std::string PerThousandText(const StudentVerdict& verdict) {
  constexpr double kAnswers = 1000.0;
  constexpr double kExact = 10'000.0;  // tokens; more of them are rounded to whole thousands
  const auto sign = [](double change) { return std::string(change > 0.0 ? "+" : "-"); };
  std::string text;
  if (verdict.tokens) {
    const double exact = verdict.tokens->change() * kAnswers;
    const double tokens = std::abs(exact) < kExact ? std::round(exact) : 1000.0 * std::round(exact / 1000.0);
    text = tokens == 0.0 ? "no more tokens" : fmt::format("{}{} tokens", sign(tokens), NumberText(std::abs(tokens)));
  }
  if (verdict.cost_usd && (verdict.cost_usd->without > 0.0 || verdict.cost_usd->with > 0.0)) {
    const double usd = verdict.cost_usd->change() * kAnswers;
    text +=
        fmt::format("{}{}", text.empty() ? "" : ", ", usd == 0.0 ? "same cost" : sign(usd) + MoneyText(std::abs(usd)));
  } else if (verdict.cost_usd) {
    text += text.empty() ? "free" : " (free)";
  }
  return text;
}

bool IsFree(const Student& student, const StudentVerdict& verdict) {
  if (verdict.cost_usd) return verdict.cost_usd->without == 0.0 && verdict.cost_usd->with == 0.0;
  const bool is_paid_simulation = student.identity.find("cost=") != std::string::npos;
  return student.identity.starts_with("llama:") || (student.identity.starts_with("sim:") && !is_paid_simulation);
}

std::string LikelyText(double low, double high) {
  return fmt::format("likely {} … {}", PointsText(low), PointsText(high));
}

std::optional<double> LiftOf(const JudgedRun& run, std::size_t student) {
  if (run.verdicts[student].lift) return run.verdicts[student].lift;
  return run.summary.students[student].lift;
}

std::optional<Verdict> WordOf(const JudgedRun& run, std::size_t student) {
  if (!LiftOf(run, student)) return std::nullopt;
  return run.verdicts[student].word;
}

const ArmSummary* ArmOf(const StudentSummary& student, Arm arm) {
  const auto found = student.arms.find(arm);
  return found == student.arms.end() ? nullptr : &found->second;
}

std::vector<std::string> RemarksOn(const Plan& plan) {
  std::vector<std::string> remarks;
  if (!plan.rechecked_from.empty())
    remarks.push_back(fmt::format("rechecked from run {}: its answers, checked again", plan.rechecked_from));
  if (!plan.left_out.empty())
    remarks.push_back(fmt::format("{} left out: {}{}", Counted(plan.left_out.size(), "case"), plan.left_out.front(),
                                  plan.left_out.size() > 1 ? "; …" : ""));
  if (plan.measures_activation()) {
    remarks.push_back(fmt::format("activation: each query shows the skill among {}",
                                  plan.workspace->others.empty()
                                      ? "no others; name some with --among"
                                      : Counted(plan.workspace->others.size(), "other skill")));
  }
  if (plan.judge) remarks.push_back(JudgeText(plan));
  return remarks;
}

}  // namespace upskill
