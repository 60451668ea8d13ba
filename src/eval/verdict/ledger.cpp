// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/ledger.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "eval/journal/runs_folder.h"
#include "util/append_file.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kLedgerSchema = 1;
constexpr std::chrono::seconds kLockLimit{30};

std::vector<std::string> StringsAt(const Json& object, const char* key) {
  std::vector<std::string> strings;
  for (const Json& item : Member(object, key)) {
    if (item.is_string()) strings.push_back(item);
  }
  return strings;
}

Json StartToJson(const LedgerRun& run) {
  return {{"schema", kLedgerSchema},
          {"event", "start"},
          {"time", run.time},
          {"run", run.run},
          {"skill", run.skill},
          {"folder", run.folder},
          {"lineage", run.lineage},
          {"sha256", run.sha256},
          {"conditions", run.conditions},
          {"compared_with", run.compared_with},
          {"seed", run.seed},
          {"rounds", run.rounds},
          {"planned_rounds", run.planned_rounds},
          {"alpha", run.alpha},
          {"alpha_used", run.alpha_used},
          {"can_decide", run.can_decide},
          {"combines", run.combines},
          {"share", AlphaShareToJson(run.share)},
          {"students", run.students},
          {"cases", run.inputs},
          {"checked_cases", run.cases}};
}

// Nothing: no run can have these rounds, and a plan that took them over couldn't be read again.
std::optional<LedgerRun> StartFromJson(const Json& json) {
  LedgerRun run;
  run.time = StringAt(json, "time");
  run.run = StringAt(json, "run");
  run.skill = StringAt(json, "skill");
  run.folder = StringAt(json, "folder");
  run.lineage = StringAt(json, "lineage");
  run.sha256 = StringAt(json, "sha256");
  run.conditions = StringAt(json, "conditions");
  run.compared_with = StringAt(json, "compared_with");
  run.seed = JsonGet<std::uint64_t>(json, "seed", 0);
  run.rounds = JsonGet(json, "rounds", 0);
  run.planned_rounds = JsonGet(json, "planned_rounds", run.rounds);
  run.alpha = JsonGet(json, "alpha", 0.0);
  run.alpha_used = JsonGet(json, "alpha_used", 0.0);
  run.can_decide = JsonGet(json, "can_decide", true);
  run.combines = JsonGet(json, "combines", false);
  run.share = AlphaShareFromJson(Member(json, "share"));
  run.students = StringsAt(json, "students");
  run.inputs = StringsAt(json, "cases");
  run.cases = StringsAt(json, "checked_cases");
  std::sort(run.cases.begin(), run.cases.end());
  std::sort(run.inputs.begin(), run.inputs.end());
  run.inputs.erase(std::unique(run.inputs.begin(), run.inputs.end()), run.inputs.end());
  const auto possible = [](int rounds) { return rounds >= 1 && rounds <= kMaxRounds; };
  if (!possible(run.rounds) || !possible(run.planned_rounds)) return std::nullopt;
  return run;
}

Json LookToJson(const JudgedRun& run, const std::string& time) {
  const Plan& plan = run.plan();
  Json students = Json::array();
  for (std::size_t i = 0; i < plan.students.size(); ++i) {
    const StudentVerdict& verdict = run.verdicts[i];
    if (verdict.complete_rounds == 0) continue;  // there was nothing to see
    students.push_back({{"student", plan.students[i].identity},
                        {"verdict", VerdictName(verdict.word)},
                        {"complete_rounds", verdict.complete_rounds},
                        {"e_value", verdict.safe_e_helps},
                        {"e_value_hurts", verdict.safe_e_hurts},
                        {"answers_repeat", verdict.answers_repeat}});
  }
  return {{"schema", kLedgerSchema},
          {"event", "look"},
          {"time", time},
          {"run", plan.run},
          {"students", std::move(students)}};
}

void TakeLook(const Json& json, LedgerRun& run) {
  for (const Json& student : Member(json, "students")) {
    LookResult& result = run.results[StringAt(student, "student")];
    result.word = StringAt(student, "verdict");
    result.complete_rounds = JsonGet(student, "complete_rounds", 0);
    result.e_helps = JsonGet(student, "e_value", 1.0);
    result.e_hurts = JsonGet(student, "e_value_hurts", 1.0);
    result.answers_repeat = JsonGet(student, "answers_repeat", false);
  }
}

}  // namespace

Ledger LedgerFromText(std::string_view text) {
  Ledger ledger;
  std::unordered_map<std::string, std::size_t> places;  // by run
  for (const std::string_view line : SplitLines(text)) {
    if (Trim(line).empty()) continue;
    const Result<Json> json = ParseJson(line, kLedgerFile);
    const bool readable =
        json && json->is_object() && JsonGet(*json, "schema", 0) == kLedgerSchema && !StringAt(*json, "run").empty();
    const std::string event = readable ? StringAt(*json, "event") : std::string();
    const auto known = readable ? places.find(StringAt(*json, "run")) : places.end();
    std::optional<LedgerRun> started = event == "start" ? StartFromJson(*json) : std::nullopt;
    if (started) {
      const auto [place, is_new] = places.emplace(started->run, ledger.runs.size());
      if (is_new) {
        ledger.runs.push_back(*std::move(started));
      } else if (ledger.runs[place->second].results.empty()) {
        ledger.runs[place->second] = *std::move(started);
      }
    } else if (event == "look" && known != places.end()) {
      TakeLook(*json, ledger.runs[known->second]);
    } else {
      ++ledger.skipped_lines;
    }
  }
  return ledger;
}

Result<Ledger> ReadLedger(const fs::path& runs_dir) {
  const Result<std::string> text = ReadFile(runs_dir / kLedgerFile);
  if (!text && text.error().kind == ErrorKind::kNotFound) return Ledger{};
  if (!text) return text.error();
  return LedgerFromText(*text);
}

Result<LedgerLock> LedgerLock::Take(const fs::path& runs_dir) {
  ASSIGN_OR_RETURN(Folder folder, MakeRunsFolder(runs_dir));
  RETURN_IF_ERROR(folder.Lock(kLockLimit));
  return LedgerLock(std::move(folder));
}

Status LedgerLock::Append(const Json& line) const {
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(folder_.path() / kLedgerFile, true));
  RETURN_IF_ERROR(file.Append(DumpJson(line) + "\n"));
  return file.Sync();
}

Status LedgerLock::NoteStart(const Plan& plan) const {
  LedgerRun run = LedgerRunOf(plan);
  run.share.prior.clear();  // the evidence of others is in their own lines
  run.share.prior_runs.clear();
  return Append(StartToJson(run));
}

Status NoteLook(const fs::path& runs_dir, const JudgedRun& run, const Clock& clock) {
  if (run.plan().share.look == 0 || run.plan().run.empty() || run.summary.answered == 0) return {};
  ASSIGN_OR_RETURN(const LedgerLock lock, LedgerLock::Take(runs_dir));
  return lock.Append(LookToJson(run, UtcTimestamp(clock.WallNow())));
}

}  // namespace upskill
