// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/multiplicity.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "util/rng.h"
#include "verdict_claims.h"

namespace upskill {
namespace {

constexpr int kVersions = 10;
constexpr int kRoundsOfVersion = 10;

// The answers of one version against a baseline that all versions share: whether it is ever decided, with all of alpha
// and with the share of the k-th look (eval/verdict/ledger.h).
std::array<bool, 2> VersionHelps(const std::vector<double>& baseline, int cases, int k, Rng& rng) {
  const SpendingSchedule schedule(kRoundsOfVersion);
  SignFlipSequence full(kAlpha, schedule);
  SignFlipSequence share(CandidateAlpha(k, kAlpha), schedule);
  for (int round = 0; round < kRoundsOfVersion; ++round) {
    std::vector<double> changes;
    for (int i = 0; i < cases; ++i) {
      const double with = rng.Uniform() < 0.5 ? 1.0 : 0.0;
      changes.push_back(with - baseline[static_cast<std::size_t>(round * cases + i)]);
    }
    full.AddRound(changes);
    share.AddRound(changes);
  }
  return {full.helps_round() > 0, share.helps_round() > 0};
}

}  // namespace

void PrintLineages(int draws, Claims& claims) {
  fmt::print(
      "\nLineages of {} versions without an effect, one after another on one cached baseline, {} rounds: any false "
      "\"helps\", in %\n\n   cases  all of alpha for each  shares of alpha\n",
      kVersions, kRoundsOfVersion);
  for (const int cases : {3, 12, 50}) {
    const int times = cases > 20 ? draws / 4 : draws;
    Rng rng(static_cast<std::uint64_t>(cases) + 77);
    std::array<double, 2> wrong{};
    for (int draw = 0; draw < times; ++draw) {
      std::vector<double> baseline(static_cast<std::size_t>(cases * kRoundsOfVersion));
      for (double& passed : baseline) passed = rng.Uniform() < 0.5 ? 1.0 : 0.0;
      std::array<bool, 2> any{};
      for (int k = 1; k <= kVersions; ++k) {
        const std::array<bool, 2> helps = VersionHelps(baseline, cases, k, rng);
        for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || helps[i];
      }
      for (std::size_t i = 0; i < any.size(); ++i) wrong[i] += any[i] ? 1.0 : 0.0;
    }
    const double share = wrong[1] / times;
    claims.AtMost(share, kAlpha, times, fmt::format("any false helps in a lineage, {} cases", cases));
    fmt::print("   {:>5}  {:>21}  {:>7} ± {:.2f}\n", cases, Percent(wrong[0] / times), Percent(share),
               100 * StandardError(share, times));
  }
}

}  // namespace upskill
