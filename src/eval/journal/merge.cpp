// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "eval/journal/journal.h"
#include "eval/plan/cell.h"
#include "eval/plan/plan.h"
#include "util/append_file.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A plan without the fields that differ between its runs.
Json ComparedPart(Plan plan) {
  plan.run.clear();
  plan.created.clear();
  plan.shard = {};
  plan.terms = {};
  if (plan.judge) plan.judge->checked.reset();
  plan.share = {};
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
                                    first_folder.string(), other_folder.string(), key));
    }
  }
  if (other.size() != first.size()) {
    return InputError(fmt::format("{} and {} are not parts of one run: their plans have different fields",
                                  first_folder.string(), other_folder.string()));
  }
  return {};
}

// An answer beats an error, and an error that ended a cell beats one that was to be retried. Of two answers the earlier
// attempt counts, of two errors the later one; ties go to the earlier time, then the smaller line. So the order of the
// runs makes no difference.
bool Beats(const Sample& a, const Sample& b) {
  if (a.ok() != b.ok()) return a.ok();
  if (!a.ok() && a.will_retry != b.will_retry) return b.will_retry;
  if (a.attempt != b.attempt) return a.ok() ? a.attempt < b.attempt : a.attempt > b.attempt;
  if (a.time != b.time) return a.time < b.time;
  return DumpJson(SampleToJson(a)) < DumpJson(SampleToJson(b));
}

// Collects the samples of the runs: the best of each cell, and all failed attempts, which verdicts take into account.
class Merger {
 public:
  // Errors: the run can't be read, or its plan differs from that of the earlier runs.
  Status Take(const fs::path& run) {
    ASSIGN_OR_RETURN(Plan plan, LoadPlan(run));
    RETURN_IF_ERROR(RefuseImported(plan, "merge"));
    if (first_.empty()) {
      first_ = run;
      plan_ = plan;
      compared_ = ComparedPart(std::move(plan));
    } else {
      plan_.created = std::min(plan_.created, plan.created);
      RETURN_IF_ERROR(CheckSamePlan(compared_, first_, ComparedPart(std::move(plan)), run));
    }
    ASSIGN_OR_RETURN(JournalContent content, ReadJournal(run));
    ++runs_;
    for (Sample& sample : content.samples) Keep(std::move(sample));
    return {};
  }

  Result<MergeOutcome> Write(const fs::path& target, const Clock& clock) {
    NamePlan(target, clock);
    MergeOutcome outcome;
    outcome.folder = target;
    const std::string journal = JournalOf(outcome);
    if (outcome.samples == 0 && !best_.empty()) {
      return InputError(
          "the runs contain samples, but none belongs to a cell of their plan; they may be from another upskill "
          "version");
    }
    RETURN_IF_ERROR(WriteFileAtomically(target / "samples.jsonl", journal));
    RETURN_IF_ERROR(WriteFileAtomically(target / "plan.json", DumpJsonIndented(PlanToJson(plan_)) + "\n"));
    return outcome;
  }

 private:
  // The best sample of a cell so far. A run may have several, since failed attempts are journaled as well.
  struct Kept {
    Sample sample;
    std::vector<Sample> errors;  // all
    std::size_t first_run = 0;   // the number of the first run with a sample of the cell
    bool in_several_runs = false;
  };

  void Keep(Sample sample) {
    std::string name = CellName(sample);
    const auto found = best_.find(name);
    if (found == best_.end()) {
      Kept kept;
      kept.sample = std::move(sample);
      kept.first_run = runs_;
      if (!kept.sample.ok()) kept.errors.push_back(kept.sample);
      best_.emplace(std::move(name), std::move(kept));
      return;
    }
    Kept& kept = found->second;
    if (!sample.ok()) kept.errors.push_back(sample);
    kept.in_several_runs = kept.in_several_runs || kept.first_run != runs_;
    if (Beats(sample, kept.sample)) kept.sample = std::move(sample);
  }

