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

// What a teacher needs from a trace. In the order in which the digest shows them.
enum class DigestKind {
  kEpisode,     // a request, how it was worked on, how it ended
  kCorrection,  // what the user said against the agent's way
  kFix,         // a failing command or call, and what made it pass
  kCommand,     // a command that worked, in its final form
  kFile,        // a written file, last version
  kFact,        // something looked up
  kFinding,     // a conclusion that the agent wrote down
  kDeadEnd,     // what did not work, was rejected or given up
};

// What an item says, as data. Texts are whole, except outputs: those hold the telling lines (Excerpt).
struct EpisodeDetail {
  std::string request;                       // the user's own words; empty where the recording doesn't have them
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
  bool is_command = false;  // shell commands; else a tool with its path or arguments
  std::string failed;
  std::string error;           // output of the failure
  std::vector<FixStep> steps;  // the last ones before the success, in their order
  std::size_t earlier_steps = 0;
  std::string reason;  // what the agent said last before the success; may be empty
  std::string works;   // the form that worked
  std::string call;    // arguments of the call that worked, where `works` equals `failed` but the arguments differ
};

struct CommandDetail {
  std::string command;
  std::string purpose;  // what the agent said it is for; may be empty
  std::string output;
  std::size_t worked = 0;
  std::size_t failed = 0;
};

struct FileDetail {
  std::string path;
  bool whole = false;   // the content is known from a write
  std::string content;  // the last version; empty unless `whole`
  std::string first;    // the first version; empty unless `whole` and there are several
  // Those whose effect on `content` isn't known: the file was never written whole, or they don't match it.
  std::vector<FileEdit> edits;
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
  bool document = false;  // the whole recording is this text
};

struct DeadEndDetail {
  enum class Kind { kFailed, kRejected, kRewound };
  Kind kind = Kind::kFailed;
  bool is_command = false;
  std::string tried;   // kRewound: the first words of what was given up
  std::string output;  // empty for kRewound
};

using DigestDetail =
    std::variant<EpisodeDetail, FixDetail, CommandDetail, FileDetail, FactDetail, TextDetail, DeadEndDetail>;

struct DigestItem {
  DigestKind kind = DigestKind::kEpisode;
  std::string key;  // equal in several traces: the same thing
  DigestDetail detail;
  double value = 0;                // the least useful is dropped first
  std::vector<EventPlace> places;  // the events that prove it
  std::size_t trace = 0;
  std::size_t event = 0;
  std::size_t agreement = 1;  // traces in which it stands
  std::string text;           // in a digest: the form that it shows
};

// What MakeDigest chooses from, one function for each file of the digest. `trace_index` goes into the items.
std::vector<DigestItem> CollectTalk(const Trace& trace,
                                    std::size_t trace_index);  // episodes, corrections, findings, facts
std::vector<DigestItem> CollectCalls(const Trace& trace, std::size_t trace_index);  // fixes, commands, dead ends
std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index);

}  // namespace upskill
