// SPDX-License-Identifier: Apache-2.0
#include "eval/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kGrammar =
    "a gate consists of clauses such as helps:haiku,glm; not-hurts:*; tokens<+20%; lift>10; pass:haiku>80%";

constexpr double kTolerance = 1e-9;  // a change of exactly 15 % is not less than 15 %

constexpr std::array<std::pair<std::string_view, Verdict>, 4> kVerdicts = {{{"helps", Verdict::kHelps},
                                                                            {"hurts", Verdict::kHurts},
                                                                            {"no-effect", Verdict::kNoEffect},
                                                                            {"undecided", Verdict::kUndecided}}};
constexpr std::array<std::pair<std::string_view, GateClause::Kind>, 5> kQuantities = {
    {{"tokens", GateClause::Kind::kTokens},
     {"cost", GateClause::Kind::kCost},
     {"seconds", GateClause::Kind::kSeconds},
     {"lift", GateClause::Kind::kLift},
     {"pass", GateClause::Kind::kPass}}};

template <typename Value, std::size_t Size>
std::optional<Value> ValueNamed(const std::array<std::pair<std::string_view, Value>, Size>& table,
                                std::string_view name) {
  for (const auto& [key, value] : table) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> SplitTrimmed(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view part = Trim(text.substr(0, end));
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> ModelsOf(std::string_view list) {
  std::vector<std::string> models = SplitTrimmed(list, ',');
  if (std::find(models.begin(), models.end(), "*") != models.end()) models.clear();
  return models;
}

// "+20%" and "20" are both 0.2.
std::optional<double> BoundOf(std::string_view text) {
  std::string number(Trim(text));
  if (!number.empty() && number.back() == '%') number.pop_back();
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value / 100.0;
}

Result<GateClause> ParseClause(const std::string& text) {
  const auto bad = [&](const std::string& why) {
    return InputError(fmt::format("gate clause '{}': {}; {}", text, why, kGrammar));
  };
  GateClause clause;
  clause.text = text;
  const std::size_t comparison = text.find_first_of("<>");
  const std::string_view subject = Trim(std::string_view(text).substr(0, comparison));
  const std::size_t colon = subject.find(':');
  std::string_view word = Trim(subject.substr(0, colon));
  const bool names_models = colon != std::string_view::npos;
  if (names_models) {
    const std::string_view list = subject.substr(colon + 1);
    if (Trim(list).empty()) return bad("no model after the colon");
    clause.models = ModelsOf(list);
  }
  if (comparison != std::string::npos) {
    const std::optional<GateClause::Kind> quantity = ValueNamed(kQuantities, word);
    if (!quantity) return bad(fmt::format("unknown quantity '{}'", word));
    const std::optional<double> bound = BoundOf(std::string_view(text).substr(comparison + 1));
    if (!bound) return bad("the bound is not a number");
    clause.kind = *quantity;
    clause.less = text[comparison] == '<';
    clause.bound = *bound;
    return clause;
  }
  clause.kind = GateClause::Kind::kVerdict;
  if (word.starts_with("not-")) {
    clause.kind = GateClause::Kind::kNotVerdict;
    word.remove_prefix(4);
  }
  const std::optional<Verdict> verdict = ValueNamed(kVerdicts, word);
  if (!verdict) return bad(fmt::format("unknown verdict '{}'", word));
  if (!names_models) return bad("name the models after a colon, or * for all");
  clause.verdict = *verdict;
  return clause;
}

std::optional<double> RatioOf(const std::optional<PairedChange>& change) {
  return change ? change->ratio() : std::nullopt;
}

std::optional<double> ValueOf(GateClause::Kind kind, const StudentSummary& summary, const StudentVerdict& verdict) {
  switch (kind) {
    case GateClause::Kind::kTokens:
      return RatioOf(verdict.output_tokens);
    case GateClause::Kind::kCost:
      return RatioOf(verdict.cost_usd);
    case GateClause::Kind::kSeconds:
      return RatioOf(verdict.seconds);
    case GateClause::Kind::kLift:
      return verdict.lift;
    case GateClause::Kind::kPass: {
      const auto arm = summary.arms.find(Arm::kSkill);
      return arm == summary.arms.end() ? std::nullopt : arm->second.rate();
    }
    case GateClause::Kind::kVerdict:
    case GateClause::Kind::kNotVerdict:
      break;
  }
  return std::nullopt;
}

std::string WhyUnknown(const StudentSummary& summary) {
  const bool comparable = summary.arms.contains(Arm::kBaseline) || summary.arms.contains(Arm::kPrevious);
  return comparable ? "unknown: no round was answered in both arms"
                    : "unknown: the run has no baseline to compare with";
}

GateResult CheckClause(const GateClause& clause, const StudentSummary& summary, const StudentVerdict& verdict) {
  GateResult result{clause.text, summary.student.name, false, VerdictName(verdict.word)};
  if (clause.kind == GateClause::Kind::kVerdict || clause.kind == GateClause::Kind::kNotVerdict) {
    if (!verdict.lift) {
      result.detail = WhyUnknown(summary);
      return result;
    }
    result.passed = (verdict.word == clause.verdict) == (clause.kind == GateClause::Kind::kVerdict);
    return result;
  }
  const std::optional<double> value = ValueOf(clause.kind, summary, verdict);
  if (!value) {
    result.detail = clause.kind == GateClause::Kind::kPass || verdict.lift ? "unknown" : WhyUnknown(summary);
    return result;
  }
  const bool is_change = clause.kind != GateClause::Kind::kPass;
  result.detail = fmt::format("{}{:.1f} {}", is_change && *value >= 0 ? "+" : "", *value * 100.0,
                              clause.kind == GateClause::Kind::kLift ? "points" : "%");
  result.passed = clause.less ? *value < clause.bound - kTolerance : *value > clause.bound + kTolerance;
  return result;
}

bool Names(const GateClause& clause, const Student& student) {
  return clause.models.empty() ||
         std::any_of(clause.models.begin(), clause.models.end(),
                     [&](const std::string& model) { return model == student.name || model == student.spec; });
}

}  // namespace

Result<Gate> ParseGate(const std::string& text) {
  Gate gate;
  for (const std::string& part : SplitTrimmed(text, ';')) {
    ASSIGN_OR_RETURN(GateClause clause, ParseClause(part));
    gate.clauses.push_back(std::move(clause));
  }
  if (gate.clauses.empty()) return InputError(fmt::format("the gate is empty; {}", kGrammar));
  return gate;
}

Status CheckGateModels(const Gate& gate, const Plan& plan) {
  for (const GateClause& clause : gate.clauses) {
    for (const std::string& model : clause.models) {
      const bool known = std::any_of(plan.students.begin(), plan.students.end(), [&](const Student& student) {
        return model == student.name || model == student.spec;
      });
      if (!known) {
        return InputError(fmt::format("gate clause '{}': the run has no model '{}'", clause.text, model));
      }
    }
  }
  return {};
}

std::vector<GateResult> CheckGate(const Gate& gate, const JudgedRun& run) {
  std::vector<GateResult> results;
  for (const GateClause& clause : gate.clauses) {
    for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
      if (Names(clause, run.summary.students[i].student))
        results.push_back(CheckClause(clause, run.summary.students[i], run.verdicts[i]));
    }
  }
  return results;
}

}  // namespace upskill
