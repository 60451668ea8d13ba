// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "stats/e_process.h"
#include "stats/multiplicity.h"
#include "stats/power.h"
#include "util/rng.h"
#include "verdict_claims.h"

namespace upskill {
namespace {

constexpr int kVersions = 10;
constexpr int kRoundsOfVersion = 10;

// The answers of one version against a baseline that all versions share: whether it is ever decided.
bool VersionHelps(const std::vector<char>& baseline, int cases, double rate, DecisionTable& table, Rng& rng) {
  int wins = 0;
  int losses = 0;
  bool decided = false;
  for (int round = 0; round < kRoundsOfVersion; ++round) {
    for (int i = 0; i < cases; ++i) {
      const bool without = baseline[static_cast<std::size_t>(round * cases + i)] != 0;
      const bool with = rng.Uniform() < rate;
      wins += with && !without ? 1 : 0;
      losses += without && !with ? 1 : 0;
    }
    decided = decided || table.Decides(wins, losses);
  }
  return decided;
}

}  // namespace

void PrintLineages(int draws, Claims& claims) {
  fmt::print(
      "\nLineages of {} versions without an effect, one after another on one cached baseline, {} rounds: any false "
      "\"helps\", in %\n\n   cases  all of alpha for each  shares of alpha\n",
      kVersions, kRoundsOfVersion);
  std::vector<DecisionTable> tables;
  for (int k = 1; k <= kVersions; ++k) tables.emplace_back(CandidateAlpha(k, kAlpha));
  DecisionTable full(kAlpha);
  for (const int cases : {4, 12, 50}) {
    Rng rng(static_cast<std::uint64_t>(cases) + 77);
    std::array<double, 2> wrong{};
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<char> baseline(static_cast<std::size_t>(cases * kRoundsOfVersion));
      for (char& passed : baseline) passed = rng.Uniform() < 0.5 ? 1 : 0;
      bool any_full = false;
      bool any_share = false;
      for (int k = 0; k < kVersions; ++k) {
        Rng of_version(rng.Next());
        Rng again = of_version;
        any_full = VersionHelps(baseline, cases, 0.5, full, of_version) || any_full;
        any_share = VersionHelps(baseline, cases, 0.5, tables[static_cast<std::size_t>(k)], again) || any_share;
      }
      wrong[0] += any_full ? 1 : 0;
      wrong[1] += any_share ? 1 : 0;
    }
    const double share = wrong[1] / draws;
    claims.AtMost(share, kAlpha, draws, fmt::format("any false helps in a lineage, {} cases", cases));
    fmt::print("   {:>5}  {:>21}  {:>7} ± {:.2f}\n", cases, Percent(wrong[0] / draws), Percent(share),
               100 * StandardError(share, draws));
  }
}

}  // namespace upskill
