// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "eval/verdict/gate.h"
#include "eval/verdict/verdict_words.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kGrammar =
    "a gate consists of clauses such as not-regressed; helps:haiku,glm; not-hurts:* vs previous; tokens<+20%; lift>10; "
    "pass:haiku>80%; not-worse:haiku+skill vs opus:5";
constexpr std::string_view kVersus = " vs ";
constexpr std::string_view kEstimate = "@estimate";

constexpr std::array<std::pair<std::string_view, GateClause::Kind>, 5> kQuantities = {
    {{"tokens", GateClause::Kind::kTokens},
     {"cost", GateClause::Kind::kCost},
     {"seconds", GateClause::Kind::kSeconds},
     {"lift", GateClause::Kind::kLift},
     {"pass", GateClause::Kind::kPass}}};

std::optional<GateClause::Kind> QuantityNamed(std::string_view name) {
  for (const auto& [key, kind] : kQuantities) {
    if (key == name) return kind;
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

// "+20%" and "20" are both 20.
std::optional<double> NumberOf(std::string_view text) {
  std::string number(Trim(text));
  if (!number.empty() && number.back() == '%') number.pop_back();
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Takes ":10" from the end of the text: a margin in points. A model's name may contain colons as well.
std::optional<double> TakeMargin(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<double> points = NumberOf(text.substr(colon + 1));
  if (points) text = Trim(text.substr(0, colon));
  return points;
}

// Why a bound can't be meant; empty: it can.
std::string WhyNoBound(GateClause::Kind kind, double value, bool has_unit, std::string_view word, char sign) {
  const bool bounded = kind == GateClause::Kind::kPass || kind == GateClause::Kind::kLift;
  if (!has_unit && value != 0.0 && std::abs(value) < 1.0) {
    return fmt::format("bounds are in {}: write {}{}{:g}{}, or {}{}{:g}% if you mean that",
                       kind == GateClause::Kind::kLift ? "points" : "percent", word, sign, value * 100.0,
                       kind == GateClause::Kind::kLift ? "" : "%", word, sign, value);
  }
  if (kind == GateClause::Kind::kPass && value < 0.0) return "a pass rate is from 0 to 100 %";
  if (bounded && std::abs(value) > 100.0)
    return kind == GateClause::Kind::kPass ? "a pass rate is from 0 to 100 %" : "a lift is from -100 to 100 points";
  return "";
}

// Parses one clause. The parts found so far are members, so that each step can say what is wrong.
class ClauseParser {
 public:
  explicit ClauseParser(std::string_view text) { clause_.text = Trim(text); }

  Result<GateClause> Parse() {
    std::string_view text = clause_.text;
    if (text.ends_with(kEstimate)) {
      clause_.by_estimate = true;
      text = Trim(text.substr(0, text.size() - kEstimate.size()));
    }
    const std::size_t comparison = text.find_first_of("<>");
    std::string_view subject = Trim(text.substr(0, comparison));
    const std::size_t colon = subject.find(':');
    const std::string_view first = Trim(subject.substr(0, colon));
    if (comparison == std::string_view::npos && (first == "not-worse" || first == "better")) {
      if (colon == std::string_view::npos) return Bad("name two choices after a colon");
      return ChoicesClause(first == "better", subject.substr(colon + 1));
    }
    if (comparison == std::string_view::npos) clause_.margin = MarginOf(subject);
    RETURN_IF_ERROR(TakeVersus(subject));
    if (comparison == std::string_view::npos && !clause_.margin) clause_.margin = MarginOf(subject);
    RETURN_IF_ERROR(TakeModels(subject));
    if (comparison == std::string_view::npos) return VerdictClause();
    return Quantity(text[comparison], text.substr(comparison + 1));
  }

 private:
  Error Bad(const std::string& why) const {
    return InputError(fmt::format("gate clause '{}': {}; {}", clause_.text, why, kGrammar));
  }

  static std::optional<double> MarginOf(std::string_view& subject) {
    const std::optional<double> points = TakeMargin(subject);
    if (!points) return std::nullopt;
    return *points / 100.0;
  }

  // "helps:* vs previous": takes the arm.
  Status TakeVersus(std::string_view& subject) {
    const std::size_t versus = subject.rfind(kVersus);
    if (versus == std::string_view::npos) return {};
    const std::string_view name = Trim(subject.substr(versus + kVersus.size()));
    const Result<Arm> arm = ArmFromName(name);
    if (!arm || *arm == Arm::kSkill)
      return Bad(fmt::format("'{}' is not a comparison: must be baseline, placebo or previous", name));
    clause_.against = *arm;
    subject = Trim(subject.substr(0, versus));
    return {};
  }

  Status TakeModels(std::string_view subject) {
    const std::size_t colon = subject.find(':');
    word_ = Trim(subject.substr(0, colon));
    names_models_ = colon != std::string_view::npos;
    if (!names_models_) return {};
    const std::string_view list = subject.substr(colon + 1);
    if (Trim(list).empty()) return Bad("no model after the colon");
    clause_.models = ModelsOf(list);
    return {};
  }

  Result<GateClause> ChoicesClause(bool better, std::string_view choices) {
    clause_.kind = GateClause::Kind::kContrast;
    clause_.better = better;
    clause_.margin = MarginOf(choices);
    const std::size_t versus = choices.find(kVersus);
    if (versus == std::string_view::npos) return Bad("name two choices, such as haiku+skill vs opus");
    for (const std::string_view part : {choices.substr(0, versus), choices.substr(versus + kVersus.size())}) {
      Result<GateChoice> choice = ParseGateChoice(part);
      if (!choice) return Bad(choice.error().message);
      clause_.choices.push_back(std::move(choice).value());
    }
    return CheckMargin();
  }

  Result<GateClause> Quantity(char sign, std::string_view bound_text) {
    const std::optional<GateClause::Kind> quantity = QuantityNamed(word_);
    if (!quantity) return Bad(fmt::format("unknown quantity '{}'", word_));
    const std::optional<double> bound = NumberOf(bound_text);
    if (!bound && Trim(bound_text).starts_with('='))
      return Bad(
          fmt::format("bounds are set with > and <: write {}{}{}", word_, sign, Trim(Trim(bound_text).substr(1))));
    if (!bound) return Bad("the bound is not a number");
    const std::string why = WhyNoBound(*quantity, *bound, bound_text.find('%') != std::string_view::npos, word_, sign);
    if (!why.empty()) return Bad(why);
    if (clause_.against && *quantity == GateClause::Kind::kPass) return Bad("a pass rate isn't compared with an arm");
    clause_.kind = *quantity;
    clause_.less = sign == '<';
    clause_.bound = *bound / 100.0;
    return clause_;
  }

  Result<GateClause> VerdictClause() {
    if (word_ == "helps-in-general") {
      clause_.kind = GateClause::Kind::kInGeneral;
    } else if (word_ == "not-hurts") {
      clause_.kind = GateClause::Kind::kNotHurts;
      clause_.verdict = Verdict::kHurts;
    } else if (word_ == "not-regressed") {
      clause_.kind = GateClause::Kind::kNotRegressed;
      if (!clause_.against) clause_.against = Arm::kPrevious;
      if (clause_.by_estimate) return Bad("not-regressed is a test, and has no @estimate");
      return CheckMargin();
    } else {
      std::string_view word = word_;
      clause_.kind = GateClause::Kind::kVerdict;
      if (word.starts_with("not-")) {
        clause_.kind = GateClause::Kind::kNotVerdict;
        word.remove_prefix(4);
      }
      const auto* const verdict =
          std::find_if(kAllVerdicts.begin(), kAllVerdicts.end(), [&](Verdict one) { return VerdictSlug(one) == word; });
      if (verdict == kAllVerdicts.end()) return Bad(fmt::format("unknown verdict '{}'", word));
      clause_.verdict = *verdict;
    }
    if (!names_models_) return Bad("name the models after a colon, or * for all");
    return CheckMargin();
  }

  Result<GateClause> CheckMargin() const {
    if (!clause_.margin) return clause_;
    if (clause_.kind != GateClause::Kind::kNotHurts && (clause_.kind != GateClause::Kind::kContrast || clause_.better))
      return Bad("only not-hurts and not-worse have a margin");
    if (*clause_.margin <= 0.0 || *clause_.margin >= 1.0) return Bad("the margin must be between 0 and 100 points");
    if (*clause_.margin < 0.01)
      return Bad(fmt::format("the margin is in points: write {:g} for {:g} points", *clause_.margin * 1e4,
                             *clause_.margin * 1e4));
    return clause_;
  }

  GateClause clause_;
  std::string word_;
  bool names_models_ = false;
};

}  // namespace

Result<GateChoice> ParseGateChoice(std::string_view text) {
  GateChoice choice;
  text = Trim(text);
  const std::size_t plus = text.rfind('+');
  if (plus != std::string_view::npos) {
    const Result<Arm> arm = ArmFromName(Trim(text.substr(plus + 1)));
    if (arm) {
      choice.arm = *arm;
      text = Trim(text.substr(0, plus));
    }
  }
  if (text.empty()) return InputError("a choice is a model such as opus, or haiku+skill with the skill");
  choice.model = text;
  return choice;
}

Result<Gate> ParseGate(const std::string& text) {
  Gate gate;
  for (const std::string& part : SplitTrimmed(text, ';')) {
    ASSIGN_OR_RETURN(GateClause clause, ClauseParser(part).Parse());
    gate.clauses.push_back(std::move(clause));
  }
  if (gate.clauses.empty()) return InputError(fmt::format("the gate is empty; {}", kGrammar));
  return gate;
}

}  // namespace upskill
