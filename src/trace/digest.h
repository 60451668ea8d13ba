// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace upskill {

// What a teacher needs from a trace. In the order in which the digest shows them.
enum class DigestKind {
  kEpisode,     // a request, how it was worked on, how it ended
  kCorrection,  // what the person said against the agent's way
  kFix,         // a failing command or call, and what made it pass
  kCommand,     // a command that worked, in its final form
  kFile,        // a written file, last version
  kFact,        // something looked up
  kFinding,     // a conclusion that the agent wrote down
  kDeadEnd,     // what did not work, was rejected or given up
};
const char* DigestKindTitle(DigestKind kind);

struct DigestItem {
  DigestKind kind = DigestKind::kEpisode;
  std::string key;    // equal in several traces: the same thing
  std::string brief;  // a form of a few lines
  std::string full;   // may be empty: the brief form says all
  double value = 0;   // the least useful is dropped first
  std::vector<std::string> places;  // `file:event`
  std::size_t trace = 0;
  std::size_t event = 0;
  std::size_t agreement = 1;  // traces in which it stands
};

struct DigestOptions {
  std::size_t budget_tokens = 8000;
};

struct Digest {
  std::string text;  // Markdown
  std::size_t tokens = 0;
  std::map<DigestKind, std::size_t> kept;
  std::map<DigestKind, std::size_t> dropped;
};

// Condenses one trace, or several of the same task. Redact first. The same traces give the same digest.
Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options);

// Tokens that a text takes, estimated from above for common tokenisers: a token per 3.5 code points of Latin text.
std::size_t EstimateTokens(std::string_view text);

// Parts of MakeDigest, one for each file of the digest. `trace_index` goes into the items.
std::vector<DigestItem> CollectTalk(const Trace& trace, std::size_t trace_index);   // episodes, corrections, findings, facts
std::vector<DigestItem> CollectCalls(const Trace& trace, std::size_t trace_index);  // fixes, commands, dead ends
std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index);

}  // namespace upskill
