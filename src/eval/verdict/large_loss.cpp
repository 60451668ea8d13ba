// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/large_loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/verdict.h"
#include "util/percent.h"

namespace upskill {
namespace {

constexpr std::size_t kMostNames = 8;

// Pairs of one round that count, and the net loss among them.
struct RoundLoss {
  std::int64_t pairs = 0;
  std::int64_t net = 0;
};

// Answers that may be copies of the first round's count only there.
RoundLoss LossOfRound(const CompleteRounds& complete, std::size_t round) {
  struct UnitPasses {
    bool before = true;
    bool after = true;
    bool counts = true;
  };
  std::vector<UnitPasses> units(complete.unit_sizes.size());
  for (std::size_t i = 0; i < complete.cases.size(); ++i) {
    const AnswerPair pair = complete.pair(round, i);
    UnitPasses& unit = units[complete.units[i]];
    unit.before = unit.before && pair.without.passed;
    unit.after = unit.after && pair.with.passed;
    unit.counts = unit.counts && (round == 0 || complete.copied.empty() || !complete.copied[i]);
  }
  RoundLoss loss;
  for (const UnitPasses& unit : units) {
    if (!unit.counts) continue;
    ++loss.pairs;
    loss.net += (unit.before ? 1 : 0) - (unit.after ? 1 : 0);
  }
  return loss;
}

void AddCases(const CompleteRounds& complete, LargeLoss& loss) {
  int before = 0;
  int after = 0;
  for (std::size_t i = 0; i < complete.cases.size(); ++i) {
    CaseLoss one{complete.cases[i], 0, 0};
    for (std::size_t round = 0; round < complete.rounds.size(); ++round) {
      const AnswerPair pair = complete.pair(round, i);
      one.before += pair.without.passed ? 1 : 0;
      one.after += pair.with.passed ? 1 : 0;
    }
    before += one.before;
    after += one.after;
    if (one.after < one.before) loss.cases.push_back(one);
  }
  std::stable_sort(loss.cases.begin(), loss.cases.end(),
                   [](const CaseLoss& a, const CaseLoss& b) { return a.before - a.after > b.before - b.after; });
  loss.rounds = static_cast<int>(complete.rounds.size());
  const auto all = static_cast<double>(complete.cases.size() * complete.rounds.size());
  loss.before = before / all;
  loss.after = after / all;
}

}  // namespace

std::optional<LargeLoss> FindLargeLoss(const RunData& data, std::size_t student, Arm against, double alpha) {
  const CompleteRounds complete = FindCompleteRounds(data, against)[student];
  if (complete.rounds.empty()) return std::nullopt;
  const bool any_look = RoundsMayDependOnAnswers(data.plan(), complete.tried);
  LargeLoss loss;
  loss.guard = LossGuard(alpha, any_look);
  loss.answers_repeat = complete.answers_repeat;
  loss.units = static_cast<int>(complete.unit_sizes.size());
  const auto evidence = static_cast<int>(complete.evidence_rounds());
  loss.most_rounds = any_look && !loss.answers_repeat ? std::max(data.plan().rounds, evidence) : evidence;
  AddCases(complete, loss);
  RoundLoss total;
  int look = 0;
  for (int round = 1; round <= evidence && loss.state != LossGuard::State::kShown; ++round) {
    const RoundLoss more = LossOfRound(complete, static_cast<std::size_t>(round) - 1);
    total = {total.pairs + more.pairs, total.net + more.net};
    loss.p = LossGuard::PValue(total.pairs, total.net);
    const bool is_last = round == evidence && (!any_look || loss.answers_repeat || round >= data.plan().rounds);
    if (is_last || (any_look && total.pairs >= LossGuard::kFewestPairs))
      loss.state = loss.guard.At(++look, total.pairs, total.net);
  }
  if (loss.state != LossGuard::State::kShown || !data.has_lost_answers()) return loss;
  const std::optional<LargeLoss> with_lost = FindLargeLoss(data.AssumeLost(true), student, against, alpha);
  if (!with_lost || with_lost->state != LossGuard::State::kShown) loss.state = LossGuard::State::kOpen;
  return loss;
}

std::vector<CaseLoss> LargeLoss::Broken() const {
  std::vector<CaseLoss> broken;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(broken),
               [&](const CaseLoss& one) { return 2 * (one.before - one.after) >= rounds; });
  return broken;
}

std::string LargeLossText(const LargeLoss& loss, const Plan& plan) {
  std::string text = fmt::format("{:.0f} % → {:.0f} %", WholePercent(loss.before), WholePercent(loss.after));
  const std::vector<CaseLoss> broken = loss.Broken();
  if (loss.state != LossGuard::State::kShown || broken.empty()) return text;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min(broken.size(), kMostNames); ++i)
    names.emplace_back(plan.suite.cases[broken[i].case_index].id);
  const std::size_t more = broken.size() - names.size();
  return fmt::format("{}: {}{} broke", text, fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace upskill
