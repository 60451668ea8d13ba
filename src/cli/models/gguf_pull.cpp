// SPDX-License-Identifier: Apache-2.0
#include "cli/models/gguf_pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_hub.h"
#include "net/http_client.h"
#include "report/terminal/style.h"
#include "util/clock.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kPlainInterval = 2.0;  // seconds between two plain lines
constexpr std::size_t kBarCells = 20;

// How a download goes, on stderr: one live line on a terminal, otherwise a plain line every tenth of it.
class PullLine {
 public:
  explicit PullLine(const Env& env) : env_(env), style_(StyleFor(env, env.error_is_terminal, ColorMode::kAuto)) {}

  void Show(std::uint64_t done, std::uint64_t total, const std::string& file) {
    const Clock::Steady now = env_.clock->Now();
    if (!started_) {
      started_ = now;
      first_done_ = done;
      shown_at_ = now;
      shown_done_ = done;
    }
    if (env_.error_is_terminal) {
      live_ = true;
      env_.error("\r\x1b[K" + Text(done, total, file, now));
      return;
    }
    const bool tenth = (done - std::min(done, shown_done_)) >= total / 10;
    if (!tenth || done == total || SecondsBetween(shown_at_, now) < kPlainInterval) return;
    shown_at_ = now;
    shown_done_ = done;
    env_.error(Text(done, total, file, now) + "\n");
  }

  void Clear() {
    if (live_) env_.error("\r\x1b[K");
    live_ = false;
  }

 private:
  // "  1.2 GB/4.7 GB █████░░░░░   25 %   48.0 MB/s   1:12 left   m-Q4_K_M.gguf"
  TerminalText Text(std::uint64_t done, std::uint64_t total, const std::string& file, Clock::Steady now) const {
    const double fraction = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    std::string text = fmt::format("  {}/{} ", BytesText(done), BytesText(total));
    if (env_.error_is_terminal) text += Bar(fraction, style_.columns >= 90 ? kBarCells : kBarCells / 2) + " ";
    text += fmt::format("  {}", PercentText(fraction));
    const double seconds = SecondsBetween(*started_, now);
    if (done > first_done_ && seconds > 0.0 && done < total) {
      const double rate = static_cast<double>(done - first_done_) / seconds;
      text += fmt::format("   {}/s   {} left", BytesText(static_cast<std::uint64_t>(rate)),
                          DurationText(static_cast<double>(total - done) / rate));
    }
    return TerminalText::Format("{}   {}", text, file).Cut(style_.columns > 0 ? style_.columns - 1 : 0);
  }

  const Env& env_;
  Style style_;
  bool live_ = false;
  std::optional<Clock::Steady> started_;
  std::uint64_t first_done_ = 0;
  Clock::Steady shown_at_;
  std::uint64_t shown_done_ = 0;
};

}  // namespace

Result<std::filesystem::path> FindOrPullGguf(const GgufName& name, bool update, const Env& env) {
  if (!update) {
    Result<std::filesystem::path> cached = FindCachedGguf(HubCacheOf(env.variable), name);
    if (cached || cached.error().kind != ErrorKind::kNotFound) return cached;
  }
  ASSIGN_OR_RETURN(const HubOptions options, HubOptionsOf(env.variable));
  if (!options.offline) env.error(TerminalText::Format("downloading {} from {}\n", name.text(), options.endpoint));
  PullLine line(env);
  HttpClient client;
  const auto show = [&](std::uint64_t done, std::uint64_t total, const std::string& file) {
    line.Show(done, total, file);
  };
  Result<std::filesystem::path> file = PullGguf(client, options, name, show, env.stop);
  line.Clear();
  if (!file && file.error().kind == ErrorKind::kCancelled) {
    return Error{
        ErrorKind::kCancelled,
        fmt::format("stopped; what has been downloaded is kept. To continue: upskill models pull {}", name.text())};
  }
  return file;
}

}  // namespace upskill
