// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/good_enough.h"

#include <algorithm>
#include <deque>

#include "stats/near_best.h"

namespace upskill {
namespace {

constexpr double kSameRate = 1e-9;
constexpr std::size_t kHeldAtOnce = 3;  // choices whose answers are made while they are looked at, plus one

// The answers of a choice, for as long as they are looked at.
class HeldAnswers {
 public:
  explicit HeldAnswers(const PricedChoice& choice) : answers_(choice.answers) {
    if (answers_ == nullptr) answers_ = &own_.emplace(choice.load());
  }
  HeldAnswers(const HeldAnswers&) = delete;
  HeldAnswers& operator=(const HeldAnswers&) = delete;
  ~HeldAnswers() = default;

  const ChoiceAnswers& operator*() const { return *answers_; }

 private:
  std::optional<ChoiceAnswers> own_;
  const ChoiceAnswers* answers_;
};

// The contrasts of each choice with each other one. One is made for each pair: the other way round it says the same.
class Contrasts {
 public:
  static Result<Contrasts> Make(std::span<const PricedChoice> choices) {
    const auto is_known = [](const PricedChoice& choice) { return choice.answers != nullptr || choice.load; };
    if (!std::all_of(choices.begin(), choices.end(), is_known))
      return InputError("the answers of some choices are not known");
    Contrasts all(choices);
    const std::size_t size = choices.size();
    for (std::size_t first = 0; first < size; first += kHeldAtOnce) {
      const std::size_t end = std::min(first + kHeldAtOnce, size);
      std::deque<HeldAnswers> held;
      for (std::size_t i = first; i < end; ++i) held.emplace_back(choices[i]);
      for (std::size_t j = first + 1; j < size; ++j) {
        std::optional<HeldAnswers> other;
        if (j >= end) other.emplace(choices[j]);
        for (std::size_t i = first; i < std::min(j, end); ++i) {
          const ChoiceAnswers& b = other ? **other : *held[j - first];
          ASSIGN_OR_RETURN(all.contrasts_[i * size + j], MakeContrast(*held[i - first], b));
        }
      }
    }
    return all;
  }

  // Of i with j.
  std::optional<Contrast> Between(std::size_t i, std::size_t j) const {
    if (i < j) return contrasts_[i * choices_.size() + j];
    Result<Contrast> contrast = MakeContrast(*HeldAnswers(choices_[i]), *HeldAnswers(choices_[j]));
    return contrast ? std::optional(*std::move(contrast)) : std::nullopt;
  }

  // The p-value of "choice i is worse than some other by more than the margin".
  double PNear(std::size_t i, double margin) const {
    double p = 0.0;
    for (std::size_t j = 0; j < choices_.size(); ++j) {
      if (j != i) p = std::max(p, PNotWorse(i, j, margin));
    }
    return p;
  }

  // How many more rounds all contrasts of choice i need; nothing if one never shows it.
  std::optional<int> MoreFor(std::size_t i, double margin, double alpha) const {
    int most = 0;
    for (std::size_t j = 0; j < choices_.size(); ++j) {
      if (j == i || PNotWorse(i, j, margin) <= alpha) continue;
      const std::optional<Contrast> contrast = Between(i, j);
      const std::optional<int> more = contrast ? contrast->MoreFor(-margin, alpha) : std::nullopt;
      if (!more) return std::nullopt;
      most = std::max(most, *more);
    }
    return most;
  }

 private:
  explicit Contrasts(std::span<const PricedChoice> choices)
      : choices_(choices), contrasts_(choices.size() * choices.size()) {}

  // The p-value of "i is worse than j by more than the margin".
  double PNotWorse(std::size_t i, std::size_t j, double margin) const {
    const std::size_t size = choices_.size();
    return i < j ? contrasts_[i * size + j]->PAbove(-margin) : contrasts_[j * size + i]->PBelow(margin);
  }

  std::span<const PricedChoice> choices_;
  std::vector<std::optional<Contrast>> contrasts_;  // by i and j > i
};

bool IsCheaper(const PricedChoice& a, const PricedChoice& b) {
  return a.price < b.price || (a.price == b.price && a.rate > b.rate);
}

}  // namespace

std::optional<GoodEnough> FindGoodEnough(std::span<const PricedChoice> choices, double margin, double alpha) {
  if (choices.size() < 2) return std::nullopt;
  GoodEnough found;
  found.shown.assign(choices.size(), false);
  for (std::size_t i = 1; i < choices.size(); ++i) {
    const PricedChoice& best = choices[found.best];
    if (choices[i].rate > best.rate + kSameRate ||
        (choices[i].rate > best.rate - kSameRate && choices[i].price < best.price))
      found.best = i;
  }
  found.candidate = found.best;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool near = choices[i].rate + margin + kSameRate >= choices[found.best].rate;
    if (near && IsCheaper(choices[i], choices[found.candidate])) found.candidate = i;
  }
  const Result<Contrasts> contrasts = Contrasts::Make(choices);
  if (!contrasts) {
    found.problem = contrasts.error().message;
    return found;
  }
  std::vector<double> p_values;
  p_values.reserve(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) p_values.push_back(contrasts->PNear(i, margin));
  found.shown = NearBest(p_values, alpha);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (found.shown[i] && (!found.cheapest || IsCheaper(choices[i], choices[*found.cheapest]))) found.cheapest = i;
  }
  const std::size_t named = found.cheapest.value_or(found.candidate);
  if (named != found.best) found.with_best = contrasts->Between(named, found.best);
  if (!found.cheapest) {
    found.more = contrasts->MoreFor(found.candidate, margin, NearBestAlpha(choices.size(), alpha));
    const std::size_t other = found.candidate == 0 ? 1 : 0;
    const std::optional<Contrast> contrast =
        contrasts->Between(std::min(found.candidate, other), std::max(found.candidate, other));
    found.more_cases = contrast->answers_repeat;
  }
  return found;
}

}  // namespace upskill
