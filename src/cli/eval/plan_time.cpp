// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/plan_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <thread>

#include "util/text.h"

namespace upskill {
namespace {

// The default model (Q8_0, 145 MB) with 32 answers in one batch, on AMD EPYC of 2023: 1,870 tokens of answers and 1,400
// new ones of prompts in 28 s of processor time. Larger models take longer by their size.
constexpr double kTokensPerProcessor = 65.0;
constexpr double kBytesOfDefaultModel = 145e6;
constexpr double kBytesOfUnknownModel = 2e9;

// Of an answer over the network: before its first token, and each token.
constexpr double kFirstToken = 1.0;
constexpr double kTokensPerSecond = 85.0;

double BytesOf(const ModelSpec& spec) {
  if (spec.provider != "llama") return kBytesOfDefaultModel;
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(spec.rest, code);
  return code ? kBytesOfUnknownModel : static_cast<double>(std::max<std::uintmax_t>(bytes, 1));
}

}  // namespace

AnswerTime TimeOfAnswer(const KnownStudent& known, const ModelSpec& spec, double output, int parallel) {
  if (known.answers > 0)
    return {known.seconds, fmt::format("from {} of earlier runs", Counted(known.answers, "answer"))};
  if (known.seconds_per_token) return {*known.seconds_per_token * output, "from its answers to other cases"};
  if (spec.provider == "sim") return {0.0, "simulated students take none"};
  if (spec.provider != "llama" && spec.provider != "embedded") {
    return {
        kFirstToken + output / kTokensPerSecond,
        fmt::format("a guess of {:.0f} s and {:.0f} tokens per second for each answer", kFirstToken, kTokensPerSecond)};
  }
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const double rate = kTokensPerProcessor * processors * kBytesOfDefaultModel / BytesOf(spec);
  return {parallel * output / rate,
          fmt::format("a guess of {:.2g} tokens per second of all answers together on {}; the first run shows this "
                      "machine's speed",
                      rate, Counted(processors, "processor"))};
}

}  // namespace upskill
