// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/html/html_data.h"
#include "report/html/html_samples.h"
#include "report/html/html_template.h"
#include "report/html/page_policy.h"
#include "report/terminal/activation_text.h"
#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/findings_text.h"
#include "report/terminal/result_sentence.h"
#include "report/terminal/verdict_text.h"
#include "report/terminal/verdict_words.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr int kDataVersion = 1;

// What the samples of all runs may add to a page, so that it opens in a moment.
constexpr std::size_t kMostSampleBytes = std::size_t{4} << 20U;

// Of all samples, for a page that doesn't have them: [passed, answered, errors] by case, student and arm.
Json TalliesToJson(const JudgedRun& run) {
  const Plan& plan = run.plan();
  Json tallies = Json::array();
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    for (std::size_t student = 0; student < plan.students.size(); ++student) {
      for (const Arm arm : plan.arms) {
        const CaseTally& tally = run.summary.students[student].cases.at(arm)[i];
        tallies.push_back(
            Json::array({tally.passed, tally.answered, run.data.samples(student, arm, i).size() - tally.answered}));
      }
    }
  }
  return tallies;
}

Json VerdictToJson(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  const std::optional<Verdict> word = WordOf(run, student);
  const std::string new_cases = NewCasesText(verdict);
  const StudentSummary& summary = run.summary.students[student];
  return {{"word", word ? Json(VerdictName(*word)) : Json(nullptr)},
          {"claim", word ? Json(ClaimText(verdict)) : Json(nullptr)},
          {"remarks", VerdictRemarks(run, student)},
          {"lift", JsonOrNull(ShownLift(summary, verdict, ComparedArm(run.plan())))},
          {"low", JsonOrNull(verdict.low)},
          {"high", JsonOrNull(verdict.high)},
          {"new_cases", new_cases},
          {"new_low", JsonOrNull(verdict.new_cases_low)},
          {"new_high", JsonOrNull(verdict.new_cases_high)}};
}

// The skill against the plan's other arms, so that "any text helps" or "the old version did as well" is visible.
Json OthersToJson(const JudgedRun& run, std::size_t student) {
  Json others = Json::object();
  for (const auto& [arm, verdicts] : run.others) {
    const StudentVerdict& verdict = verdicts[student];
    if (!verdict.lift) continue;
    others[ArmName(arm)] = {{"word", VerdictName(verdict.word)},
                            {"lift", *ShownLift(run.summary.students[student], verdict, arm)},
                            {"low", JsonOrNull(verdict.low)},
                            {"high", JsonOrNull(verdict.high)}};
  }
  return others;
}

Json TagsToJson(const CaseFindings& findings) {
  Json tags = Json::array();
  std::vector<TagLift> groups;
  groups.reserve(findings.grounds.size() + findings.tags.size());
  for (const TagLift& ground : findings.grounds) groups.push_back({ground.tag + " checks", ground.group});
  for (const TagLift& tag : findings.tags) groups.push_back({"tag " + tag.tag, tag.group});
  for (const auto& [label, group] : groups) {
    tags.push_back({{"label", label},
                    {"cases", group.cases},
                    {"lift", JsonOrNull(group.lift)},
                    {"low", group.interval ? Json(group.interval->low) : Json(nullptr)},
                    {"high", group.interval ? Json(group.interval->high) : Json(nullptr)}});
  }
  return tags;
}

// Names and texts of a student's card.
Json CardFacts(const StudentRow& row) {
  Json facts = Json::array();
  for (const StudentColumn* column : StudentColumns(&StudentColumn::card)) {
    const std::string text = column->text(row);
    if (!text.empty() && text != "–") facts.push_back({column->card, text});
  }
  return facts;
}

