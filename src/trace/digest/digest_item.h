// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "trace/file_edit.h"
#include "trace/trace.h"

namespace upskill {

// Begins a reference to an item with the same output; its place and "]" follow.
inline constexpr std::string_view kSameOutputAt = "[the same output as at ";

// What a teacher needs from a trace, in the order in which the digest shows it.
enum class DigestKind {
  kEpisode,     // a request, the work on it, and its outcome
  kCorrection,  // what the user objected to
  kFix,         // a failing command or call, and what made it pass
  kCommand,     // a command that worked, in its final form
  kFile,        // a written file, last version
  kFact,        // something looked up
  kFinding,     // a conclusion that the agent wrote down
  kDeadEnd,     // what didn't work, was rejected or abandoned
};

// How an item is known. A skill may not claim more.
enum class HowKnown {
  kRanAndPassed,
  kRanAndFailed,
  kRan,           // the recording doesn't say how it ended
  kOnlyWritten,   // by the agent: nothing in the recording tries it
  kPassedChecks,  // the same, but checks of the task have passed on it afterwards
  kToldByUser,
  kReadInDocs,
  kReadInFiles,
};
const char* EvidenceWords(HowKnown evidence);  // "ran and passed"

// An item's content as data. Texts are complete, except outputs: only their informative lines are kept (Excerpt).
struct EpisodeDetail {
  std::string request;                       // the user's own words; empty if not recorded
  std::map<std::string, std::size_t> tools;  // calls of the main thread
  std::size_t errors = 0;
  std::string outcome;  // the last answer; empty for none
};

// Something done between a failure and the success.
struct FixStep {
  enum class Kind { kEdit, kCommand, kUserMessage };
  Kind kind = Kind::kEdit;
  FileEdit edit;     // kEdit
  std::string text;  // kCommand: the command; kUserMessage: what the user said
};

struct FixDetail {
  bool is_command = false;  // a shell command; otherwise a tool with its path or arguments
  std::string failed;
  std::string error;           // output of the failure
  std::vector<FixStep> steps;  // the last ones before the success, in order
  std::size_t earlier_steps = 0;
  std::string reason;  // the agent's last words before the success; may be empty
  std::string works;   // the form that worked
  std::string call;    // arguments of the call that worked, if `works` equals `failed` but the arguments differ
};

struct CommandDetail {
  std::string command;
  std::string purpose;  // the agent's description; may be empty
  std::string output;
  std::size_t worked = 0;
  std::size_t failed = 0;
  // The folder that it ran in, if it isn't the session's. The initializer lets others omit it.
  std::string folder = "";  // NOLINT(readability-redundant-string-init)
};

struct FileDetail {
  std::string path;
  bool whole = false;   // all of the content is known
  std::string content;  // the final version; unless `whole`, with lines in brackets that say what isn't recorded
  std::string first;    // the first version; empty unless `whole` and there are several
  // Edits whose effect on the rest of the file is unknown: it was never recorded whole, or they don't match it.
  std::vector<FileEdit> edits;
  bool deleted = false;
  std::size_t versions = 0;
  std::string replaced;  // lines that edits removed and that aren't in `content`
};

struct FactDetail {
  std::string tool;
  std::string question;  // the call's arguments
  std::string answer;
};

struct TextDetail {  // corrections and findings
  std::string text;
  bool document = false;  // the whole recording is this text
};

struct DeadEndDetail {
  enum class Kind { kFailed, kRejected, kRewound };
  Kind kind = Kind::kFailed;
  bool is_command = false;
  std::string tried;   // kRewound: the start of what was abandoned
  std::string output;  // empty for kRewound
};

using DigestDetail =
    std::variant<EpisodeDetail, FixDetail, CommandDetail, FileDetail, FactDetail, TextDetail, DeadEndDetail>;

struct DigestItem {
  DigestKind kind = DigestKind::kEpisode;
  std::string key;  // items of several traces with the same key are merged
  DigestDetail detail;
  double value = 0;                // items of low value are dropped first
  std::vector<EventPlace> places;  // the events that prove it
  std::size_t trace = 0;
  std::size_t event = 0;
  std::size_t agreement = 1;  // the number of traces that contain it
  std::string text;           // in a digest: the text shown
  HowKnown evidence = HowKnown::kOnlyWritten;
  std::size_t cut_characters = 0;  // that `text` leaves out of a whole trace
};

// How the outcome of a call is known, and whether its output says that it failed although the tool reports success.
HowKnown EvidenceOfCall(const Trace& trace, std::size_t call);
bool IsLookingAround(const Event& call);  // a command that only inspects things
std::string FolderOf(const Event& call);  // that its arguments name, as those of Codex do; empty: none

// The candidates for a digest. `trace_index` is stored in the items.
std::vector<DigestItem> CollectTalk(const Trace& trace,
                                    std::size_t trace_index);  // episodes, corrections, findings, facts
std::vector<DigestItem> CollectCalls(const Trace& trace, std::size_t trace_index);  // fixes, commands, dead ends
std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index);

}  // namespace upskill
