// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "eval/run/runner.h"
#include "report/terminal/style.h"
#include "util/terminal_text.h"
#include "util/written_tokens.h"

namespace upskill {

// Shows how a run goes on stderr: one live line on a terminal, otherwise a plain line every tenth of the work, at most
// every two and at least every ten seconds, and every 30 seconds about rate limits that hold it up. Not thread-safe.
class ProgressLine : public RunObserver {
 public:
  using Write = std::function<void(const TerminalText&)>;

  // `live`: stderr is a terminal. `written`: what models in process say meanwhile; may be null.
  ProgressLine(Style style, bool live, Write write, std::shared_ptr<const WrittenTokens> written = nullptr)
      : style_(style), live_(live), write_(std::move(write)), written_(std::move(written)) {}

  void OnProgress(const RunProgress& progress) override;
  void OnStopping(const RunProgress& progress, bool now) override;

  // Removes the live line, so that other output begins on an empty one.
  void Clear();

 private:
  Style style_;
  bool live_;
  Write write_;
  std::shared_ptr<const WrittenTokens> written_;
  bool shown_ = false;
  double last_seconds_ = -1.0;
  std::optional<double> last_note_seconds_;  // about rate limits
  std::size_t last_done_ = 0;
};

// "rate-limited by api.example.com (12 times)"
std::string RateLimitsText(const RateLimits& limits);

// "36/72 ━━━━╸    0:18 left   132 tok/s   0 errors", cut to the style's columns.
// Before the first answer, `written` (may be null) says how far it is.
std::string ProgressText(const RunProgress& progress, const Style& style, bool with_bar,
                         const WrittenTokens* written = nullptr);

}  // namespace upskill
