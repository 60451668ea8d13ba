// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/contrast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/missing.h"
#include "stats/e_process.h"
#include "stats/expense_interval.h"
#include "stats/score_test.h"

namespace upskill {
namespace {

constexpr int kMaxMore = 10000;  // a longer forecast isn't reported
constexpr Interval kAny{-1.0, 1.0};

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The same case of B for each of A's.
Result<std::vector<std::size_t>> MatchCases(const ChoiceAnswers& a, const ChoiceAnswers& b) {
  const auto differ = [&](const std::string& why) {
    return InputError(fmt::format("{} and {} can't be compared: {}", a.label(), b.label(), why));
  };
  if (a.system_prompt != b.system_prompt) return differ("their runs have different system prompts");
  if (a.max_tokens != b.max_tokens)
    return differ(fmt::format("their runs allow {} and {} tokens an answer", a.max_tokens, b.max_tokens));
  if (a.temperature != b.temperature) return differ("their runs have different temperatures");
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < b.questions.size(); ++i) places.emplace(b.questions[i], i);
  std::vector<std::size_t> matches;
  for (std::size_t i = 0; i < a.questions.size(); ++i) {
    const auto found = places.find(a.questions[i]);
    if (found == places.end()) return differ(fmt::format("case '{}' differs or is only in one run", a.cases[i]));
    matches.push_back(found->second);
  }
  if (a.questions.size() != b.questions.size()) return differ("one run has more cases");
  return matches;
}

PairedRounds PairRounds(const ChoiceAnswers& a, const ChoiceAnswers& b, const std::vector<std::size_t>& matches) {
  PairedRounds rounds;
  for (std::size_t round = 0; round < std::min(a.rounds.size(), b.rounds.size()); ++round) {
    std::vector<CellPair> row;
    row.reserve(matches.size());
    for (std::size_t i = 0; i < matches.size(); ++i) row.push_back({&a.rounds[round][i], &b.rounds[round][matches[i]]});
    if (std::any_of(row.begin(), row.end(), [](const CellPair& pair) { return pair.open(); })) break;
    rounds.push_back(std::move(row));
  }
  return rounds;
}

// Drops outages and then the cases that errors exclude (CompleteRounds::Select); returns the indices of those kept.
std::vector<std::size_t> KeepComplete(PairedRounds& rounds, std::size_t cases, LostAnswers lost) {
  const bool any_failed = std::any_of(rounds.begin(), rounds.end(), [lost](const std::vector<CellPair>& row) {
    return std::any_of(row.begin(), row.end(), [lost](const CellPair& pair) { return pair.failed(lost); });
  });
  if (!any_failed) {
    std::vector<std::size_t> all(cases);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::vector<bool> works(cases, false);
  for (const std::vector<CellPair>& row : rounds) {
    for (std::size_t i = 0; i < cases; ++i) works[i] = works[i] || !row[i].failed(lost);
  }
  const auto broken = static_cast<std::size_t>(std::count(works.begin(), works.end(), false));
  std::erase_if(rounds, [&](const std::vector<CellPair>& row) {
    const auto failed = static_cast<std::size_t>(
        std::count_if(row.begin(), row.end(), [lost](const CellPair& pair) { return pair.failed(lost); }));
    return 2 * (failed - broken) > cases - broken;
  });
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < cases; ++i) {
    const bool fails =
        std::any_of(rounds.begin(), rounds.end(), [i, lost](const auto& row) { return row[i].failed(lost); });
    if (!fails) kept.push_back(i);
  }
  for (std::vector<CellPair>& row : rounds) {
    std::vector<CellPair> counting;
    counting.reserve(kept.size());
    for (const std::size_t i : kept) counting.push_back(row[i]);
    row = std::move(counting);
  }
  return kept;
}

// How many cases have the same answers in all rounds, as CompleteRounds::FindCopies has it.
std::size_t CountCopied(const PairedRounds& rounds, bool greedy) {
  if (rounds.empty() || (rounds.size() == 1 && !greedy)) return 0;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < rounds.front().size(); ++i) {
    const CellPair& first = rounds.front()[i];
    const bool same = std::all_of(rounds.begin() + 1, rounds.end(), [&](const std::vector<CellPair>& row) {
      return row[i].a->text == first.a->text && row[i].b->text == first.b->text;
    });
    if (same && (greedy || first.a->text != 0 || first.b->text != 0)) ++copied;
  }
  return copied;
}

