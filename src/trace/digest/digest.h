// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/trace.h"

namespace upskill {

// The default size of what `trace digest` shows and `generate` sends to the teacher.
inline constexpr std::size_t kDefaultDigestTokens = 24'000;

struct DigestOptions {
  std::size_t budget_tokens = kDefaultDigestTokens;
};

struct Digest {
  std::string text;  // Markdown
  std::size_t tokens = 0;
  std::vector<DigestItem> items;  // the items in the text, in order
  std::map<DigestKind, std::size_t> kept;
  std::map<DigestKind, std::size_t> dropped;
};

// Condenses one trace, or several of the same task, which must be redacted already. Deterministic.
Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options);

// "6,900 tokens: 6 error → fix pairs, 5 files, 9 commands, 3 corrections".
std::string KeptLine(const Digest& digest);

}  // namespace upskill
