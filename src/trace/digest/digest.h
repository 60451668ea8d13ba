// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
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

// What an item says, as data. Texts are whole unless "telling lines" says otherwise.
struct EpisodeDetail {
  std::string request;                       // the person's own words; empty where the recording doesn't have them
  std::map<std::string, std::size_t> tools;  // calls of the main thread
  std::size_t errors = 0;
  std::string outcome;  // the last answer; empty for none
};

// Of fixes and of dead ends, which have no `works`. Of a rewound conversation only `failed`, its first words.
struct FixDetail {
  bool is_command = false;  // shell commands; else a tool with its path or arguments
  std::string failed;
  std::string error;   // telling lines of the output
  std::string change;  // telling lines: edits and commands in between, and the reason given
  std::string works;   // the form that worked
};

struct CommandDetail {
  std::string command;
  std::string purpose;  // what the agent said it is for; may be empty
  std::string output;   // telling lines
  std::size_t worked = 0;
  std::size_t failed = 0;
};

struct FileDetail {
  std::string path;
  std::string content;  // the last version; where it isn't known whole, the changes
  bool whole = false;
  bool deleted = false;
  std::size_t versions = 0;
};

struct FactDetail {
  std::string tool;
  std::string question;  // the call's arguments
  std::string answer;
};

struct TextDetail {  // corrections and findings
  std::string text;
};

using DigestDetail = std::variant<EpisodeDetail, FixDetail, CommandDetail, FileDetail, FactDetail, TextDetail>;

struct DigestItem {
  DigestKind kind = DigestKind::kEpisode;
  std::string key;    // equal in several traces: the same thing
  std::string brief;  // a form of a few lines
  std::string full;   // may be empty: the brief form says all
  DigestDetail detail;
  double value = 0;                 // the least useful is dropped first
  std::vector<std::string> places;  // `file:event`
  std::size_t trace = 0;
  std::size_t event = 0;
  std::size_t agreement = 1;  // traces in which it stands
  bool in_full = false;       // in a digest: it shows the full form
};

struct DigestOptions {
  std::size_t budget_tokens = 8000;
};

struct Digest {
  std::string text;  // Markdown
  std::size_t tokens = 0;
  std::vector<DigestItem> items;  // what stands in the text, in its order
  std::map<DigestKind, std::size_t> kept;
  std::map<DigestKind, std::size_t> dropped;
};

// Condenses one trace, or several of the same task. Redact first. The same traces give the same digest.
Digest MakeDigest(const std::vector<Trace>& traces, const DigestOptions& options);

// All that MakeDigest chooses from: items of all traces, merged and valued, the most useful first.
std::vector<DigestItem> CollectDigestItems(const std::vector<Trace>& traces);

// "6,900 tokens: 6 error → fix pairs, 5 files, 9 commands, 3 corrections".
std::string KeptLine(const Digest& digest);

// Parts of MakeDigest, one for each file of the digest. `trace_index` goes into the items.
std::vector<DigestItem> CollectTalk(const Trace& trace,
                                    std::size_t trace_index);  // episodes, corrections, findings, facts
std::vector<DigestItem> CollectCalls(const Trace& trace, std::size_t trace_index);  // fixes, commands, dead ends
std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index);

}  // namespace upskill
