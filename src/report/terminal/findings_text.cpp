// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/terminal/figures.h"
#include "report/terminal/style.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShownTags = 8;
constexpr std::size_t kTagColumns = 30;

std::string GroupText(const GroupLift& group) {
  if (!group.lift) return "–";
  std::string text = PointsText(*group.lift) + " points";
  if (group.interval) text += fmt::format(" ({})", LikelyText(group.interval->low, group.interval->high));
  return text;
}

std::string TurnedText(const CaseFindings& findings, const Plan& plan) {
  const bool has_baseline = plan.has_arm(Arm::kBaseline);  // otherwise, versions are compared
  const char* const now = has_baseline ? "with the skill" : "with this version";
  const char* const other = has_baseline ? "without it" : "with the other one";
  if (plan.rounds == 1) {
    return fmt::format("{} passed only {}, {} only {} (one answer each)", Counted(findings.fixed.size(), "case"), now,
                       findings.broken.size(), other);
  }
  return fmt::format("{} mostly passed {} and mostly failed {}, {} the other way round",
                     Counted(findings.fixed.size(), "case"), now, other, findings.broken.size());
}

bool BelongsToSkill(const Plan& plan) {
  return !plan.skill.folder.empty() && plan.suite.source.parent_path().lexically_normal() ==
                                           std::filesystem::path(plan.skill.folder).lexically_normal();
}

TerminalText TrainNote(const Plan& plan, const CaseFindings& findings) {
  const std::size_t all = plan.suite.cases.size();
  const char* used = BelongsToSkill(plan) ? "to write this skill" : "to write a skill";
  if (findings.train_cases == all) {
    return TerminalText::Format("all {} were used {}: the lift on other cases may be lower", Counted(all, "case"),
                                used);
  }
  return TerminalText::Format("{} of {} {} used {}; lift on the other {}: {}", findings.train_cases,
                              Counted(all, "case"), findings.train_cases == 1 ? "was" : "were", used,
                              all - findings.train_cases, GroupText(findings.others));
}

std::string CaseMeanText(const CaseMean& mean) {
  std::string text = PercentText(mean.mean);
  if (mean.interval)
    text += fmt::format(" ({:.0f} … {:.0f})", WholePercent(mean.interval->low), WholePercent(mean.interval->high));
  return text;
}

TerminalText TagLine(const TagLift& tag, const char* label = "tag") {
  return TerminalText::Format("  {:<10}  {} · {} · {}\n", label, TerminalText::EscapeLine(tag.tag).Cut(kTagColumns),
                              Counted(tag.group.cases, "case"), GroupText(tag.group));
}

TerminalText PassOfKLines(const CaseFindings& findings) {
  TerminalText out;
  for (const auto& [arm, rows] : findings.pass_of_k) {
    for (const PassOfK& row : rows) {
      if (row.k == 1) continue;  // the pass rate
      out += TerminalText::Format("  {:<10}  {} · at least one of {} passes: {} · all pass: {}\n",
                                  fmt::format("pass@{}", row.k), ArmLabel(arm), row.k, CaseMeanText(row.any),
                                  CaseMeanText(row.all));
    }
  }
  return out;
}

TerminalText NamesLine(const char* label, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return TerminalText::Format("  {:<10}  {}\n", label, TerminalText::Join(names, ", "));
}

// Answers without a word are more likely a fault of the server or of the settings than the model's word.
TerminalText EmptyNote(const StudentSummary& student) {
  ArmSummary all;
  for (const auto& [arm, summary] : student.arms) {
    all.answered += summary.answered;
    all.empty += summary.empty;
    all.truncated += summary.truncated;
  }
  if (all.empty == 0 || 2 * all.empty < all.answered) return "";
  return TerminalText::Format(
      "{} of {} empty{}", all.empty, Counted(all.answered, "answer") + (all.answered == 1 ? " was" : " were"),
      all.truncated > 0 ? ": reasoning may have used up --max-tokens" : ": the server or its settings may be at fault");
}

}  // namespace

std::vector<TerminalText> FindingNotes(const JudgedRun& run, std::size_t student) {
  const CaseFindings& findings = run.findings[student];
  const Verdict word = run.verdicts[student].word;
  std::vector<TerminalText> notes;
  // Files of other programs often have no answers' texts.
  TerminalText empty = run.plan().imported ? TerminalText() : EmptyNote(run.summary.students[student]);
  if (!empty.empty()) notes.push_back(std::move(empty));
  const bool open = word == Verdict::kNoEffect || word == Verdict::kUndecided;
  if (open && run.verdicts[student].lift && findings.fixed.size() + findings.broken.size() > 0)
    notes.push_back(TerminalText::Format("{}", TurnedText(findings, run.plan())));
  if (findings.train_cases > 0) notes.push_back(TrainNote(run.plan(), findings));
  if (findings.drift && findings.drift->is_significant()) {
    notes.push_back(
        TerminalText::Format("pass rates changed over the rounds (p = {:.2g}): the model behind {} may have changed",
                             findings.drift->p, TerminalText::EscapeLine(run.plan().students[student].name)));
  }
  return notes;
}

std::vector<std::string> GroundTexts(const JudgedRun& run, std::size_t student) {
  std::vector<std::string> texts;
  for (const TagLift& ground : run.findings[student].grounds) {
    if (ground.group.cases == 0) continue;
    texts.push_back(
        fmt::format("checks {} · {} · {}", ground.tag, Counted(ground.group.cases, "case"), GroupText(ground.group)));
  }
  return texts;
}

TerminalText TagLines(const JudgedRun& run, std::size_t student) {
  std::vector<TagLift> tags = run.findings[student].tags;
  const std::size_t all = tags.size();
  if (all > kShownTags) {
    std::stable_sort(tags.begin(), tags.end(),
                     [](const TagLift& a, const TagLift& b) { return a.group.cases > b.group.cases; });
    tags.erase(tags.begin() + kShownTags, tags.end());
  }
  TerminalText out;
  for (const TagLift& ground : run.findings[student].grounds) {
    if (ground.group.cases > 0) out += TagLine(ground, "checks");
  }
  for (const TagLift& tag : tags) {
    if (tag.group.cases > 0) out += TagLine(tag);  // without a lift, no case counts
  }
  if (all > kShownTags) out += TerminalText::Format("  {:<10}  {} more (-v shows all)\n", "tags", all - kShownTags);
  return out;
}

TerminalText FindingDetails(const JudgedRun& run) {
  TerminalText out;
  for (std::size_t i = 0; i < run.findings.size(); ++i) {
    const CaseFindings& findings = run.findings[i];
    TerminalText details = NamesLine("better", findings.fixed) + NamesLine("worse", findings.broken);
    for (std::size_t tag = 0; findings.tags.size() > kShownTags && tag < findings.tags.size(); ++tag) {
      if (findings.tags[tag].group.cases > 0) details += TagLine(findings.tags[tag]);
    }
    details += PassOfKLines(findings);
    if (details.empty()) continue;
    out += TerminalText::Format("{}\n{}\n", TerminalText::EscapeLine(run.plan().students[i].name), details);
  }
  return out;
}

}  // namespace upskill
