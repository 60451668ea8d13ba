// SPDX-License-Identifier: Apache-2.0
#include "stats/sign_flip_sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace upskill {
namespace {

using Rounds = std::vector<std::vector<double>>;  // changes

SignFlipSequence AfterRounds(const Rounds& rounds, double alpha, int planned) {
  SignFlipSequence sequence(alpha, SpendingSchedule(planned));
  for (const std::vector<double>& changes : rounds) sequence.AddRound(changes);
  return sequence;
}

// The sum of one pattern of signs after each round. Bit i of `signs` is the sign of unit i.
std::vector<int> Path(const Rounds& rounds, std::uint32_t signs) {
  std::vector<int> path;
  int sum = 0;
  unsigned unit = 0;
  for (const std::vector<double>& round : rounds) {
    for (std::size_t i = 0; i < round.size(); ++i) sum += ((signs >> unit++) & 1U) != 0 ? 1 : -1;
    path.push_back(sum);
  }
  return path;
}

// Critical values by listing all patterns of signs.
std::vector<int> CriticalByEnumeration(const Rounds& rounds, double alpha, int planned) {
  const SpendingSchedule schedule(planned);
  std::size_t units = 0;
  for (const std::vector<double>& round : rounds) units += round.size();
  const std::uint32_t patterns = 1U << units;
  std::vector<bool> rejected(patterns, false);
  double spent = 0.0;
  std::vector<int> critical;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::map<int, int> left;  // patterns by sum
    for (std::uint32_t signs = 0; signs < patterns; ++signs) {
      if (!rejected[signs]) ++left[Path(rounds, signs)[round]];
    }
    int from = left.rbegin()->first + 1;
    for (auto it = left.rbegin(); it != left.rend(); ++it) {
      const double mass = static_cast<double>(it->second) / patterns;
      if (spent + mass > alpha * schedule.Until(static_cast<int>(round) + 1)) break;
      spent += mass;
      from = it->first;
    }
    for (std::uint32_t signs = 0; signs < patterns; ++signs) {
      if (Path(rounds, signs)[round] >= from) rejected[signs] = true;
    }
    critical.push_back(from);
  }
  return critical;
}

TEST(SignFlipSequence, AgreesWithListingAllSigns) {
  const std::vector<Rounds> all = {
      {{1, 1, 1, 1, 1}},
      {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {{1, -1}, {1, 1, 1, 1}, {1}, {1, 1, 1, 1, 1, 1}},
      {{0.1, 1, 1}, {-0.5, 1, 1}, {0.25, 0.25, 1}, {0.5, 0.5, 0.5, 1}},  // whole coins, whatever the change
  };
  for (const double alpha : {0.05, 0.2}) {
    for (const Rounds& rounds : all) {
      const std::vector<int> expected = CriticalByEnumeration(rounds, alpha, 4);
      const SignFlipSequence sequence = AfterRounds(rounds, alpha, 4);
      // Between values that the sum can take, any critical value is the same.
      for (std::uint32_t signs = 0; signs < (1U << 13U); ++signs) {
        std::size_t units = 0;
        for (const std::vector<double>& round : rounds) units += round.size();
        if (signs >= (1U << units)) break;
        const std::vector<int> path = Path(rounds, signs);
        bool ended = false;
        bool ended_here = false;
        for (std::size_t i = 0; i < path.size() && !ended && !ended_here; ++i) {
          ended = path[i] >= expected[i];
          ended_here = path[i] >= sequence.critical()[i];
          ASSERT_EQ(ended, ended_here) << alpha << " round " << i << " sum " << path[i];
        }
      }
    }
  }
}

TEST(SignFlipSequence, FiveWinsInOneRoundDecide) {
  EXPECT_EQ(AfterRounds({{1, 1, 1, 1, 1}}, 0.05, 1).helps_round(), 1);  // 1/32 <= 0.045
  EXPECT_EQ(AfterRounds({{1, 1, 1, 1}}, 0.05, 1).helps_round(), 0);     // 1/16
  EXPECT_EQ(AfterRounds({{-1, -1, -1, -1, -1}}, 0.05, 1).hurts_round(), 1);
  EXPECT_EQ(AfterRounds({{-1, -1, -1, -1, -1}}, 0.05, 1).helps_round(), 0);
}

TEST(SignFlipSequence, TiesAndMissingRoundsDecideNothing) {
  EXPECT_EQ(AfterRounds({}, 0.05, 3).rounds(), 0);
  EXPECT_EQ(AfterRounds({{0, 0, 0}, {}, {0}}, 0.05, 3).helps_round(), 0);
  EXPECT_EQ(AfterRounds({{0, 0, 0}, {}, {0}}, 0.05, 3).hurts_round(), 0);
}

TEST(SignFlipSequence, SmallChangesAreWholeCoins) {
  EXPECT_EQ(AfterRounds({{0.5, 0.5, 0.5, 0.5, 0.5}}, 0.05, 1).helps_round(), 0);
  EXPECT_EQ(AfterRounds({{1, 1, 1, 1, 1}}, 0.05, 1).helps_round(), 1);
  const double third = 1.0 / 3.0;
  const Rounds rounds(3, {1, 1, third, third, third, -third, -third, -third});
  EXPECT_DOUBLE_EQ(AfterRounds(rounds, 0.05, 3).sum(), 6.0);
  EXPECT_EQ(AfterRounds(rounds, 0.05, 3).reach(), 24);
}

// Three units gain a tenth in nearly every round, and one loses what they gained now and then. Tests that take the
// sizes of the changes for fixed say `helps` in a third of the runs.
TEST(SignFlipSequence, SmallGainsThatPayForRareLossesSeldomErr) {
  std::mt19937_64 random(3);
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1.0p-53; };
  int helps = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    SignFlipSequence sequence(0.05, SpendingSchedule(6));
    for (int round = 0; round < 6; ++round) sequence.AddRound({0.1, 0.1, 0.1, uniform() < 0.3 ? -1.0 : 0.0});
    helps += sequence.helps_round() > 0 ? 1 : 0;
  }
  EXPECT_LT(helps, 0.045 * kRuns + 4.0 * std::sqrt(0.045 * 0.955 * kRuns));
}