// Nothing if the quantity is unknown for any answer.
template <typename Quantity>
std::optional<PairedMeans> MeansOf(const PairedRounds& rounds, int max_tokens, Quantity quantity) {
  PairedMeans means;
  std::vector<double> lengths;
  for (const std::vector<CellPair>& row : rounds) {
    for (const CellPair& pair : row) {
      const std::optional<double> a = quantity(*pair.a);
      const std::optional<double> b = quantity(*pair.b);
      if (!a || !b) return std::nullopt;
      means.a.push_back(*a);
      means.b.push_back(*b);
      lengths.push_back(pair.a->output_tokens.value_or(0.0));
      lengths.push_back(pair.b->output_tokens.value_or(0.0));
    }
  }
  std::vector<double> values;
  values.reserve(lengths.size());
  for (std::size_t i = 0; i < means.a.size(); ++i) values.insert(values.end(), {means.a[i], means.b[i]});
  means.most = MostOfOneAnswer(values, lengths, max_tokens);
  return means;
}

// The units of the kept cases: those with one request are one unit.
std::vector<std::size_t> UnitsOfCases(const ChoiceAnswers& answers, const std::vector<std::size_t>& kept) {
  std::map<std::string_view, std::size_t> places;
  std::vector<std::size_t> units;
  units.reserve(kept.size());
  for (const std::size_t i : kept) units.push_back(places.emplace(answers.requests[i], places.size()).first->second);
  return units;
}

// All rounds of all units as those of one, which further cases would add to.
std::vector<ScoreUnit> PooledUnits(const std::vector<ScoreUnit>& units, double factor) {
  ScoreUnit pooled;
  for (const ScoreUnit& one : units) {
    pooled.rounds += factor * one.rounds;
    pooled.wins += factor * one.wins;
    pooled.losses += factor * one.losses;
    pooled.squares += factor * one.squares;
  }
  return {pooled};
}

double PFromEvidence(const std::vector<UnitCounts>& totals, double bound) {
  double most = 0.0;
  for (const UnitCounts& counts : totals) most = std::max(most, LogEvidence(counts, bound));
  return std::exp(-most);
}

// `unit_of`: by case.
ContrastEvidence EvidenceOf(const PairedRounds& rounds, const std::vector<std::size_t>& unit_of, LostAnswers lost) {
  ContrastEvidence evidence;
  std::vector<ScoreUnit>& units = evidence.units;
  units.resize(*std::max_element(unit_of.begin(), unit_of.end()) + 1);
  std::vector<int> sizes(units.size(), 0);
  for (const std::size_t unit : unit_of) ++sizes[unit];
  UnitCounts total;
  for (const std::vector<CellPair>& row : rounds) {
    std::vector<int> sums(units.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool passed_a = row[i].passed_a(lost);
      if (passed_a == row[i].passed_b(lost)) continue;
      ScoreUnit& unit = units[unit_of[i]];
      (passed_a ? unit.wins : unit.losses) += 1.0 / sizes[unit_of[i]];
      sums[unit_of[i]] += passed_a ? 1 : -1;
    }
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const double change = static_cast<double>(sums[unit]) / sizes[unit];
      units[unit].rounds += 1.0;
      units[unit].squares += change * change;
      total.Add(sizes[unit], sums[unit]);
    }
    evidence.totals.push_back(total);
  }
  return evidence;
}

