// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "trace/digest/digest_item.h"
#include "trace/digest/digest_text.h"
#include "trace/digest/excerpt.h"
#include "trace/read/record.h"
#include "trace/read/record_parser.h"
#include "trace/read/tool_use.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// A call with its result, as the search for errors and fixes sees it.
struct Attempt {
  std::size_t call = kNoIndex;
  std::size_t result = kNoIndex;
  bool failed = false;
  bool rejected = false;           // rejected or cancelled, which says nothing about whether it works
  std::string shown;               // the command, or tool and arguments
  std::string key;                 // equal for attempts at the same thing
  std::string program;             // first word of the key
  std::vector<std::string> words;  // of the key, sorted, each once
};

// Many tools report success although the command they ran failed; then only the output shows it.
bool OutputSaysFailure(std::string_view text) {
  static const RE2 success_pattern(R"((?m)^Exit [Cc]ode:? 0\s*$)");
  static const RE2 failure_pattern(
      R"((?m)(^Exit [Cc]ode:? [1-9]|exit(?:ed)? (?:with )?(?:code|status):? [1-9]|^Traceback \(most recent|^make: \*\*\*|^FAILED|)"
      R"(: command not found|[1-9]\d* (?:tests? )?failed|^E  +\w|^(?:fatal )?error(?:\[\w+\])?:|: (?:fatal )?error: |^npm ERR!|)"
      R"(Segmentation fault|^Error: [^(\s]))");
  constexpr std::size_t kLook = 100'000;
  const std::string_view front = text.substr(0, kLook);
  if (RE2::PartialMatch(re2::StringPiece(front.data(), front.size()), success_pattern)) return false;
  if (RE2::PartialMatch(re2::StringPiece(front.data(), front.size()), failure_pattern)) return true;
  if (text.size() <= kLook) return false;
  const std::string_view tail = text.substr(text.size() - kLook / 2);
  return RE2::PartialMatch(re2::StringPiece(tail.data(), tail.size()), failure_pattern);
}

// `pip3` and `python3.11` are `pip` and `python`.
std::vector<std::string> WordsOf(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  const auto add = [&] {
    if (word.starts_with("pip") || word.starts_with("python")) word.resize(word.find_last_not_of("0123456789.") + 1);
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : command.substr(0, 4000)) {
    const bool part = IsAsciiAlphanumeric(c) || c == '_' || c == '.' || c == '/' || c == '-';
    if (part) {
      word += c;
    } else {
      add();
    }
  }
  add();
  return words;
}

// The core of a command, without folder changes, environment variables and output filters around it.
std::string CommandKey(std::string command) {
  static const RE2 folder_pattern(R"(^\s*cd\s+\S+\s*(?:&&|;)\s*)");
  static const RE2 environment_pattern(R"(^\s*(?:export\s+)?(?:[A-Z_][A-Z0-9_]*=\S*\s+)+)");
  static const RE2 filter_pattern(R"(\s*(?:2>&1|>\s*/dev/null|\|\s*(?:tail|head|tee|grep|cat)\b[^|&;]*)\s*)");
  RE2::Replace(&command, folder_pattern, "");
  RE2::Replace(&command, environment_pattern, "");
  RE2::GlobalReplace(&command, filter_pattern, " ");
  return std::string(Trim(command));
}

// Commands that only inspect things teach nothing if they work.
bool OnlyLooks(const std::string& key) {
  static const RE2 looking_pattern(
      R"(^(?:ls|cat|cd|pwd|echo|head|tail|sed -n|grep|rg|find|which|wc|file|stat|tree|env|date|whoami|)"
      R"(printf|nl|type|git (?:status|diff|log|show|branch))\b[^&;]*$)");
  return RE2::PartialMatch(key, looking_pattern);
}

// Whether a search failed with code 1 and no message of its own: it found nothing, which is a result.
bool FoundNothing(const std::string& key, std::string_view output) {
  static const RE2 search_pattern(R"(^(?:rg|grep|egrep|git grep)\b)");
  static const RE2 code_pattern(R"((?i)exit(?:ed)? (?:with )?code:? (\d+))");
  if (!RE2::PartialMatch(key, search_pattern) || !OnlyLooks(key)) return false;
  constexpr std::size_t kHead = 400;  // which programs put before the output
  const std::string head(output.substr(0, kHead));
  std::string code;
  if (RE2::PartialMatch(head, code_pattern, &code) && code != "1") return false;
  constexpr std::string_view kMark = "Output:";
  const std::size_t mark = head.find(kMark);
  if (mark != std::string::npos) return Trim(output.substr(mark + kMark.size())).empty();
  static const RE2 only_code_pattern(R"((?i)^\s*(?:exit code:? 1)?\s*$)");
  return RE2::FullMatch(head, only_code_pattern) && output.size() <= kHead;
}