  void NamePlan(const fs::path& target, const Clock& clock) {
    std::error_code code;
    const fs::path folder = fs::absolute(target, code).lexically_normal();
    plan_.shard = {};
    plan_.run = folder.filename().string();
    if (plan_.run.empty()) plan_.run = folder.parent_path().filename().string();
    if (plan_.created.empty()) plan_.created = UtcTimestamp(clock.WallNow());
  }

  // The lines of a cell: failed attempts, then its best sample.
  static std::string LinesOf(const Kept& kept) {
    const std::string best = DumpJson(SampleToJson(kept.sample)) + "\n";
    std::set<std::pair<int, std::string>> errors;  // by attempt
    for (const Sample& error : kept.errors) {
      if (error.key == kept.sample.key) errors.emplace(error.attempt, DumpJson(SampleToJson(error)) + "\n");
    }
    std::string lines;
    for (const auto& [attempt, line] : errors) {
      if (line != best) lines += line;
    }
    return lines + best;
  }

  // The lines of the merged journal, counted in `outcome`.
  std::string JournalOf(MergeOutcome& outcome) const {
    std::string journal;
    for (const Cell& cell : CellsOf(plan_)) {
      Sample probe;
      probe.student = plan_.students[cell.student].spec;
      probe.arm = cell.arm;
      probe.case_id = plan_.suite.cases[cell.case_index].id;
      probe.round = cell.round;
      const auto found = best_.find(CellName(probe));
      if (found == best_.end() || found->second.sample.key != cell.key) {
        ++outcome.missing;
        continue;
      }
      const Sample& sample = found->second.sample;
      if (!sample.ok()) ++outcome.missing;
      if (found->second.in_several_runs) ++outcome.duplicates;
      journal += LinesOf(found->second);
      ++outcome.samples;
    }
    return journal;
  }

  fs::path first_;  // the first run; the others must have the same plan
  Plan plan_;
  Json compared_;
  std::unordered_map<std::string, Kept> best_;  // by CellName
  std::size_t runs_ = 0;                        // taken so far
};

// The folder to write, which no other merge writes to meanwhile. One that it had to make is removed again if it stays
// empty. Move-only.
class MergeTarget {
 public:
  static Result<MergeTarget> Take(const fs::path& path) {
    constexpr std::chrono::minutes kLimit{1};
    std::error_code code;
    const bool is_new = !fs::exists(path, code);
    ASSIGN_OR_RETURN(Folder folder, Folder::Make(path));
    MergeTarget target(std::move(folder), is_new);
    RETURN_IF_ERROR(target.folder_.Lock(kLimit));
    return target;
  }
  ~MergeTarget() {
    if (is_new_) ::rmdir(folder_.path().c_str());
  }
  MergeTarget(MergeTarget&& other) noexcept
      : folder_(std::move(other.folder_)), is_new_(std::exchange(other.is_new_, false)) {}
  MergeTarget& operator=(MergeTarget&&) = delete;
  MergeTarget(const MergeTarget&) = delete;
  MergeTarget& operator=(const MergeTarget&) = delete;

 private:
  MergeTarget(Folder folder, bool is_new) : folder_(std::move(folder)), is_new_(is_new) {}

  Folder folder_;
  bool is_new_;
};

}  // namespace

Result<MergeOutcome> MergeRuns(const std::vector<fs::path>& runs, const fs::path& target, const Clock& clock) {
  if (runs.empty()) return InputError("name the run folders to merge");
  ASSIGN_OR_RETURN(const MergeTarget held, MergeTarget::Take(target));
  std::vector<fs::path> sources = runs;
  std::error_code code;
  // First, so that the terms and the share of alpha that the merged run has are kept.
  if (fs::exists(target / "plan.json", code)) sources.insert(sources.begin(), target);
  std::optional<AppendFile> lock;  // on the journal to be replaced, so that no run is writing to it
  if (fs::exists(target / "samples.jsonl", code)) {
    ASSIGN_OR_RETURN(lock, AppendFile::Open(target / "samples.jsonl", true));
  }
  Merger merger;
  for (const fs::path& source : sources) RETURN_IF_ERROR(merger.Take(source));
  return merger.Write(target, clock);
}

}  // namespace upskill
