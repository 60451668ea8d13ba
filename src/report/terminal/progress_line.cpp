// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "util/clock.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kLiveInterval = 0.1;   // seconds between two drawings
constexpr double kPlainInterval = 2.0;  // seconds between two plain lines
constexpr double kPlainSilence = 10.0;  // seconds after which a plain line is due, whatever has been done
constexpr double kNoteInterval = 30.0;  // seconds between two plain lines about rate limits
constexpr double kLongWait = 2.0;       // seconds; shorter ones aren't worth a plain line
constexpr std::size_t kBarCells = 30;

std::string ProgressBar(double fraction, std::size_t cells) {
  const auto halves = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(cells) * 2.0);
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) {
    if (2 * i + 1 < halves) {
      bar += "━";
    } else {
      bar += 2 * i < halves ? "╸" : " ";
    }
  }
  return bar;
}

// "1:10 to 2:30 left": what is in flight may be nearly done or just begun, and rounds that may not be needed count only
// for the second number. Once that matters little, one number.
std::string TimeLeft(const RunProgress& progress, std::size_t finished, std::size_t fresh) {
  const auto left_if = [&](double share, std::size_t skipped) {
    const double begun = share * static_cast<double>(progress.worked_on);
    const double open = std::max(0.0, static_cast<double>(progress.total - finished - skipped) - begun);
    return open * progress.seconds / (static_cast<double>(fresh) + begun);
  };
  constexpr double kLowShare = 0.25;
  constexpr double kHighShare = 0.9;
  constexpr double kClose = 1.5;
  const double least = left_if(kHighShare, progress.may_be_saved);
  const double most = left_if(kLowShare, 0);
  if (most <= kClose * least) return DurationText((least + most) / 2.0) + " left";
  return fmt::format("{} to {} left", DurationText(least), DurationText(most));
}

// "rate-limited by api.example.com (12 times), next try in 30 s"
std::string WaitText(const RateLimits& limits) {
  return fmt::format("{}, next try in {:.0f} s", RateLimitsText(limits), std::ceil(limits.next_try_seconds));
}

}  // namespace

std::string RateLimitsText(const RateLimits& limits) {
  return fmt::format("rate-limited by {} ({})", limits.host,
                     limits.times == 1 ? "once" : WithThousands(static_cast<long long>(limits.times)) + " times");
}

std::string ProgressText(const RunProgress& progress, const Style& style, bool with_bar, const WrittenTokens* written) {
  const std::size_t finished = progress.done + progress.errors + progress.saved;
  const double fraction =
      progress.total == 0 ? 1.0 : static_cast<double>(finished) / static_cast<double>(progress.total);
  std::string text = fmt::format("  {}/{} ", WithThousands(static_cast<long long>(finished)),
                                 WithThousands(static_cast<long long>(progress.total)));
  const bool waits = progress.rate_limits.next_try_seconds > 0.0;
  if (waits) text += "  " + WaitText(progress.rate_limits);
  if (with_bar && !waits) text += ProgressBar(fraction, style.columns >= 90 ? kBarCells : kBarCells / 3) + " ";
  const std::size_t fresh = finished - std::min(finished, progress.reused);
  constexpr double kSoon = 2.0;  // seconds
  if (finished < progress.total && fresh > 0) text += "  " + TimeLeft(progress, finished, fresh);
  if (!waits && finished < progress.total && fresh == 0 && progress.in_flight > 0 && progress.seconds >= kSoon) {
    const int tokens = written == nullptr ? 0 : written->tokens.load();
    const char* const none = progress.reused > 0 ? "no new answer yet" : "no answer yet";
    text += fmt::format("  {} in flight, {} after {}", Counted(progress.in_flight, "request"),
                        tokens > 0 ? fmt::format("at {} of {} tokens", tokens, written->most.load()) : none,
                        DurationText(progress.seconds));
  }
  // Before the first answers are complete, the rate would be far too low.
  if (progress.output_tokens > 0 && fresh >= progress.worked_on) {
    text +=
        fmt::format("   {:.0f} tok/s", static_cast<double>(progress.output_tokens) / std::max(progress.seconds, 1e-3));
  }
  if (progress.cost_usd > 0) text += fmt::format("   ${:.2f}", progress.cost_usd);
  text += fmt::format("   {} error{}", progress.errors, progress.errors == 1 ? "" : "s");
  if (progress.retries > 0) text += fmt::format(", {} retried", progress.retries);
  return CutToColumns(text, style.columns > 0 ? style.columns - 1 : 0);
}

void ProgressLine::OnProgress(const RunProgress& progress) {
  if (progress.seconds < last_seconds_) {  // another run, of the same generation
    last_seconds_ = -1.0;
    last_note_seconds_.reset();
    last_done_ = 0;
  }
  const std::size_t finished = progress.done + progress.errors + progress.saved;
  if (live_) {
    if (progress.seconds - last_seconds_ < kLiveInterval && finished < progress.total) return;
    last_seconds_ = progress.seconds;
    write_(TerminalText::Format("\r\x1b[K{}", ProgressText(progress, style_, true, written_.get())));
    shown_ = true;
    return;
  }
  const bool waits = progress.rate_limits.next_try_seconds >= kLongWait;
  if (waits && (!last_note_seconds_ || progress.seconds - *last_note_seconds_ >= kNoteInterval)) {
    last_note_seconds_ = progress.seconds;
    write_(TerminalText::Format("  {}\n", WaitText(progress.rate_limits)));
  }
  const bool tenth = (finished - std::min(finished, last_done_)) * 10 >= progress.total;
  if (waits && !tenth) return;
  if (finished == progress.total || progress.seconds - last_seconds_ < (tenth ? kPlainInterval : kPlainSilence)) return;
  last_seconds_ = progress.seconds;
  last_done_ = finished;
  write_(TerminalText::Format("{}\n", ProgressText(progress, style_, false, written_.get())));
}

void ProgressLine::OnStopping(const RunProgress& progress, bool now) {
  Clear();
  if (now) {
    write_("stopping now: requests in flight are dropped\n");
  } else {
    write_(TerminalText::Format("stopping: finishing {} request{} in flight (Ctrl-C again to drop {})\n",
                                progress.in_flight, progress.in_flight == 1 ? "" : "s",
                                progress.in_flight == 1 ? "it" : "them"));
  }
}

void ProgressLine::Clear() {
  if (shown_) write_("\r\x1b[K");
  shown_ = false;
}

}  // namespace upskill
