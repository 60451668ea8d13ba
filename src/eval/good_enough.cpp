// SPDX-License-Identifier: Apache-2.0
#include "eval/good_enough.h"

#include <algorithm>

#include "stats/near_best.h"

namespace upskill {
namespace {

constexpr double kSameRate = 1e-9;

// The contrasts of each choice with each other one.
class Contrasts {
 public:
  static Result<Contrasts> Make(std::span<const PricedChoice> choices) {
    Contrasts all(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      for (std::size_t j = 0; j < choices.size(); ++j) {
        if (choices[i].answers == nullptr || choices[j].answers == nullptr)
          return InputError("the answers of some choices are not known");
        if (i == j) continue;
        ASSIGN_OR_RETURN(all.contrasts_[i * choices.size() + j],
                         MakeContrast(*choices[i].answers, *choices[j].answers));
      }
    }
    return all;
  }

  const Contrast& at(std::size_t i, std::size_t j) const { return *contrasts_[i * size_ + j]; }

  // The p-value of "choice i is worse than some other by more than the margin".
  double PNear(std::size_t i, double margin) const {
    double p = 0.0;
    for (std::size_t j = 0; j < size_; ++j) {
      if (j != i) p = std::max(p, at(i, j).PAbove(-margin));
    }
    return p;
  }

  // How many more rounds all contrasts of choice i need; nothing if one never shows it.
  std::optional<int> MoreFor(std::size_t i, double margin, double alpha) const {
    int most = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      if (j == i || at(i, j).PAbove(-margin) <= alpha) continue;
      const std::optional<int> more = at(i, j).MoreFor(-margin, alpha);
      if (!more) return std::nullopt;
      most = std::max(most, *more);
    }
    return most;
  }

 private:
  explicit Contrasts(std::size_t size) : size_(size), contrasts_(size * size) {}

  std::size_t size_;
  std::vector<std::optional<Contrast>> contrasts_;
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
  if (named != found.best) found.with_best = contrasts->at(named, found.best);
  if (!found.cheapest) {
    found.more = contrasts->MoreFor(found.candidate, margin, NearBestAlpha(choices.size(), alpha));
    const std::size_t other = found.candidate == 0 ? 1 : 0;
    found.more_cases = contrasts->at(found.candidate, other).answers_repeat;
  }
  return found;
}

}  // namespace upskill
