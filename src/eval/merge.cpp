// SPDX-License-Identifier: Apache-2.0
#include "eval/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "eval/cell.h"
#include "eval/journal.h"
#include "eval/plan.h"
#include "eval/summary.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A plan without what differs between runs of it.
Json ComparedPart(Plan plan) {
  plan.run.clear();
  plan.created.clear();
  plan.shard = {};
  plan.offers_cache = true;
  plan.skill.folder.clear();
  plan.previous.folder.clear();
  plan.suite.source.clear();
  Json json = PlanToJson(plan);
  json.erase("version");
  return json;
}

Status CheckSamePlan(const Json& first, const fs::path& first_folder, const Json& other, const fs::path& other_folder) {
  for (const auto& [key, value] : first.items()) {
    const auto found = other.find(key);
    if (found == other.end() || *found != value) {
      return InputError(fmt::format("{} and {} are not parts of one run: their plans differ in '{}'",
                                    SafeForTerminalLine(first_folder.string()),
                                    SafeForTerminalLine(other_folder.string()), key));
    }
  }
  if (other.size() != first.size()) {
    return InputError(fmt::format("{} and {} are not parts of one run: their plans have different parts",
                                  SafeForTerminalLine(first_folder.string()),
                                  SafeForTerminalLine(other_folder.string())));
  }
  return {};
}

// An answer beats an error; of two answers or two errors the earlier counts, then the smaller line, whatever the order
// of the runs.
bool Beats(const Sample& a, const Sample& b) {
  if (a.ok() != b.ok()) return a.ok();
  if (a.attempt != b.attempt) return a.ok() ? a.attempt < b.attempt : a.attempt > b.attempt;
  if (a.time != b.time) return a.time < b.time;
  return DumpJson(SampleToJson(a)) < DumpJson(SampleToJson(b));
}

}  // namespace

Result<MergeOutcome> MergeRuns(const std::vector<fs::path>& runs, const fs::path& target, const Clock& clock) {
  std::vector<fs::path> sources = runs;
  std::error_code code;
  if (fs::exists(target / "plan.json", code)) sources.push_back(target);
  if (runs.empty()) return InputError("name the run folders to merge");
  MergeOutcome outcome;
  outcome.folder = target;
  Plan plan;
  Json compared;
  std::unordered_map<std::string, Sample> best;
  std::optional<AppendFile> lock;  // of the journal that is replaced: no run may be writing to it
  if (fs::exists(target / "samples.jsonl", code)) {
    ASSIGN_OR_RETURN(lock, AppendFile::Open(target / "samples.jsonl", true));
  }
  for (const fs::path& source : sources) {
    ASSIGN_OR_RETURN(Plan own, LoadPlan(source));
    if (compared.is_null()) {
      plan = own;
      compared = ComparedPart(std::move(own));
    } else {
      plan.created = std::min(plan.created, own.created);
      RETURN_IF_ERROR(CheckSamePlan(compared, sources.front(), ComparedPart(std::move(own)), source));
    }
    ASSIGN_OR_RETURN(JournalContent content, ReadJournal(source));
    for (Sample& sample : content.samples) {
      const std::string name = CellName(sample);
      const auto found = best.find(name);
      if (found == best.end()) {
        best.emplace(name, std::move(sample));
      } else {
        ++outcome.duplicates;
        if (Beats(sample, found->second)) found->second = std::move(sample);
      }
    }
  }
  plan.shard = {};
  plan.run = fs::absolute(target, code).lexically_normal().filename().string();
  if (plan.run.empty()) plan.run = fs::absolute(target, code).lexically_normal().parent_path().filename().string();
  if (plan.created.empty()) plan.created = UtcTimestamp(clock.WallNow());
  std::string journal;
  for (const Cell& cell : CellsOf(plan)) {
    Sample probe;
    probe.student = plan.students[cell.student].spec;
    probe.arm = cell.arm;
    probe.case_id = plan.suite.cases[cell.case_index].id;
    probe.round = cell.round;
    const auto found = best.find(CellName(probe));
    if (found == best.end() || found->second.key != cell.key) {
      ++outcome.missing;
      continue;
    }
    if (!found->second.ok()) ++outcome.missing;
    journal += DumpJson(SampleToJson(found->second)) + "\n";
    ++outcome.samples;
  }
  if (outcome.samples == 0 && !best.empty()) {
    return InputError(
        "the runs hold samples, but none belongs to a cell of their plan: were they written by another version?");
  }
  RETURN_IF_ERROR(MakeFolders(target));
  RETURN_IF_ERROR(WriteFileAtomically(target / "samples.jsonl", journal));
  RETURN_IF_ERROR(WriteFileAtomically(target / "plan.json", DumpJsonIndented(PlanToJson(plan)) + "\n"));
  return outcome;
}

}  // namespace upskill
