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

// "rate-limited by api.example.com (12 times), next try in 30 s"
std::string WaitText(const RateLimits& limits) {
  return fmt::format("{}, next try in {:.0f} s", RateLimitsText(limits), std::ceil(limits.next_try_seconds));
}

}  // namespace

std::string RateLimitsText(const RateLimits& limits) {
  return fmt::format("rate-limited by {} ({})", limits.host,
                     limits.times == 1 ? "once" : WithThousands(static_cast<long long>(limits.times)) + " times");
}

std::string ProgressText(const RunProgress& progress, const Style& style, bool with_bar) {
  const std::size_t finished = progress.done + progress.errors + progress.saved;
  const double fraction =
      progress.total == 0 ? 1.0 : static_cast<double>(finished) / static_cast<double>(progress.total);
  std::string text = fmt::format("  {}/{} ", WithThousands(static_cast<long long>(finished)),
                                 WithThousands(static_cast<long long>(progress.total)));
  const bool waits = progress.rate_limits.next_try_seconds > 0.0;
  if (waits) text += "  " + WaitText(progress.rate_limits);
  if (with_bar && !waits) text += ProgressBar(fraction, style.columns >= 90 ? kBarCells : kBarCells / 3) + " ";
  const std::size_t fresh = finished - std::min(finished, progress.reused);
  if (fresh > 0 && finished < progress.total) {
    const double rate = static_cast<double>(fresh) / std::max(progress.seconds, 1e-3);
    text += fmt::format("  {} left", DurationText(static_cast<double>(progress.total - finished) / rate));
  }
  if (progress.output_tokens > 0) {
    text +=
        fmt::format("   {:.0f} tok/s", static_cast<double>(progress.output_tokens) / std::max(progress.seconds, 1e-3));
  }
  if (progress.cost_usd > 0) text += fmt::format("   ${:.2f}", progress.cost_usd);
  text += fmt::format("   {} error{}", progress.errors, progress.errors == 1 ? "" : "s");
  if (progress.retries > 0) text += fmt::format(", {} retried", progress.retries);
  return CutToColumns(text, style.columns > 0 ? style.columns - 1 : 0);
}

void ProgressLine::OnProgress(const RunProgress& progress) {
  const std::size_t finished = progress.done + progress.errors + progress.saved;
  if (live_) {
    if (progress.seconds - last_seconds_ < kLiveInterval && finished < progress.total) return;
    last_seconds_ = progress.seconds;
    write_(TerminalText::Format("\r\x1b[K{}", ProgressText(progress, style_, true)));
    shown_ = true;
    return;
  }
  const bool waits = progress.rate_limits.next_try_seconds >= kLongWait;
  if (waits && (!last_note_seconds_ || progress.seconds - *last_note_seconds_ >= kNoteInterval)) {
    last_note_seconds_ = progress.seconds;
    write_(TerminalText::Format("  {}\n", WaitText(progress.rate_limits)));
  }
  const bool tenth = (finished - std::min(finished, last_done_)) * 10 >= progress.total;
  if (!tenth || finished == progress.total || progress.seconds - last_seconds_ < kPlainInterval) return;
  last_seconds_ = progress.seconds;
  last_done_ = finished;
  write_(TerminalText::Format("{}\n", ProgressText(progress, style_, false)));
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
