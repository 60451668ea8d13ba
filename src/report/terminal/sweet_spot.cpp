// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "report/terminal/figures.h"
#include "report/terminal/matrix.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

void AddChoice(std::vector<Choice>& choices, const MatrixCell& cell, bool with_skill) {
  const ArmSummary& arm = with_skill ? cell.with_skill : cell.baseline;
  if (!arm.rate()) return;
  choices.push_back({&cell, with_skill, *arm.rate(), arm.mean_tokens(), arm.mean_cost_usd()});
}

// What makes the answers of a choice that the matrix doesn't keep; empty: nothing does.
std::function<ChoiceAnswers()> LoadingOf(const Choice& choice) {
  if (!choice.cell->load_answers) return {};
  return
      [load = choice.cell->load_answers, arm = choice.with_skill ? Arm::kSkill : Arm::kBaseline] { return load(arm); };
}

// Whether `a` is at least as good as `b` in everything that is known of both, and better in something.
bool Dominates(const Choice& a, const Choice& b) {
  const bool comparable = a.cost_usd.has_value() == b.cost_usd.has_value();
  const bool by_tokens = a.tokens && b.tokens;
  if (!comparable || a.rate < b.rate || (by_tokens && *a.tokens > *b.tokens)) return false;
  if (a.cost_usd && *a.cost_usd > *b.cost_usd) return false;
  return a.rate > b.rate || (by_tokens && *a.tokens < *b.tokens) || (a.cost_usd && *a.cost_usd < *b.cost_usd);
}

std::string LabelOf(const Choice& choice) {
  return fmt::format("{} {} the skill", choice.cell->name, choice.with_skill ? "with" : "without");
}

double PriceOf(const SweetSpot& spot, std::size_t i) {
  return spot.by_cost ? *spot.choices[i].cost_usd : *spot.choices[i].tokens;
}

std::string MarginText(double margin) { return fmt::format("{:g} point{}", margin * 100.0, margin == 0.01 ? "" : "s"); }

const char* WhatItCosts(const SweetSpot& spot) { return spot.by_cost ? "cost" : "tokens"; }

// What the named choice costs in proportion to the best one.
struct PriceShare {
  double ratio = 1.0;
  std::optional<Interval> range;
};

std::optional<PriceShare> ShareOf(const SweetSpot& spot, std::size_t choice) {
  const double best = spot.best ? PriceOf(spot, *spot.best) : 0.0;
  if (best <= 0.0) return std::nullopt;
  PriceShare share{PriceOf(spot, choice) / best, {}};
  if (!spot.test || !spot.test->with_best) return share;
  const std::optional<PairedMeans>& means =
      spot.by_cost ? spot.test->with_best->cost_usd : spot.test->with_best->tokens;
  if (!means || !means->ratio()) return share;
  share.ratio = *means->ratio();
  share.range = means->Ratio(0.95);
  return share;
}

// "at 14 % of its cost"
std::string AtShare(const SweetSpot& spot, std::size_t choice, const std::string& whose) {
  const std::optional<PriceShare> share = ShareOf(spot, choice);
  if (!share) return "";
  return fmt::format("at {} of {}", PercentText(share->ratio), whose);
}

TerminalText ShownLine(const SweetSpot& spot) {
  const std::string claim = fmt::format("{} is not worse than any other choice by more than {} (95 % sure)",
                                        LabelOf(spot.choices[*spot.sweet_spot]), MarginText(spot.margin));
  if (spot.choices[*spot.sweet_spot].has_doubtful_skill())
    return TerminalText::Format("best value: none: {}, but the skill isn't shown to help\n", claim);
  if (spot.sweet_spot == spot.best) {
    bool is_cheapest = true;
    for (std::size_t i = 0; i < spot.choices.size(); ++i)
      is_cheapest = is_cheapest && PriceOf(spot, i) >= PriceOf(spot, *spot.best);
    if (is_cheapest) return TerminalText::Format("best value: {}; nothing is cheaper\n", claim);
    return TerminalText::Format("best value: {}; {} has been shown to be as good\n", claim,
                                spot.by_cost ? "nothing cheaper" : "nothing that uses fewer tokens");
  }
  const std::string whose =
      fmt::format("the {} of the best ({})", WhatItCosts(spot), LabelOf(spot.choices[*spot.best]));
  const std::string at = AtShare(spot, *spot.sweet_spot, whose);
  return TerminalText::Format("best value: {}{}{}\n", claim, at.empty() ? "" : ", ", at);
}