std::vector<Attempt> AttemptsOf(const Trace& trace) {
  std::vector<Attempt> attempts;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& call = trace.events[i];
    if (call.kind != EventKind::kToolCall || call.partner == kNoIndex) continue;
    const Event& result = trace.events[call.partner];
    Attempt attempt;
    attempt.call = i;
    attempt.result = call.partner;
    attempt.rejected = result.status == CallStatus::kRejected || result.status == CallStatus::kCancelled;
    attempt.shown = call.command.empty()
                        ? call.tool + " " + (call.path.empty() ? HeadAndTail(call.text, 300) : call.path)
                        : call.command;
    attempt.key = call.command.empty() ? call.tool + " " + call.path : CommandKey(call.command);
    attempt.words = WordsOf(attempt.key);
    if (!attempt.words.empty()) attempt.program = attempt.words.front();
    std::sort(attempt.words.begin(), attempt.words.end());
    attempt.words.erase(std::unique(attempt.words.begin(), attempt.words.end()), attempt.words.end());
    // The output of a search or listing may mention errors without being one.
    const bool may_hide_failure = !call.command.empty() && !attempt.rejected && !OnlyLooks(attempt.key);
    const bool says_error = result.status == CallStatus::kError && !FoundNothing(attempt.key, result.text);
    attempt.failed = says_error || (may_hide_failure && OutputSaysFailure(result.text));
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

// Share of words that two attempts have in common, weighted towards the program's name.
double Likeness(const Trace& trace, const Attempt& a, const Attempt& b) {
  if (trace.events[a.call].tool != trace.events[b.call].tool) return 0;
  if (a.key == b.key) return 1;
  std::size_t both = 0;
  for (auto left = a.words.begin(), right = b.words.begin(); left != a.words.end() && right != b.words.end();) {
    if (*left == *right) {
      ++both;
      ++left;
      ++right;
    } else if (*left < *right) {
      ++left;
    } else {
      ++right;
    }
  }
  const std::size_t all = a.words.size() + b.words.size() - both;
  if (all == 0) return 0;
  const double likeness = static_cast<double>(both) / static_cast<double>(all);
  return a.program == b.program && !a.program.empty() ? likeness + 0.25 : likeness;
}

bool MayHaveWorked(const Trace& trace, const Event& call) {
  if (call.partner == kNoIndex) return true;
  const CallStatus status = trace.events[call.partner].status;
  return status == CallStatus::kOk || status == CallStatus::kUnknown;
}

// The steps between the failure and the success: edits, other commands, the user's messages.
std::vector<FixStep> StepsBetween(const Trace& trace, std::size_t from, std::size_t to) {
  constexpr std::size_t kMaxEditBytes = 65'536;
  std::vector<FixStep> steps;
  for (std::size_t i = from + 1; i < to; ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kUser) steps.push_back({FixStep::Kind::kUserMessage, {}, event.text});
    if (event.kind != EventKind::kToolCall || !MayHaveWorked(trace, event)) continue;
    if (MayWriteFile(event)) {
      for (FileEdit& edit : EditsOfCall(event)) {
        // One large file may occur in many fixes.
        for (std::string* text : {&edit.before, &edit.after})
          if (text->size() > kMaxEditBytes) *text = HeadAndTail(*text, kMaxEditBytes);
        steps.push_back({FixStep::Kind::kEdit, std::move(edit), ""});
      }
    } else if (!event.command.empty() && !IsLookingAround(event)) {
      steps.push_back({FixStep::Kind::kCommand, {}, event.command});
    }
  }
  return steps;
}

// The agent's last message.
std::string ReasonBetween(const Trace& trace, std::size_t from, std::size_t to) {
  for (std::size_t i = to; i-- > from + 1;) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kAssistant && !Trim(event.text).empty()) return event.text;
  }
  return "";
}

// Whether arguments differ only in the agent's description of the call.
bool SameCall(const std::string& a, const std::string& b) {
  if (a == b) return true;
  ParsedRecord left = ParseRecord(a);
  ParsedRecord right = ParseRecord(b);
  if (!left.value || !right.value || !left.value->is_object() || !right.value->is_object()) return false;
  left.value->erase("description");
  right.value->erase("description");
  return *left.value == *right.value;
}

