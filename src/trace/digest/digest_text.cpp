// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/digest_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <variant>

#include "trace/digest/excerpt.h"
#include "util/text.h"

namespace upskill {
namespace {

struct KindWords {
  const char* title;
  const char* one;
  const char* many;
};

KindWords WordsFor(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return {"Requests and how they ended", "request", "requests"};
    case DigestKind::kCorrection:
      return {"Corrections by the user", "correction", "corrections"};
    case DigestKind::kFix:
      return {"Errors and what fixed them", "error and fix", "error and fix pairs"};
    case DigestKind::kCommand:
      return {"Commands that worked", "command", "commands"};
    case DigestKind::kFile:
      return {"Files written", "file", "files"};
    case DigestKind::kFact:
      return {"Facts looked up", "fact", "facts"};
    case DigestKind::kFinding:
      return {"Findings", "finding", "findings"};
    case DigestKind::kDeadEnd:
      return {"Dead ends", "dead end", "dead ends"};
  }
  return {"", "item", "items"};
}

std::string EditText(const FileEdit& edit) {
  return edit.kind == FileEdit::Kind::kReplace ? DiffLines(edit.before, edit.after) : edit.after;
}

constexpr std::array<std::size_t, 2> kFixBytes = {280, 1200};  // of each part, brief and full

std::string StepText(const FixStep& step, std::size_t max_bytes) {
  switch (step.kind) {
    case FixStep::Kind::kEdit:
      return fmt::format("{}:\n{}", step.edit.path,
                         Excerpt(EditText(step.edit), std::max<std::size_t>(max_bytes / 2, 160)));
    case FixStep::Kind::kCommand:
      return "ran: " + HeadAndTail(step.text, 200);
    case FixStep::Kind::kUserMessage:
      return "the user: " + HeadAndTail(step.text, 240);
  }
  return "";
}

// The steps that fit, counted from the last: the last changes before the success matter most.
std::vector<std::string> LastSteps(const std::vector<FixStep>& steps, std::size_t max_bytes) {
  std::vector<std::string> texts;
  std::size_t used = 0;
  for (std::size_t i = steps.size(); i-- > 0;) {
    std::string text = StepText(steps[i], max_bytes);
    if (!texts.empty() && used + text.size() >= max_bytes) break;
    used += text.size() + 1;
    texts.push_back(std::move(text));
  }
  std::reverse(texts.begin(), texts.end());
  return texts;
}

std::string ChangesText(const FixDetail& fix, std::size_t max_bytes) {
  const std::vector<std::string> shown = LastSteps(fix.steps, max_bytes);
  const std::size_t earlier = fix.earlier_steps + fix.steps.size() - shown.size();
  std::string text = earlier > 0 ? fmt::format("({})\n", Counted(earlier, "earlier change")) : "";
  for (const std::string& step : shown) text += step + "\n";
  if (!fix.reason.empty()) text += "why: " + Excerpt(fix.reason, max_bytes / 3) + "\n";
  return text;
}

std::string Times(const CommandDetail& command) {
  const std::size_t tried = command.worked + command.failed;
  return tried == 1 ? "" : fmt::format("  (worked {} of {} times)", command.worked, tried);
}

// A file's heading, its final content as far as it is known, and what was replaced on the way.
struct FileView {
  std::string head;
  std::string body;
  std::string replaced;
};

FileView ViewOf(const FileDetail& file) {
  const char* const how = file.deleted ? "deleted, "
                          : file.whole ? "final content, whole, "
                                       : "final content, in part, ";
  return {fmt::format("{} ({}{})", file.path, how, Counted(file.versions, "change")),
          file.deleted ? std::string() : std::string(file.content), file.replaced};
}

std::string ToolList(const EpisodeDetail& episode) {
  std::string text;
  for (const auto& [name, count] : episode.tools) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  if (episode.errors > 0) text += fmt::format("; {} failed", episode.errors);
  return text.empty() ? "no tools" : text;
}

const char* DeadEndWords(DeadEndDetail::Kind kind) {
  switch (kind) {
    case DeadEndDetail::Kind::kFailed:
      return "Failed, not fixed";
    case DeadEndDetail::Kind::kRejected:
      return "Not allowed";
    case DeadEndDetail::Kind::kRewound:
      return "Abandoned (the conversation was rewound)";
  }
  return "";
}

// One overload for each kind of detail.
class ItemWriter {
 public:
  explicit ItemWriter(ItemForm form) : form_(form), full_(form != ItemForm::kBrief) {}