// What is missing for a claim.
std::string MissingText(const SweetSpot& spot) {
  const GoodEnough& test = *spot.test;
  if (!test.more) return "";
  const char* what = test.more_cases ? "case" : "round";
  return fmt::format("; about {} more {}{} like these would show it", WithThousands(*test.more), what,
                     *test.more == 1 ? "" : "s");
}

bool AnyPassed(const SweetSpot& spot) {
  return std::any_of(spot.choices.begin(), spot.choices.end(), [](const Choice& choice) { return choice.rate > 0.0; });
}

TerminalText NotShownLine(const SweetSpot& spot) {
  const GoodEnough& test = *spot.test;
  if (!test.problem.empty()) return TerminalText::Format("best value: not shown: {}\n", test.problem);
  const Choice& candidate = spot.choices[test.candidate];
  const Choice& best = spot.choices[test.best];
  if (!AnyPassed(spot)) return "best value: not shown: no answer passed\n";
  if (test.candidate == test.best) {
    return TerminalText::Format(
        "best value: not shown: {} has the highest pass rate, but another choice may be better by more than {}{}\n",
        LabelOf(candidate), MarginText(spot.margin), MissingText(spot));
  }
  const double points = WholePercent(best.rate) - WholePercent(candidate.rate);
  const std::string rate = points == 0 ? "as good as the best"
                                       : fmt::format("{:.0f} point{} below the best", points, points == 1 ? "" : "s");
  const std::string at = AtShare(spot, test.candidate, fmt::format("its {}", WhatItCosts(spot)));
  return TerminalText::Format(
      "best value: not shown: {} is {} ({}){}{} by the estimate, but may be worse by more than "
      "{}{}\n",
      LabelOf(candidate), rate, LabelOf(best), at.empty() ? "" : " ", at, MarginText(spot.margin), MissingText(spot));
}

// By cost if it is known of every choice and not 0 for all; else by tokens. Choices of which that isn't known can't be
// compared.
void LeaveOutUnpriced(SweetSpot& spot) {
  const auto has_cost = [](const Choice& choice) { return choice.cost_usd.has_value(); };
  const auto is_priced = [](const Choice& choice) { return choice.cost_usd.has_value() || choice.tokens.has_value(); };
  const auto unpriced = std::stable_partition(spot.choices.begin(), spot.choices.end(), is_priced);
  spot.not_compared.assign(unpriced, spot.choices.end());
  spot.choices.erase(unpriced, spot.choices.end());
  const bool any_cost = std::any_of(spot.choices.begin(), spot.choices.end(),
                                    [](const Choice& choice) { return choice.cost_usd.value_or(0.0) > 0.0; });
  const bool all_tokens = std::all_of(spot.choices.begin(), spot.choices.end(),
                                      [](const Choice& choice) { return choice.tokens.has_value(); });
  spot.by_cost = std::all_of(spot.choices.begin(), spot.choices.end(), has_cost) && (any_cost || !all_tokens);
  if (spot.by_cost || all_tokens) return;
  const auto with_tokens = std::stable_partition(spot.choices.begin(), spot.choices.end(),
                                                 [](const Choice& choice) { return choice.tokens.has_value(); });
  spot.not_compared.insert(spot.not_compared.end(), with_tokens, spot.choices.end());
  spot.choices.erase(with_tokens, spot.choices.end());
}

Json ChoiceToJson(const Choice& choice) {
  return {{"model", choice.cell->model},
          {"with_skill", choice.with_skill},
          {"rate", choice.rate},
          {"tokens", JsonOrNull(choice.tokens)},
          {"cost_usd", JsonOrNull(choice.cost_usd)}};
}

Json RangeToJson(const std::optional<Interval>& range) {
  if (!range) return nullptr;
  return {{"low", range->low}, {"high", range->high}};
}

}  // namespace

SweetSpot FindSweetSpot(const Matrix& matrix, const std::string& skill, double margin) {
  SweetSpot spot;
  spot.margin = margin;
  for (const std::string& model : matrix.models) {
    const MatrixCell* cell = matrix.at(skill, model);
    if (cell == nullptr) continue;
    AddChoice(spot.choices, *cell, false);
    AddChoice(spot.choices, *cell, true);
  }
  LeaveOutUnpriced(spot);
  std::vector<PricedChoice> priced;
  for (std::size_t i = 0; i < spot.choices.size(); ++i) {
    const Choice& choice = spot.choices[i];
    if (std::none_of(spot.choices.begin(), spot.choices.end(),
                     [&](const Choice& other) { return Dominates(other, choice); }))
      spot.pareto.push_back(i);
    priced.push_back({choice.answers(), LoadingOf(choice), choice.rate, PriceOf(spot, i)});
  }
  if (!AnyPassed(spot)) spot.pareto.clear();
  if (priced.size() == 1 && AnyPassed(spot)) spot.best = 0;
  spot.test = FindGoodEnough(priced, margin);
  if (!spot.test) return spot;
  if (!AnyPassed(spot)) {
    spot.test->cheapest.reset();
    return spot;
  }
  spot.best = spot.test->best;
  spot.sweet_spot = spot.test->cheapest;
  return spot;
}