// What answers lack and which requests failed, of all arms: "truncated", "baseline 2, with skill 1".
Json NoteCounts(const StudentSummary& student) {
  std::vector<std::pair<std::string, std::string>> counts;
  for (const auto& [arm, summary] : student.arms) {
    for (const ArmNote& note : NotesOn(summary)) {
      auto entry = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == note.name; });
      if (entry == counts.end()) entry = counts.insert(counts.end(), {note.name, ""});
      entry->second += fmt::format("{}{} {}", entry->second.empty() ? "" : ", ", ArmLabel(arm), note.card);
    }
  }
  Json json = Json::array();
  for (const auto& [name, text] : counts) json.push_back({name, text});
  return json;
}

// The student's cells in the table of all runs.
Json PageCells(const StudentRow& row) {
  Json cells = Json::array();
  for (const StudentColumn* column : StudentColumns(&StudentColumn::page)) cells.push_back(column->text(row));
  return cells;
}

// The names that the script shows: of arms, verdicts and columns.
Json PageWords() {
  Json arms = Json::object();
  for (const Arm arm : {Arm::kBaseline, Arm::kSkill, Arm::kPlacebo, Arm::kPrevious})
    arms[ArmName(arm)] = arm == Arm::kBaseline ? "without skill" : ArmLabel(arm);
  Json columns = Json::array();
  for (const StudentColumn* column : StudentColumns(&StudentColumn::page)) columns.push_back(column->page);
  return {{"arms", std::move(arms)}, {"verdicts", VerdictWordsToJson()}, {"columns", std::move(columns)}};
}

Json StudentPageJson(const JudgedRun& run, std::size_t index) {
  const StudentSummary& student = run.summary.students[index];
  Json arms = Json::object();
  for (const auto& [arm, summary] : student.arms) arms[ArmName(arm)] = ArmToJson(&summary, &ArmColumn::page);
  const StudentRow row{student, run.verdicts[index], ReferenceArm(run.plan()).value_or(Arm::kBaseline)};
  Json notes = Json::array();
  for (const auto& [label, text] : ActivationLines(run.plan(), student))
    notes.push_back(fmt::format("{}: {}", label, text));
  for (const TerminalText& note : FindingNotes(run, index)) notes.push_back(note.text());
  return {
      {"name", student.student.name},       {"spec", student.student.spec}, {"verdict", VerdictToJson(run, index)},
      {"others", OthersToJson(run, index)}, {"arms", std::move(arms)},      {"facts", CardFacts(row)},
      {"counts", NoteCounts(student)},      {"cells", PageCells(row)},      {"tags", TagsToJson(run.findings[index])},
      {"notes", std::move(notes)}};
}

constexpr std::size_t kMostOfAFile = std::size_t{64} * 1024;
constexpr std::size_t kMostOfAllFiles = std::size_t{512} << 10U;

// At most `most` bytes, and whole characters.
std::string_view Beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
  return text.substr(0, most);
}

// What the skill says that it does; empty where it isn't known.
std::string Description(const Plan& plan) {
  if (!plan.skill.description.empty() || !plan.workspace) return plan.skill.description;
  return plan.workspace->skill.description;
}

// What the skill takes or saves, with each model.
Json ExpensesToJson(const JudgedRun& run) {
  Json expenses = Json::array();
  for (std::size_t i = 0; i < run.verdicts.size(); ++i) {
    if (std::string text = PerThousandText(run.verdicts[i]); !text.empty())
      expenses.push_back({run.plan().students[i].name, std::move(text)});
  }
  return expenses;
}