constexpr std::size_t kOutputBytes = 4000;  // of informative lines

DigestItem FixItem(const Trace& trace, const Attempt& failure, const Attempt& success) {
  const std::string& error = trace.events[failure.result].text;
  const Event& call = trace.events[success.call];
  FixDetail fix;
  fix.is_command = !call.command.empty();
  fix.failed = failure.shown;
  fix.error = Excerpt(error, kOutputBytes);
  fix.steps = StepsBetween(trace, failure.result, success.call);
  fix.earlier_steps = fix.steps.size() - CountStepsToKeep(fix.steps);
  fix.steps.erase(fix.steps.begin(), fix.steps.begin() + static_cast<std::ptrdiff_t>(fix.earlier_steps));
  fix.reason = ReasonBetween(trace, failure.result, success.call);
  fix.works = success.shown;
  // The same command: other arguments of the call may matter, such as leaving a sandbox.
  if (success.shown == failure.shown && !SameCall(call.text, trace.events[failure.call].text)) fix.call = call.text;
  DigestItem item;
  item.kind = DigestKind::kFix;
  item.key = failure.key + "\n" + Excerpt(error, 120);
  item.detail = std::move(fix);
  const double late = static_cast<double>(failure.call) / static_cast<double>(trace.events.size());
  item.value = (OnlyLooks(failure.key) ? 50 : 76) + 14 * late;
  item.places = {PlaceOf(trace, failure.result), PlaceOf(trace, success.result)};
  item.event = failure.call;
  item.evidence = EvidenceOfCall(trace, success.call);
  return item;
}

DigestItem DeadEndItem(const Trace& trace, const Attempt& attempt) {
  DigestItem item;
  item.kind = DigestKind::kDeadEnd;
  item.key = "dead " + attempt.key;
  item.detail = DeadEndDetail{attempt.rejected ? DeadEndDetail::Kind::kRejected : DeadEndDetail::Kind::kFailed,
                              !trace.events[attempt.call].command.empty(), attempt.shown,
                              Excerpt(trace.events[attempt.result].text, kOutputBytes)};
  item.value = (attempt.rejected || OnlyLooks(attempt.key) ? 30 : 46) +
               14 * static_cast<double>(attempt.call) / static_cast<double>(trace.events.size());
  item.places = {PlaceOf(trace, attempt.result)};
  item.event = attempt.call;
  item.evidence = attempt.rejected ? HowKnown::kOnlyWritten : HowKnown::kRanAndFailed;
  return item;
}

// An abandoned branch of the conversation; `first` is its first event.
DigestItem RewoundItem(const Trace& trace, std::size_t first) {
  constexpr std::size_t kTriedBytes = 4000;
  const std::string& text = trace.events[first].text;
  DigestItem item;
  item.kind = DigestKind::kDeadEnd;
  item.key = "rewound " + HeadAndTail(text, 200);
  item.detail = DeadEndDetail{DeadEndDetail::Kind::kRewound, false, HeadAndTail(text, kTriedBytes), ""};
  item.value = 48;
  item.places = {PlaceOf(trace, first)};
  item.event = first;
  return item;
}

// The attempt after `from` that most likely fixed it: the same command, or a similar one soon after.
std::size_t SuccessAfter(const Trace& trace, const std::vector<Attempt>& attempts, std::size_t from) {
  constexpr std::size_t kLookAhead = 400;
  constexpr std::size_t kNear = 30;
  std::size_t best = kNoIndex;
  // A search for something else does not fix a search.
  double best_likeness = OnlyLooks(attempts[from].key) ? 0.95 : 0.45;
  for (std::size_t k = from + 1; k < std::min(attempts.size(), from + kLookAhead); ++k) {
    if (attempts[k].failed || attempts[k].rejected) continue;
    const bool near = k < from + kNear;
    if (!near && attempts[k].key != attempts[from].key) continue;
    const double likeness = Likeness(trace, attempts[from], attempts[k]);
    if (likeness >= 1) return best != kNoIndex ? best : k;
    if (near && likeness > best_likeness) {
      best_likeness = likeness;
      best = k;
    }
  }
  return best;
}

// In Claude Code and Gemini CLI, agents describe each command.
std::string PurposeOf(const Event& call) {
  const Result<Json> arguments = ParseJson(call.text, "arguments");
  return arguments && arguments->is_object() ? std::string(Trim(JsonGet<std::string>(*arguments, "description", "")))
                                             : "";
}