// The complete rounds that are evidence.
struct Selected {
  PairedRounds rounds;
  std::vector<std::size_t> kept;  // indices of A's cases
  bool repeat = false;            // Contrast::answers_repeat
  bool may_be_copies = false;     // ContrastEvidence::first
};

Selected Select(PairedRounds rounds, const ChoiceAnswers& a, const ChoiceAnswers& b, LostAnswers lost) {
  Selected selected;
  selected.kept = KeepComplete(rounds, a.cases.size(), lost);
  const std::size_t copied = CountCopied(rounds, a.greedy && b.greedy);
  selected.repeat = copied > 0 && copied == selected.kept.size();
  selected.may_be_copies = MayBeCopies(copied, selected.kept.size());
  selected.rounds = std::move(rounds);
  return selected;
}

ContrastEvidence EvidenceOf(const Selected& selected, const ChoiceAnswers& a, LostAnswers lost) {
  const std::vector<std::size_t> units = UnitsOfCases(a, selected.kept);
  if (selected.repeat) return EvidenceOf(PairedRounds{selected.rounds.front()}, units, lost);
  ContrastEvidence evidence = EvidenceOf(selected.rounds, units, lost);
  if (selected.may_be_copies) evidence.first = EvidenceOf(PairedRounds{selected.rounds.front()}, units, lost).units;
  return evidence;
}

Contrast WithMeans(Contrast contrast, const Selected& selected, int max_tokens) {
  const PairedRounds first = selected.repeat ? PairedRounds{selected.rounds.front()} : PairedRounds();
  const PairedRounds& rounds = selected.repeat ? first : selected.rounds;
  const auto means_of = [&](auto quantity) { return MeansOf(rounds, max_tokens, quantity); };
  contrast.tokens = means_of([](const ChoiceAnswer& one) { return one.tokens; });
  contrast.output_tokens = means_of([](const ChoiceAnswer& one) { return one.output_tokens; });
  contrast.cost_usd = means_of([](const ChoiceAnswer& one) { return one.cost_usd; });
  contrast.seconds = means_of([](const ChoiceAnswer& one) { return std::optional(one.seconds); });
  return contrast;
}

bool HasLost(const PairedRounds& rounds) {
  return std::any_of(rounds.begin(), rounds.end(), [](const std::vector<CellPair>& row) {
    return std::any_of(row.begin(), row.end(), [](const CellPair& pair) { return pair.a->lost || pair.b->lost; });
  });
}

}  // namespace

double PairedMeans::mean_a() const { return MeanOf(a); }
double PairedMeans::mean_b() const { return MeanOf(b); }

std::optional<double> PairedMeans::ratio() const {
  if (mean_b() == 0.0) return std::nullopt;
  return mean_a() / mean_b();
}

std::optional<Interval> PairedMeans::Difference(double confidence) const {
  std::vector<double> differences(a.size());
  std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
  return ExpenseInterval(differences, -most, most, confidence);
}

std::optional<Interval> PairedMeans::Ratio(double confidence) const {
  return ExpenseRatioInterval(a, b, most, confidence);
}

Interval ContrastEvidence::Range(double confidence, bool anytime) const {
  const auto range_of = [&](std::size_t rounds) {
    if (!anytime) return ScoreInterval(rounds == 1 && !first.empty() ? first : units, confidence).value_or(kAny);
    LiftSequence sequence(1.0 - confidence);
    for (std::size_t round = 0; round < rounds; ++round) sequence.Add(totals[round]);
    return sequence.range();
  };
  return first.empty() ? range_of(totals.size()) : Hull(range_of(totals.size()), range_of(1));
}

double ContrastEvidence::PAbove(double bound, bool anytime) const {
  if (first.empty()) return anytime ? PFromEvidence(totals, bound) : ScoreTest(units, bound);
  return anytime ? std::max(PFromEvidence(totals, bound), PFromEvidence({totals.front()}, bound))
                 : std::max(ScoreTest(units, bound), ScoreTest(first, bound));
}

