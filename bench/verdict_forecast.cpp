// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/forecast.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_run.h"

namespace upskill {
namespace {

constexpr double kBaseline = 0.5;
constexpr double kMostLift = 0.4;     // of suites whose lift is drawn, either way
constexpr int kFewestForecasts = 50;  // for a share worth printing

struct Forecasts {
  int undecided = 0;  // runs, after the planned rounds
  int made = 0;       // forecasts for them
  int decided = 0;    // by the number of rounds forecast
  double rounds = 0;  // forecast, in all

  double share() const { return static_cast<double>(decided) / made; }
};

// Runs the planned rounds, asks for the forecast where that decided nothing, and goes on for as long as it says.
void FollowForecast(const SimulatedSuite& suite, int planned, Rng& rng, Forecasts& forecasts) {
  const SpendingSchedule schedule(planned);
  SignFlipSequence sequence(kAlpha, schedule);
  SequenceState state;
  const auto decided = [&] { return sequence.helps_round() > 0 || sequence.hurts_round() > 0; };
  for (; state.rounds < planned && !decided(); ++state.rounds) {
    const std::vector<double> changes = DrawRound(suite, rng);
    for (const double change : changes) {
      state.sum += change;
      state.differing += change != 0.0 ? 1.0 : 0.0;
    }
    sequence.AddRound(changes);
  }
  if (decided()) return;
  ++forecasts.undecided;
  const std::optional<int> more = ForecastRounds(state, schedule, kAlpha, kAlpha);
  if (!more) return;
  ++forecasts.made;
  forecasts.rounds += *more;
  for (int round = 0; round < *more && !decided(); ++round) sequence.AddRound(DrawRound(suite, rng));
  forecasts.decided += decided() ? 1 : 0;
}

SimulatedSuite SuiteOf(int cases, double lift) {
  return {std::vector<CaseRates>(static_cast<std::size_t>(cases), {kBaseline, kBaseline + lift}), {}};
}

std::string ShareText(const Forecasts& forecasts) {
  if (forecasts.made < kFewestForecasts) return "–";
  return fmt::format("{} ± {:.1f}", Percent(forecasts.share()),
                     100.0 * StandardError(forecasts.share(), forecasts.made));
}

}  // namespace

void PrintForecast(int draws, Claims& claims) {
  fmt::print(
      "\n11. Forecasts: runs that are undecided after the planned rounds, for which \"about N more rounds\" is said; "
      "share decided\n"
      "   after N more, in %, by the lift ({:.0f} % pass without the skill, {} runs; –: hardly ever undecided)\n\n",
      100.0 * kBaseline, draws);
  fmt::print(
      "   cases  planned   drawn, -40 to 40   mean N   no forecast   lift 0         5              10             "
      "20\n");
  for (const int cases : {5, 12, 50}) {
    for (const int planned : {3, 10}) {
      Rng rng(SeedFromText("forecast") + static_cast<std::uint64_t>(cases * 100 + planned));
      Forecasts drawn;
      for (int draw = 0; draw < draws; ++draw)
        FollowForecast(SuiteOf(cases, kMostLift * (2.0 * rng.Uniform() - 1.0)), planned, rng, drawn);
      std::string line = fmt::format("   {:>5}  {:>7}   {:>16}   {:>6.1f}   {:>11}", cases, planned, ShareText(drawn),
                                     drawn.rounds / std::max(1, drawn.made),
                                     Percent(1.0 - static_cast<double>(drawn.made) / std::max(1, drawn.undecided)));
      for (const double lift : {0.0, 0.05, 0.1, 0.2}) {
        Forecasts known;
        for (int draw = 0; draw < draws; ++draw) FollowForecast(SuiteOf(cases, lift), planned, rng, known);
        line += fmt::format("   {:<12}", ShareText(known));
      }
      fmt::print("{}\n", line);
      if (drawn.made < kFewestForecasts) continue;
      const std::string what = fmt::format("forecasts that come true, {} cases, {} rounds", cases, planned);
      claims.AtLeast(drawn.share(), kForecastLow, drawn.made, what);
      claims.AtMost(drawn.share(), kForecastHigh, drawn.made, what);
    }
  }
}

}  // namespace upskill