  std::string operator()(const EpisodeDetail& episode) const {
    const std::string goal = episode.request.empty() ? "(the prompt is not in this recording)" : episode.request;
    const std::string outcome = episode.outcome.empty() ? "(no answer)" : episode.outcome;
    return fmt::format("Goal: {}\nSteps: {}\nOutcome: {}", HeadAndTail(goal, full_ ? 2000 : 400), ToolList(episode),
                       Excerpt(outcome, full_ ? 1600 : 400));
  }
  std::string operator()(const FixDetail& fix) const {
    const std::size_t bytes = kFixBytes[full_ ? 1 : 0];
    std::string text = fmt::format("Failed: {}\n{}\n", HeadAndTail(fix.failed, bytes), Excerpt(fix.error, bytes));
    const std::string changes = ChangesText(fix, bytes);
    if (!changes.empty()) text += "Change: " + changes;
    const bool again = fix.works == fix.failed;
    text += "Works: ";
    if (again && fix.call.empty()) {
      text += "the same call again";
    } else {
      text += again ? HeadAndTail(fix.call, kFixBytes[0]) : HeadAndTail(fix.works, bytes);
    }
    return std::string(Trim(text));
  }
  std::string operator()(const CommandDetail& command) const {
    const std::string folder = command.folder.empty() ? "" : fmt::format("(in {}) ", HeadAndTail(command.folder, 200));
    const std::string text = folder + HeadAndTail(command.command, full_ ? 1000 : 360) + Times(command);
    const std::string output = full_ ? Excerpt(command.output, 240) : "";
    return output.empty() ? text : text + "\n→ " + output;
  }
  std::string operator()(const FileDetail& file) const {
    const FileView view = ViewOf(file);
    const std::size_t bytes = form_ == ItemForm::kWhole ? kNoLimit : full_ ? 6000 : 500;
    std::string text = view.head;
    if (!view.body.empty()) text += "\n" + Excerpt(view.body, bytes);
    if (!view.replaced.empty() && full_) {
      text += "\n[replaced on the way, no longer in the file:]\n";
      text += Excerpt(view.replaced, form_ == ItemForm::kWhole ? kNoLimit : 800);
    }
    return text;
  }
  std::string operator()(const FactDetail& fact) const {
    return fmt::format("{} {}\n{}", fact.tool, HeadAndTail(fact.question, 240), Said(fact.answer));
  }
  std::string operator()(const TextDetail& said) const {
    return full_ && said.document ? HeadAndTail(said.text, 16'000) : Said(said.text);
  }
  std::string operator()(const DeadEndDetail& end) const {
    const char* const words = DeadEndWords(end.kind);
    if (end.kind == DeadEndDetail::Kind::kRewound) return fmt::format("{}: {}", words, HeadAndTail(end.tried, 240));
    return fmt::format("{}: {}\n{}", words, HeadAndTail(end.tried, full_ ? 600 : 200),
                       Excerpt(end.output, full_ ? 800 : 200));
  }

 private:
  std::string Said(const std::string& text) const { return Excerpt(text, full_ ? 1600 : 500); }

  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  ItemForm form_;
  bool full_;
};

}  // namespace

const char* EvidenceWords(HowKnown evidence) {
  switch (evidence) {
    case HowKnown::kRanAndPassed:
      return "ran and passed";
    case HowKnown::kRanAndFailed:
      return "ran and failed";
    case HowKnown::kRan:
      return "ran, outcome not recorded";
    case HowKnown::kOnlyWritten:
      return "only written";
    case HowKnown::kPassedChecks:
      return "written, and the checks of the task passed on it";
    case HowKnown::kToldByUser:
      return "told by the user";
    case HowKnown::kReadInDocs:
      return "read in docs";
    case HowKnown::kReadInFiles:
      return "read in files";
  }
  return "";
}

const char* DigestKindTitle(DigestKind kind) { return WordsFor(kind).title; }

const char* DigestItemTitle(DigestKind kind) {
  switch (kind) {
    case DigestKind::kEpisode:
      return "Request";
    case DigestKind::kCorrection:
      return "Correction by the user";
    case DigestKind::kFix:
      return "Error and its fix";
    case DigestKind::kCommand:
      return "Command";
    case DigestKind::kFile:
      return "File";
    case DigestKind::kFact:
      return "Looked up";
    case DigestKind::kFinding:
      return "Said by the agent";
    case DigestKind::kDeadEnd:
      return "Didn't work";
  }
  return "";
}

std::string CountedItems(std::size_t count, DigestKind kind) {
  const KindWords words = WordsFor(kind);
  return fmt::format("{} {}", count, count == 1 ? words.one : words.many);
}

std::string ItemText(const DigestItem& item, ItemForm form) { return std::visit(ItemWriter(form), item.detail); }

std::size_t CountStepsToKeep(const std::vector<FixStep>& steps) {
  constexpr std::size_t kDetailBytes = 4000;
  // Shorter forms excerpt steps more, so a shorter form may have room for more of them.
  return std::max({LastSteps(steps, kFixBytes[0]).size(), LastSteps(steps, kFixBytes[1]).size(),
                   LastSteps(steps, kDetailBytes).size()});
}

std::string PlacesText(const std::vector<EventPlace>& places) {
  constexpr std::size_t kMaxPlaces = 6;
  std::string text;
  std::string_view file;  // of the previous place, which isn't repeated
  for (std::size_t i = 0; i < std::min(places.size(), kMaxPlaces); ++i) {
    const EventPlace& place = places[i];
    text += i == 0 ? "" : ", ";
    text += i > 0 && place.source == file ? fmt::format("#{}", place.number) : ToText(place);
    file = place.source;
  }
  if (places.size() > kMaxPlaces) text += fmt::format(" and {} more", places.size() - kMaxPlaces);
  return text;
}

}  // namespace upskill