double ContrastEvidence::PBelow(double bound, bool anytime) const {
  ContrastEvidence mirrored{Mirrored(units), {}, Mirrored(first)};
  for (const UnitCounts& counts : totals) mirrored.totals.push_back(counts.Mirrored());
  return mirrored.PAbove(-bound, anytime);
}

Interval Contrast::Range(double confidence) const {
  const Interval range = evidence_.Range(confidence, anytime);
  return {std::min(range.low, against_.Range(confidence, anytime).low),
          std::max(range.high, for_.Range(confidence, anytime).high)};
}

double Contrast::PAbove(double bound) const {
  if (too_many_excluded) return 1.0;
  return std::max(evidence_.PAbove(bound, anytime), against_.PAbove(bound, anytime));
}

double Contrast::PBelow(double bound) const {
  if (too_many_excluded) return 1.0;
  return std::max(evidence_.PBelow(bound, anytime), for_.PBelow(bound, anytime));
}

std::optional<int> Contrast::MoreFor(double bound, double alpha) const {
  const std::vector<UnitCounts>& totals = against_.totals;
  if (too_many_excluded || totals.back().lift() <= bound) return std::nullopt;
  const double now = answers_repeat ? static_cast<double>(cases) : static_cast<double>(totals.size());
  const auto shows = [&](int more) {
    const double factor = (now + more) / now;
    if (!answers_repeat) return PFromEvidence({totals.back().Times(factor)}, bound) <= alpha;
    return ScoreTest(PooledUnits(against_.units, factor), bound) <= alpha;
  };
  int high = 1;
  while (!shows(high)) {
    if (high >= kMaxMore) return std::nullopt;
    high = std::min(2 * high, kMaxMore);
  }
  int low = high / 2;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (shows(middle) ? high : low) = middle;
  }
  return high;
}

Result<Contrast> MakeContrast(const ChoiceAnswers& a, const ChoiceAnswers& b) {
  ASSIGN_OR_RETURN(const std::vector<std::size_t> matches, MatchCases(a, b));
  PairedRounds all = PairRounds(a, b, matches);
  const std::optional<PairedRounds> with_lost = HasLost(all) ? std::optional(all) : std::nullopt;
  const Selected selected = Select(std::move(all), a, b, LostAnswers::kLeftOut);
  const PairedRounds& rounds = selected.rounds;
  if (rounds.empty() || selected.kept.empty()) {
    return InputError(fmt::format("{} and {} can't be compared: no round was answered by both", a.label(), b.label()));
  }
  Contrast contrast;
  contrast.cases = selected.kept.size();
  contrast.rounds = static_cast<int>(rounds.size());
  for (std::size_t i = 0; i < a.cases.size(); ++i) {
    if (!std::binary_search(selected.kept.begin(), selected.kept.end(), i)) contrast.excluded.push_back(a.cases[i]);
  }
  contrast.too_many_excluded =
      static_cast<double>(contrast.excluded.size()) > kMaxExcludedShare * static_cast<double>(a.cases.size());
  contrast.answers_repeat = selected.repeat;
  contrast.anytime = a.any_look || b.any_look;
  contrast.evidence_ = EvidenceOf(selected, a, LostAnswers::kLeftOut);
  contrast.against_ = contrast.for_ = contrast.evidence_;
  if (!with_lost) return WithMeans(std::move(contrast), selected, a.max_tokens);
  const Selected against = Select(*with_lost, a, b, LostAnswers::kAgainstA);
  const Selected in_favour = Select(*with_lost, a, b, LostAnswers::kForA);
  const bool any =
      !against.rounds.empty() && !against.kept.empty() && !in_favour.rounds.empty() && !in_favour.kept.empty();
  if (!any) {
    contrast.too_many_excluded = true;
  } else {
    contrast.against_ = EvidenceOf(against, a, LostAnswers::kAgainstA);
    contrast.for_ = EvidenceOf(in_favour, a, LostAnswers::kForA);
  }
  return WithMeans(std::move(contrast), selected, a.max_tokens);
}

}  // namespace upskill
