// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/transcript.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "trace/digest/digest_text.h"
#include "trace/digest/excerpt.h"
#include "trace/digest/shown_lines.h"
#include "trace/read/tool_use.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostOfContext = 6000;  // bytes of what a program told its agent
constexpr std::size_t kMostOfArguments = 4000;

std::string Whole(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

// Lines of a file without the numbers that a program put in front of them ("    17→text").
std::string WithoutLineNumbers(const std::string& text) {
  static const RE2 pattern(R"((?m)^ *\d{1,7}→)");
  std::string plain = text;
  RE2::GlobalReplace(&plain, pattern, "");
  return plain;
}

// "/mcp", which is for the agent's program.
bool IsCommandOfUser(std::string_view text) {
  text = Trim(text);
  return text.starts_with("<command-name>") ||
         (text.starts_with('/') && text.rfind('/') == 0 && text.find_first_of(" \n") == std::string_view::npos);
}

class TranscriptWriter {
 public:
  TranscriptWriter(const Trace& trace, std::size_t trace_index, bool repeats_once)
      : trace_(trace), trace_index_(trace_index), repeats_once_(repeats_once) {
    for (const DigestItem& item : CollectTalk(trace, trace_index)) {
      if (item.kind == DigestKind::kCorrection) corrections_.insert(item.event);
    }
    for (DigestItem& item : CollectCalls(trace, trace_index)) {
      const bool rewound = item.kind == DigestKind::kDeadEnd && trace.events[item.event].abandoned;
      if (item.kind != DigestKind::kFix && !rewound) continue;
      const std::size_t at = item.kind == DigestKind::kFix ? item.places.back().number - 1 : item.event;
      item.text = ItemText(item, ItemForm::kBrief);
      after_[at].push_back(std::move(item));
    }
  }

  std::vector<DigestItem> Write() {
    std::vector<DigestItem> files = CollectFiles(trace_, trace_index_);
    for (const DigestItem& item : files) {
      const auto& file = std::get<FileDetail>(item.detail);
      if (repeats_once_ && !file.deleted) lines_.Add(file.content, "of the final content of " + file.path);
    }
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      if (!trace_.events[i].abandoned) AddEvent(i);
      for (DigestItem& item : after_[i]) items_.push_back(std::move(item));
    }
    std::stable_sort(files.begin(), files.end(),
                     [](const DigestItem& a, const DigestItem& b) { return a.event < b.event; });
    if (!changed_.empty() && files.empty()) Add(DigestKind::kFinding, trace_.events.size() - 1, "");
    for (DigestItem& file : files) {
      file.text = ItemText(file, ItemForm::kWhole);
      items_.push_back(std::move(file));
    }
    return std::move(items_);
  }

 private:
  DigestItem& Add(DigestKind kind, std::size_t event, std::string text, HowKnown evidence = HowKnown::kOnlyWritten) {
    const Event& from = trace_.events[event];
    DigestItem item;
    item.kind = kind;
    item.places = {PlaceOf(trace_, event)};
    item.trace = trace_index_;
    item.event = event;
    item.evidence = evidence;
    item.cut_characters = std::exchange(cut_characters_, 0);
    if (!changed_.empty()) item.text = fmt::format("(changed before this: {})\n", std::exchange(changed_, ""));
    changed_paths_.clear();
    if (!from.agent.empty()) item.text += "(sub-agent) ";
    item.text += text;
    if (from.shortened) item.text += "\n[the recording leaves out part of this]";
    item.detail = TextDetail{std::move(text), false};
    items_.push_back(std::move(item));
    return items_.back();
  }

  void AddEvent(std::size_t i) {
    const Event& event = trace_.events[i];
    switch (event.kind) {
      case EventKind::kUser: {
        const bool correction = corrections_.contains(i);
        Add(correction ? DigestKind::kCorrection : DigestKind::kEpisode, i, Whole(event.text), HowKnown::kToldByUser);
        break;
      }
      case EventKind::kAssistant:
        Add(DigestKind::kFinding, i, Whole(event.text),
            trace_.passed_checks && i + 1 == trace_.events.size() ? HowKnown::kPassedChecks : HowKnown::kOnlyWritten);
        break;
      case EventKind::kReasoning:
        if (!Trim(event.text).empty()) Add(DigestKind::kFinding, i, "(reasoning) " + Whole(event.text));
        break;
      case EventKind::kSummary:
        Add(DigestKind::kFinding, i, "(summary) " + Whole(event.text));
        break;
      case EventKind::kToolCall:
        AddCall(i);
        break;
      case EventKind::kToolResult:
        if (event.partner == kNoIndex && !Trim(event.text).empty())
          Add(DigestKind::kFact, i, event.tool + " → " + Whole(event.text), HowKnown::kReadInFiles);
        break;
      case EventKind::kFileChange:
        if (event.partner == kNoIndex && !event.path.empty()) NoteChange(event.path);
        break;
      case EventKind::kSystem:
        AddContext(i);
        break;
      case EventKind::kUnknown:
        break;
    }
  }

  void AddContext(std::size_t i) {
    const std::string& text = trace_.events[i].text;
    if (trace_.format == TraceFormat::kNotes) {
      Add(DigestKind::kFinding, i, Whole(text)).detail = TextDetail{text, true};
    } else if (!Trim(text).empty() && !IsCommandOfUser(text)) {
      const bool stopped = text.starts_with("[Request interrupted by user");
      Add(stopped ? DigestKind::kEpisode : DigestKind::kFact, i,
          "(given to the agent by its program) " + Cut(text, kMostOfContext),
          stopped ? HowKnown::kToldByUser : HowKnown::kReadInFiles);
    }
  }

  // The ends of a long text; counts what is left out.
  std::string Cut(std::string_view text, std::size_t most) {
    std::string kept = HeadAndTail(text, most);
    if (kept.size() < Trim(text).size()) cut_characters_ += CountCodePoints(Trim(text)) - CountCodePoints(kept);
    return kept;
  }

  // The same for a command that writes files. What it wrote into them, `written` characters, is shown there.
  std::string CutShown(const std::string& command, std::size_t written) {
    constexpr std::size_t kMostOfCommand = 400;
    const std::size_t before = cut_characters_;
    std::string kept = Cut(command, kMostOfCommand);
    cut_characters_ -= std::min(written, cut_characters_ - before);
    return kept;
  }

  void NoteChange(const std::string& path) {
    if (changed_paths_.insert(path).second) changed_ += (changed_.empty() ? "" : ", ") + path;
  }

  // "(in apps/x) " if the call names another working folder than the one before, as calls of Codex do.
  std::string ChangedFolder(const Event& call) {
    std::string folder = FolderOf(call);
    if (folder.empty() || folder == folder_) return "";
    folder_ = std::move(folder);
    return fmt::format("(in {}) ", HeadAndTail(folder_, 200));
  }

  // The output of a call; of one that was shown before, the place of the item that has it.
  std::string OutputOf(std::size_t result) {
    const std::string text = Whole(trace_.events[result].text);
    constexpr std::size_t kShortest = 200;
    if (text.size() >= kShortest) {
      const auto [known, added] = shown_.try_emplace(std::hash<std::string>()(text), result);
      if (!added && trace_.events[known->second].text.size() == trace_.events[result].text.size())
        return fmt::format("{}{}]", kSameOutputAt, ToText(PlaceOf(trace_, trace_.events[known->second].partner)));
    }
    std::string told = text;
    if (repeats_once_) {
      told = WithoutLineNumbers(lines_.WithoutRepeats(text));
      lines_.Add(text, "as above");
    }
    return trace_.events[result].shortened ? told + "\n[the recording leaves out part of this]" : told;
  }

  void AddCall(std::size_t i) {
    const Event& call = trace_.events[i];
    const bool answered = call.partner != kNoIndex;
    const HowKnown evidence = EvidenceOfCall(trace_, i);
    const CallStatus status = answered ? trace_.events[call.partner].status : CallStatus::kUnknown;
    const bool refused = status == CallStatus::kRejected || status == CallStatus::kCancelled;
    const bool failed = evidence == HowKnown::kRanAndFailed;
    bool changes = false;
    std::size_t written = 0;
    if (MayWriteFile(call) && !failed && !refused) {
      for (const FileEdit& edit : EditsOfCall(call)) {
        if (edit.path.empty()) continue;
        NoteChange(edit.path);
        changes = true;
        written += CountCodePoints(edit.before) + CountCodePoints(edit.after);
      }
    }
    const bool separate = !call.path.empty() && IsChangedApart(i);
    // What a successful edit wrote is in the file's final content.
    if (((changes && call.command.empty()) || separate) && !failed && !refused) return;
    std::string text = call.command.empty() ? call.tool + " " + Cut(call.text, kMostOfArguments)
                                            : ChangedFolder(call) + "$ " +
                                                  (changes ? CutShown(call.command, written) : Whole(call.command));
    if (refused) text += status == CallStatus::kRejected ? "\n[not allowed]" : "\n[stopped]";
    if (answered) {
      const std::string output = OutputOf(call.partner);
      if (!output.empty()) text += "\n→ " + output;
    } else {
      text += "\n[no result is recorded]";
    }
    DigestKind kind = DigestKind::kFact;
    if (failed || refused) {
      kind = DigestKind::kDeadEnd;
    } else if (!call.command.empty() && !IsLookingAround(call)) {
      kind = DigestKind::kCommand;
    }
    DigestItem& item = Add(kind, i, std::move(text), evidence);
    if (kind == DigestKind::kCommand && answered)
      item.detail = CommandDetail{call.command, "", trace_.events[call.partner].text, 1, 0};
  }

  // Whether a change of the same file is recorded right after the call.
  bool IsChangedApart(std::size_t call) const {
    constexpr std::size_t kNear = 3;
    for (std::size_t k = call + 1; k < std::min(trace_.events.size(), call + 1 + kNear); ++k) {
      const Event& event = trace_.events[k];
      if (event.kind == EventKind::kFileChange && event.path == trace_.events[call].path) return true;
    }
    return false;
  }

  const Trace& trace_;
  std::size_t trace_index_;
  std::set<std::size_t> corrections_;
  std::map<std::size_t, std::vector<DigestItem>> after_;  // what follows an event
  std::map<std::size_t, std::size_t> shown_;              // hash of an output → event
  bool repeats_once_;
  ShownLines lines_;                     // of outputs and of files' final content; empty unless `repeats_once_`
  std::size_t cut_characters_ = 0;       // from the next item
  std::string folder_;                   // of the last call that names one
  std::string changed_;                  // files changed since the last item
  std::set<std::string> changed_paths_;  // the same ones
  std::vector<DigestItem> items_;
};

}  // namespace

std::vector<DigestItem> TranscriptOf(const Trace& trace, std::size_t trace_index, bool repeats_once) {
  return TranscriptWriter(trace, trace_index, repeats_once).Write();
}

}  // namespace upskill