void AddCommands(const Trace& trace, const std::vector<Attempt>& attempts, std::vector<DigestItem>& items) {
  struct Known {
    std::size_t last = kNoIndex;
    std::size_t worked = 0;
    std::size_t failed = 0;
  };
  std::map<std::string, Known> commands;
  for (std::size_t k = 0; k < attempts.size(); ++k) {
    if (trace.events[attempts[k].call].command.empty() || attempts[k].rejected || OnlyLooks(attempts[k].key)) continue;
    Known& known = commands[attempts[k].key];
    if (attempts[k].failed) {
      ++known.failed;
    } else {
      ++known.worked;
      known.last = k;
    }
  }
  for (const auto& [key, known] : commands) {
    if (known.last == kNoIndex) continue;
    const Attempt& attempt = attempts[known.last];
    DigestItem item;
    item.kind = DigestKind::kCommand;
    item.key = "command " + key;
    std::string folder = FolderOf(trace.events[attempt.call]);
    if (folder == trace.cwd) folder.clear();
    item.detail = CommandDetail{attempt.shown,
                                PurposeOf(trace.events[attempt.call]),
                                Excerpt(trace.events[attempt.result].text, kOutputBytes),
                                known.worked,
                                known.failed,
                                std::move(folder)};
    const double late = static_cast<double>(attempt.call) / static_cast<double>(trace.events.size());
    item.value =
        38 + 22 * late + (known.failed > 0 ? 14 : 0) + std::min(6.0, 2.0 * static_cast<double>(known.worked - 1));
    item.places = {PlaceOf(trace, attempt.call)};
    item.event = attempt.call;
    item.evidence = EvidenceOfCall(trace, attempt.call);
    items.push_back(std::move(item));
  }
}

}  // namespace

std::string FolderOf(const Event& call) {
  const ParsedRecord arguments = ParseRecord(call.text);
  return arguments.value && arguments.value->is_object() ? StringAt(*arguments.value, "workdir") : "";
}

bool IsLookingAround(const Event& call) { return !call.command.empty() && OnlyLooks(CommandKey(call.command)); }

HowKnown EvidenceOfCall(const Trace& trace, std::size_t call) {
  const Event& event = trace.events[call];
  if (event.partner == kNoIndex) return HowKnown::kRan;
  const Event& result = trace.events[event.partner];
  if (result.status == CallStatus::kRejected || result.status == CallStatus::kCancelled) return HowKnown::kOnlyWritten;
  if (result.status == CallStatus::kError)
    return FoundNothing(CommandKey(event.command), result.text) ? HowKnown::kReadInFiles : HowKnown::kRanAndFailed;
  if (!event.command.empty() && !IsLookingAround(event)) {
    if (OutputSaysFailure(result.text)) return HowKnown::kRanAndFailed;
    const bool still_runs = result.text.starts_with("Command running in background");
    return result.status == CallStatus::kOk && !still_runs ? HowKnown::kRanAndPassed : HowKnown::kRan;
  }
  if (MayWriteFile(event)) return HowKnown::kOnlyWritten;
  if (event.tool == "exec") return HowKnown::kRan;  // a script of Codex, whose calls have outcomes of their own
  return LooksUpFacts(event.tool) ? HowKnown::kReadInDocs : HowKnown::kReadInFiles;
}

std::vector<DigestItem> CollectCalls(const Trace& trace, std::size_t trace_index) {
  std::vector<DigestItem> items;
  const std::vector<Attempt> attempts = AttemptsOf(trace);
  std::set<std::string> fixed;  // several failures of one kind before one success are one pair: the last of them
  for (std::size_t k = attempts.size(); k-- > 0;) {
    const Attempt& attempt = attempts[k];
    if (!attempt.failed && !attempt.rejected) continue;
    const std::size_t success = attempt.rejected ? kNoIndex : SuccessAfter(trace, attempts, k);
    if (success == kNoIndex) {
      items.push_back(DeadEndItem(trace, attempt));
    } else if (fixed
                   .insert(
                       fmt::format("{} {} {}", success, attempt.key, Excerpt(trace.events[attempt.result].text, 100)))
                   .second) {
      items.push_back(FixItem(trace, attempt, attempts[success]));
    }
  }
  AddCommands(trace, attempts, items);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const bool first = i == 0 || !trace.events[i - 1].abandoned;
    if (trace.events[i].abandoned && first) items.push_back(RewoundItem(trace, i));
  }
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill
