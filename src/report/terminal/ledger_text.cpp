// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/ledger_text.h"

#include <fmt/format.h>

#include <array>

#include "report/terminal/table.h"
#include "stats/multiplicity.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShortVersion = 8;  // hex digits

std::string Ordinal(int number) {
  constexpr std::array<const char*, 10> kWords = {"first", "second",  "third",  "fourth", "fifth",
                                                  "sixth", "seventh", "eighth", "ninth",  "tenth"};
  if (number >= 1 && number <= static_cast<int>(kWords.size())) return kWords[static_cast<std::size_t>(number) - 1];
  return fmt::format("{}th", number);
}

std::string AlphaText(double alpha) { return fmt::format("{:.2g} %", 100.0 * alpha); }

// What a first look at cases may use.
std::string FirstShareText(const Plan& plan) {
  return fmt::format("a first look gets {}", AlphaText(CandidateAlpha(1, plan.verdict.alpha)));
}

// Of a later look at the same cases.
std::string LaterLookText(const AlphaShare& share) {
  if (!share.prior_runs.empty()) {
    return fmt::format(
        "this version was judged on these cases with other seeds, so the verdict rests on the evidence of all seeds "
        "together (with {})",
        share.prior_runs.size() == 1 ? "run " + share.prior_runs.front()
                                     : Counted(share.prior_runs.size(), "earlier run"));
  }
  const std::string what = share.versions > 1
                               ? fmt::format("with the {} version of this skill", Ordinal(share.versions))
                               : "again with this version of the skill";
  return fmt::format("{} look at these cases, {}{}, so more evidence is needed", Ordinal(share.look), what,
                     share.last_run.empty() ? "" : fmt::format(" (the last with a verdict: run {})", share.last_run));
}

}  // namespace

std::string LookNote(const Plan& plan, bool with_hint) {
  const AlphaShare& share = plan.share;
  const bool later = share.look > 1;
  std::string text = later ? LaterLookText(share) : "";
  if (share.comparisons > 1) {
    const bool continued = share.comparisons >= static_cast<int>(plan.arms.size()) && !share.last_run.empty();
    text += fmt::format("{}{}, so each needs more evidence", text.empty() ? "" : "; ",
                        continued ? fmt::format("run {} made {} comparisons", share.last_run, share.comparisons)
                                  : fmt::format("the run makes {} comparisons", share.comparisons));
  }
  if (later && with_hint) text += "; write new cases to start again, or ignore earlier looks with --no-ledger";
  return text;
}

std::string AlphaNote(const Plan& plan) {
  const AlphaShare& share = plan.share;
  if (share.look < 2 && share.comparisons < 2) return "";
  std::string text =
      fmt::format("alpha {} instead of {}", AlphaText(EffectiveAlpha(plan)), AlphaText(plan.verdict.alpha));
  if (share.look > 0) text += "; " + FirstShareText(plan);
  if (share.comparisons > 1)
    text += fmt::format("{}{} comparisons share it", share.look > 0 ? ", and " : "; ", share.comparisons);
  return text;
}

Json AlphaToJson(const Plan& plan) {
  const AlphaShare& share = plan.share;
  return {{"asked", plan.verdict.alpha},
          {"used", EffectiveAlpha(plan)},
          {"look", share.look > 0 ? Json(share.look) : Json(nullptr)},
          {"versions", share.look > 0 ? Json(share.versions) : Json(nullptr)},
          {"comparisons", share.comparisons},
          {"combined_with", share.prior_runs}};
}

TerminalText LedgerTable(const Ledger& ledger, const Style& style) {
  Table table({{"looked at", Table::Align::kLeft},
               {"skill", Table::Align::kLeft, true},
               {"version", Table::Align::kLeft},
               {"student", Table::Align::kLeft, true},
               {"look", Table::Align::kRight},
               {"alpha", Table::Align::kRight},
               {"E", Table::Align::kRight},
               {"verdict", Table::Align::kLeft},
               {"run", Table::Align::kLeft}});
  for (const LedgerRun& run : ledger.runs) {
    for (const std::string& student : run.students) {
      const auto result = run.results.find(student);
      const bool seen = result != run.results.end();
      table.AddRow({run.time, run.skill, run.sha256.substr(0, kShortVersion), student,
                    run.can_decide ? fmt::format("{}", run.share.look) : "–", AlphaText(run.alpha_used),
                    seen ? fmt::format("{:.3g}", result->second.e_helps) : "–", seen ? result->second.word : "–",
                    run.run});
    }
  }
  return table.Render(style);
}

Json LedgerToJson(const Ledger& ledger) {
  Json list = Json::array();
  for (const LedgerRun& run : ledger.runs) {
    Json students = Json::array();
    for (const std::string& student : run.students) {
      const auto result = run.results.find(student);
      Json entry = {{"identity", student},
                    {"verdict", nullptr},
                    {"complete_rounds", 0},
                    {"e_value", nullptr},
                    {"e_value_hurts", nullptr}};
      if (result != run.results.end()) {
        entry["verdict"] = result->second.word;
        entry["complete_rounds"] = result->second.complete_rounds;
        entry["e_value"] = result->second.e_helps;
        entry["e_value_hurts"] = result->second.e_hurts;
      }
      students.push_back(std::move(entry));
    }
    list.push_back({{"time", run.time},
                    {"run", run.run},
                    {"skill", run.skill},
                    {"lineage", run.lineage.empty() ? Json(nullptr) : Json(run.lineage)},
                    {"version", run.sha256},
                    {"compared_with", run.compared_with},
                    {"distinct_inputs", run.inputs.size()},
                    {"rounds", run.rounds},
                    {"seed", run.seed},
                    {"look", run.share.look},
                    {"spends", run.can_decide},
                    {"alpha", run.alpha},
                    {"alpha_used", run.alpha_used},
                    {"students", std::move(students)}});
  }
  return list;
}

}  // namespace upskill