Json RunToJson(const JudgedRun& run, TextTable& texts) {
  const Plan& plan = run.plan();
  Json arms = Json::array();
  for (const Arm arm : plan.arms) arms.push_back(ArmName(arm));
  Json cases = Json::array();
  std::size_t left = kMostOfAllFiles;
  for (const Case& test_case : plan.suite.cases) {
    Json files = Json::array();
    for (const auto& [name, content] : test_case.files) {
      const std::string_view shown = Beginning(content, std::min(kMostOfAFile, left));
      left -= shown.size();
      files.push_back({{"name", name}, {"text", texts.Add(shown)}, {"bytes", content.size()}, {"shown", shown.size()}});
    }
    cases.push_back({{"id", test_case.id}, {"input", texts.Add(test_case.input)}, {"files", std::move(files)}});
  }
  Json students = Json::array();
  for (std::size_t i = 0; i < plan.students.size(); ++i) students.push_back(StudentPageJson(run, i));
  const std::optional<Arm> reference = ReferenceArm(plan);
  return {{"run", plan.run},
          {"reference", reference ? Json(ArmName(*reference)) : Json(nullptr)},
          {"created", plan.created},
          {"remarks", RemarksOn(plan)},
          {"result", ResultSentences(run)},
          {"skill", plan.skill.name},
          {"description", Description(plan)},
          {"expenses", ExpensesToJson(run)},
          {"skill_tokens", EstimateTokens(plan.skill.body)},
          {"rounds", plan.rounds},
          {"rounds_text", RoundsText(run)},
          {"cells", run.summary.cells},
          {"answered", run.summary.answered},
          {"arms", std::move(arms)},
          {"cases", std::move(cases)},
          {"students", std::move(students)}};
}

// JSON inside a <script> element: no `<`, which is only ever part of a string there.
std::string ScriptJson(const Json& json) {
  std::string out;
  for (const char c : DumpJson(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

void AppendBlock(std::string& out, const std::string& id, std::string_view json) {
  out += fmt::format("<script type=\"application/json\" id=\"{}\">", id);
  out += json;
  out += "</script>\n";
}

// "4,000 of 100,000 answers are on this page; upskill report RUN -o answers.csv writes all".
std::string LeftOutText(const JudgedRun& run, std::size_t shown) {
  return fmt::format("{} of {} answers are on this page; `upskill report {} -o answers.csv` writes all of them",
                     WithThousands(static_cast<long long>(shown)),
                     WithThousands(static_cast<long long>(run.data.sample_count())), run.plan().run);
}

std::string DataBlocks(std::span<const JudgedRun> runs) {
  TextTable texts;
  CheckSets checks(texts);
  Json entries = Json::array();
  std::string out;
  for (const JudgedRun& run : runs) entries.push_back(RunToJson(run, texts));
  std::size_t room = kMostSampleBytes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PageSamples samples = SamplesOfPage(runs[i], texts, checks, room / (runs.size() - i));
    room -= std::min(room, samples.bytes);
    AppendBlock(out, fmt::format("samples-{}", i), samples.json);
    if (samples.shown == runs[i].data.sample_count()) continue;
    entries[i]["tallies"] = TalliesToJson(runs[i]);
    entries[i]["remarks"].push_back(LeftOutText(runs[i], samples.shown));
  }
  texts.Finish();
  AppendBlock(out, "checks", checks.json());
  AppendBlock(out, "data",
              ScriptJson({{"version", kDataVersion},
                          {"words", PageWords()},
                          {"texts", texts.size()},
                          {"chunks", texts.first_of_chunk()},
                          {"runs", std::move(entries)}}));
  for (std::size_t i = 0; i < texts.chunks().size(); ++i)
    AppendBlock(out, fmt::format("text-{}", i), texts.chunks()[i]);
  return out;
}

}  // namespace

std::string HtmlReport(std::span<const JudgedRun> runs) {
  CHECK(!runs.empty());
  const std::string data = DataBlocks(runs);
  const std::string policy = PagePolicy(HtmlStyle(), HtmlScript());
  const std::map<std::string_view, std::string_view> parts = {
      {"policy", policy}, {"style", HtmlStyle()}, {"data", data}, {"script", HtmlScript()}};
  const std::string_view page = HtmlPage();
  std::string out;
  out.reserve(data.size() + (128U << 10U));
  std::size_t from = 0;
  for (std::size_t mark = page.find("{{"); mark != std::string_view::npos; mark = page.find("{{", from)) {
    const std::size_t end = page.find("}}", mark);
    CHECK(end != std::string_view::npos);
    out += page.substr(from, mark - from);
    out += parts.at(page.substr(mark + 2, end - mark - 2));
    from = end + 2;
  }
  out += page.substr(from);
  return out;
}

}  // namespace upskill