TEST(SignFlipSequence, ADecisionIsFinal) {
  const SignFlipSequence sequence = AfterRounds({{1, 1, 1, 1, 1, 1, 1}, {-1, -1, -1, -1, -1, -1, -1}}, 0.05, 2);
  EXPECT_EQ(sequence.helps_round(), 1);
  EXPECT_EQ(sequence.hurts_round(), 0);
}

// The critical values don't depend on rounds that come later, so that more of them can be asked for at any time.
TEST(SignFlipSequence, RaisingTheMaximumLeavesEarlierCriticalValues) {
  const Rounds rounds(12, std::vector<double>(6, 1.0));
  const SignFlipSequence all = AfterRounds(rounds, 0.05, 3);
  const SignFlipSequence few = AfterRounds(Rounds(rounds.begin(), rounds.begin() + 3), 0.05, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all.critical()[i], few.critical()[i]);
}

TEST(SignFlipSequence, ErrsAsOftenAsAllowed) {
  std::mt19937_64 random(1);
  int helps = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    SignFlipSequence sequence(0.05, SpendingSchedule(10));
    for (int round = 0; round < 10; ++round) {
      std::vector<double> changes(8);
      for (double& change : changes)
        change = static_cast<double>(random() >> 63U) - static_cast<double>(random() >> 63U);
      sequence.AddRound(changes);
    }
    helps += sequence.helps_round() > 0 ? 1 : 0;
  }
  EXPECT_LT(helps, 0.045 * kRuns + 4.0 * std::sqrt(0.045 * 0.955 * kRuns));
  EXPECT_GT(helps, 0.035 * kRuns);
}

TEST(SignFlipSequence, HoldsForThousandsOfUnits) {
  SignFlipSequence sequence(0.05, SpendingSchedule(10));
  for (int round = 0; round < 10; ++round) sequence.AddRound(std::vector<double>(400, 1.0));
  // z = 1.72 of a fixed test at 4.3 %, and more for looking nine times before.
  EXPECT_GT(static_cast<double>(sequence.critical().back()), 1.72 * std::sqrt(4000.0));
  EXPECT_LT(static_cast<double>(sequence.critical().back()), 2.4 * std::sqrt(4000.0));
}

TEST(SequentialPValues, OneRoundIsTheSignTestOverItsShare) {
  const SequentialPValues p = SequentialPValuesOf({{1, 1, 1, 1, 1, 1, 1, 1, 1, -1}}, SpendingSchedule(1));
  EXPECT_NEAR(p.helps, 11.0 / 1024.0 / 0.7, 2e-5);
  EXPECT_EQ(p.hurts, 1.0);
  EXPECT_EQ(SequentialPValuesOf({}, SpendingSchedule(1)).helps, 1.0);
}

TEST(SequentialPValues, AreMirrored) {
  const Rounds rounds = {{1, 1, -1, 1}, {1, 1, 1, 0}, {0.5, 1, 1, 1}};
  Rounds mirrored = rounds;
  for (std::vector<double>& round : mirrored) {
    for (double& change : round) change = -change;
  }
  const SpendingSchedule schedule(4);
  EXPECT_EQ(SequentialPValuesOf(rounds, schedule).helps, SequentialPValuesOf(mirrored, schedule).hurts);
}

// Over all patterns of signs, p-values of at most u come up with a probability of at most u. (A larger error
// probability nearly always rejects whatever a smaller one does, but the sums' few values leave exceptions.)
TEST(SequentialPValues, AreValid) {
  for (const Rounds& rounds :
       {Rounds{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, Rounds{{1, 1}, {1, 1, 1, 1}, {1, 1, 1}},
        Rounds{{0.5, 1, 1}, {0.2, 1}, {1, 1, 0.5, 1}}, Rounds{{1}, {1, 1}, {1, 1, 1, 1, 1, 1}}}) {
    std::map<double, int> patterns;  // by p-value
    for (std::uint32_t signs = 0; signs < 512U; ++signs) {
      Rounds signed_rounds = rounds;
      unsigned unit = 0;
      for (std::vector<double>& round : signed_rounds) {
        for (double& change : round) change = ((signs >> unit++) & 1U) != 0 ? change : -change;
      }
      ++patterns[SequentialPValuesOf(signed_rounds, SpendingSchedule(3)).helps];
    }
    int so_far = 0;
    for (const auto& [p, count] : patterns) {
      so_far += count;
      EXPECT_LE(so_far / 512.0, p + 1e-9);
    }
  }
}

}  // namespace
}  // namespace upskill