TerminalText SweetSpotLine(const SweetSpot& spot) {
  if (!spot.test) return "";
  return spot.sweet_spot ? ShownLine(spot) : NotShownLine(spot);
}

TerminalText NotComparedLine(const SweetSpot& spot) {
  if (spot.not_compared.empty()) return "";
  std::vector<std::string> names;
  bool any_known = false;
  for (const Choice& choice : spot.not_compared) {
    any_known = any_known || choice.cost_usd || choice.tokens;
    if (std::find(names.begin(), names.end(), choice.cell->name) == names.end()) names.push_back(choice.cell->name);
  }
  return TerminalText::Format(
      "not compared: {} ({})\n", TerminalText::Join(names, ", "),
      any_known ? "its tokens are not known, and the cost of others isn't" : "neither tokens nor cost are known");
}

RunChoices ChoicesOfRun(const JudgedRun& run, double margin) {
  constexpr std::size_t kManyCells =
      1'000'000;  // making the answers of fewer again and again takes longer than it is worth
  const bool is_light = run.choices.empty() && run.summary.cells > kManyCells;
  RunChoices choices{is_light ? MakeLightMatrix(run) : MakeMatrix({&run, 1}), {}};
  choices.spot = FindSweetSpot(choices.matrix, run.plan().skill.name, margin);
  return choices;
}

TerminalText SweetSpotNote(const JudgedRun& run, double margin) {
  if (run.plan().students.size() < 2) return "";
  return SweetSpotLine(ChoicesOfRun(run, margin).spot);
}

Json SweetSpotToJson(const SweetSpot& spot, const std::string& skill) {
  Json pareto = Json::array();
  for (const std::size_t i : spot.pareto) pareto.push_back(ChoiceToJson(spot.choices[i]));
  Json not_compared = Json::array();
  for (const Choice& choice : spot.not_compared) not_compared.push_back(ChoiceToJson(choice));
  Json shown = Json::array();
  Json candidate = nullptr;
  Json share = nullptr;
  Json difference = nullptr;
  if (spot.test) {
    const std::size_t named = spot.sweet_spot.value_or(spot.test->candidate);
    for (std::size_t i = 0; i < spot.choices.size(); ++i) {
      if (spot.test->shown[i]) shown.push_back(ChoiceToJson(spot.choices[i]));
    }
    candidate = ChoiceToJson(spot.choices[named]);
    if (const std::optional<PriceShare> of_best = ShareOf(spot, named)) {
      share = {{"ratio", of_best->ratio}, {"range", RangeToJson(of_best->range)}};
    }
    if (spot.test->with_best) {
      difference = RangeToJson(spot.test->with_best->Range());
      difference["estimate"] = spot.test->with_best->difference();
    }
  }
  return {{"skill", skill},
          {"margin", spot.margin},
          {"best", spot.best ? ChoiceToJson(spot.choices[*spot.best]) : Json(nullptr)},
          {"sweet_spot", spot.sweet_spot && !spot.choices[*spot.sweet_spot].has_doubtful_skill()
                             ? ChoiceToJson(spot.choices[*spot.sweet_spot])
                             : Json(nullptr)},
          {"shown", std::move(shown)},
          {"candidate", std::move(candidate)},
          {"difference_to_best", std::move(difference)},
          {"price_of_best", std::move(share)},
          {"more_rounds", spot.test && !spot.test->more_cases ? JsonOrNull(spot.test->more) : Json(nullptr)},
          {"more_cases", spot.test && spot.test->more_cases ? JsonOrNull(spot.test->more) : Json(nullptr)},
          {"problem", spot.test && !spot.test->problem.empty() ? Json(spot.test->problem) : Json(nullptr)},
          {"by", spot.by_cost ? "cost" : "tokens"},
          {"pareto", std::move(pareto)},
          {"not_compared", std::move(not_compared)}};
}

}  // namespace upskill
