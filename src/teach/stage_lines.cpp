// SPDX-License-Identifier: Apache-2.0
#include "teach/stage_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "teach/one_line.h"
#include "teach/write_cases.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string EvidenceText(const Draft& draft, const std::vector<std::string>& unsupported, const Material& material) {
  if (material.items.empty() && unsupported.empty()) return "no material to check them against";
  if (draft.uncited == 0 && draft.contradicted.empty() && unsupported.empty()) return "all citing a source";
  std::string left_out;
  if (draft.uncited > 0) left_out = fmt::format("{} without a source", Counted(draft.uncited, "rule"));
  if (!draft.contradicted.empty()) {
    left_out += fmt::format("{}{} that the material contradicts", left_out.empty() ? "" : " and ",
                            Counted(draft.contradicted.size(), "rule"));
  }
  if (!unsupported.empty()) {
    constexpr std::size_t kShownColumns = 60;
    left_out +=
        fmt::format("{}{} without content or support in the material: \"{}\"", left_out.empty() ? "" : " and ",
                    Counted(unsupported.size(), "rule"), CutToColumns(OneLine(unsupported.front()), kShownColumns));
  }
  return "left out " + left_out;
}

}  // namespace

std::string TokensText(std::size_t tokens, const BodyTarget& target) {
  return (target.estimated ? "about " : "") + Counted(tokens, "token");
}

std::string DraftLine(const Candidate& candidate, const Draft& draft, const std::vector<std::string>& unsupported,
                      const Material& material, const BodyTarget& target) {
  std::size_t rules = 0;
  for (const Section& section : draft.sections) rules += section.rules.size();
  return fmt::format("{} · {} · {}, {}", candidate.skill.name, TokensText(candidate.tokens, target),
                     Counted(rules, "rule"), EvidenceText(draft, unsupported, material));
}

std::string CasesLine(const std::vector<Case>& sound, const std::vector<std::string>& rejected) {
  const std::string example = rejected.empty() ? "" : fmt::format(" (for example {})", rejected.front());
  const CaseShares shares = SharesOf(sound);
  const std::string kinds = shares.work + shares.transfers == 0
                                ? ""
                                : fmt::format(" ({} {} for work, {} {} to new cases, {} {} the answer)", shares.work,
                                              shares.work == 1 ? "asks" : "ask", shares.transfers,
                                              shares.transfers == 1 ? "transfers" : "transfer", shares.executed,
                                              shares.executed == 1 ? "runs" : "run");
  return fmt::format("{} sound{}, {} rejected{}", sound.size(), kinds, rejected.size(), example);
}

std::string SplitLine(std::size_t train, std::size_t held_out) {
  if (train == 0) return "only one test: it is held out, so nothing is refined";
  return fmt::format("{}, {} held out", Counted(train, "train test"), held_out);
}

std::string TrainLine(const Candidate& candidate, const std::vector<std::string>& students,
                      const std::vector<double>& without, bool best, const BodyTarget& target) {
  std::string rates;
  for (std::size_t i = 0; i < candidate.train.size(); ++i) {
    rates += fmt::format("{}{} {:.0f} → {:.0f} %", i == 0 ? "" : ", ", students.at(i), WholePercent(without.at(i)),
                         WholePercent(candidate.train[i]));
  }
  const std::string standing = candidate.lost > 0 ? fmt::format("  loses {}", Counted(candidate.lost, "answer"))
                               : best             ? "  best so far"
                                                  : "";
  return fmt::format("candidate {} ({}, {})  {}{}", candidate.id, candidate.kind, TokensText(candidate.tokens, target),
                     rates, standing);
}

std::string ScreenedOutStatus(const Candidate& candidate, const Screening& screening) {
  if (candidate.kind == "shorter") {
    if (screening.best_passed == 1) return "screened out: the only passing answer no longer passes";
    return fmt::format("screened out: only {} of the {} passing answers still {}", screening.passed,
                       screening.best_passed, screening.passed == 1 ? "passes" : "pass");
  }
  const auto in_rounds = [&](int rounds) {
    return screening.rounds == screening.best_rounds ? "" : " in " + Counted(static_cast<std::size_t>(rounds), "round");
  };
  return fmt::format("screened out: {} to the failing tests {}{}, {}{} before the change",
                     Counted(screening.passed, "answer"), screening.passed == 1 ? "passes" : "pass",
                     in_rounds(screening.rounds), screening.best_passed, in_rounds(screening.best_rounds));
}

std::string ScreenedOutLine(const Candidate& candidate) {
  return fmt::format("candidate {} ({}) {}", candidate.id, candidate.kind == "shorter" ? candidate.why : candidate.kind,
                     candidate.status);
}

std::string ProbeLine(const std::string& student, double rate, std::size_t answers) {
  const auto passed = static_cast<std::size_t>(std::llround(rate * static_cast<double>(answers)));
  return fmt::format("{}: {} of {} {} with the reference answers in place of the skill{}", student, passed,
                     Counted(answers, "answer"), answers == 1 ? "passes" : "pass",
                     passed == 0 ? ": too small for this skill" : "");
}

std::string NothingToLearnLine(std::size_t answers) {
  return fmt::format("all {} pass without a skill: nothing to learn", Counted(answers, "answer"));
}

std::string PassedNothingLine(const std::string& student, std::size_t answers) {
  return fmt::format("{}: none of {} passes, with or without the skill: not measured on the held-out tests", student,
                     Counted(answers, "answer"));
}

std::string AttemptLine(int attempt, int attempts, const std::string& teacher, std::size_t failing) {
  return fmt::format("attempt {} of {}: {} is shown {}", attempt, attempts, teacher, Counted(failing, "failing test"));
}

std::string VerdictLine(const Candidate& candidate, std::size_t held_out) {
  return fmt::format("candidate {} ({}), measured once on the {}", candidate.id, candidate.kind,
                     held_out == 1 ? "held-out test" : Counted(held_out, "held-out test"));
}

std::string ProvenanceLine(const Rule& rule, const Material& material) {
  std::set<std::string> places;
  for (const std::string& cite : rule.cites) {
    const auto item = std::find_if(material.items.begin(), material.items.end(),
                                   [&](const MaterialItem& other) { return other.id == cite; });
    if (item == material.items.end()) {
      places.insert(cite);
    } else {
      places.insert(item->places.begin(), item->places.end());
    }
  }
  std::string text = CutToColumns(OneLine(rule.text), 80) + ":";
  for (const std::string& place : places) text += " " + place;
  return text;
}

}  // namespace upskill
