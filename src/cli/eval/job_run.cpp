// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/job_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cluster/task_script.h"
#include "eval/journal/journal.h"
#include "eval/journal/merge.h"
#include "eval/journal/run_data.h"
#include "eval/verdict/summary.h"
#include "measure/share.h"
#include "util/folder.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Spending SpendingOf(const Sample& sample) {
  Spending spent;
  if (!sample.cached_from.empty()) return spent;  // paid for where it comes from
  spent.tokens += sample.response.usage.prompt() + sample.response.usage.output;
  spent.usd += sample.response.cost_usd.value_or(0.0);
  if (sample.error) {
    spent.tokens += sample.error->used_tokens;
    spent.usd += sample.error->used_usd;
  }
  for (const StoredJudgment& judgment : sample.judgments) {
    spent.tokens += judgment.usage.prompt() + judgment.usage.output;
    spent.usd += judgment.cost_usd.value_or(0.0);
  }
  return spent;
}

// The journals below a shard's folder: a text that changes when one of them does.
std::string JournalsIn(const fs::path& shard_folder) {
  std::vector<std::string> journals;
  std::error_code code;
  for (fs::directory_iterator it(shard_folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code missing;
    const fs::path journal = it->path() / "samples.jsonl";
    const std::uintmax_t bytes = fs::file_size(journal, missing);
    const auto time = fs::last_write_time(journal, missing);
    if (!missing)
      journals.push_back(
          fmt::format("{}/{} {}", it->path().filename().string(), bytes, time.time_since_epoch().count()));
  }
  std::sort(journals.begin(), journals.end());
  return fmt::format("{}", fmt::join(journals, "\n"));
}

}  // namespace

bool ShardCompletion::IsComplete(int shard) {
  const fs::path shard_folder = folder_ / ShardFolder(shard);
  std::string journals = JournalsIn(shard_folder);
  Seen& seen = seen_[shard];
  if (seen.complete || seen.journals == journals) return seen.complete;
  const std::vector<fs::path> runs = FindRuns(shard_folder);
  seen.journals = std::move(journals);  // as they were before they are read
  seen.complete = std::any_of(runs.rbegin(), runs.rend(), [](const fs::path& run) {
    const Result<RunData> data = RunData::Read(run);
    return data && Summarize(*data).complete();
  });
  return seen.complete;
}

Status MergeShards(const fs::path& folder, const std::vector<int>& shards, const Clock& clock) {
  std::vector<fs::path> runs;
  for (const int shard : shards) {
    for (fs::path& run : FindRuns(folder / ShardFolder(shard))) runs.push_back(std::move(run));
  }
  if (runs.empty()) return {};
  const Result<MergeOutcome> merged = MergeRuns(runs, folder, clock);
  return merged ? Status() : merged.error();
}

Result<Spending> SpentInRun(const fs::path& run) {
  ASSIGN_OR_RETURN(const JournalContent content, ReadJournal(run));
  Spending spent;
  std::map<std::string, Spending> answered;  // by cell: an answer is stored before it is checked, and once more after
  for (const Sample& sample : content.samples) {
    if (sample.ok() || sample.keeps_answer) {
      answered[CellName(sample)] = SpendingOf(sample);
    } else {
      spent.Add(SpendingOf(sample));
    }
  }
  for (const auto& [cell, spending] : answered) spent.Add(spending);
  return spent;
}

Result<Spending> SpentByShards(const fs::path& folder, int shards) {
  Spending spent;
  for (int shard = 1; shard <= shards; ++shard) {
    for (const fs::path& run : FindRuns(folder / ShardFolder(shard))) {
      ASSIGN_OR_RETURN(const Spending of_run, SpentInRun(run));
      spent.Add(of_run);
    }
  }
  return spent;
}

Status TakeTerms(const fs::path& folder, const fs::path& runs_dir, const RunTerms& terms, bool count_look,
                 bool reuses_answers, JobRecord& record) {
  std::error_code code;
  if (record.counted || !fs::exists(folder / "plan.json", code)) return {};
  ASSIGN_OR_RETURN(Plan plan, LoadPlan(folder));
  plan.terms = terms;
  const bool answered = HasAnswer(folder);  // without an answer there is nothing to look at, and nothing to count
  Result<TakenShare> share = TakenShare::Take(
      runs_dir, {.counts = count_look && answered, .notes = true, .reuses_answers = reuses_answers, .looks_before = 0},
      plan);
  if (!share) return share.error().With("counting earlier looks at the tests (--no-ledger ignores them)");
  ASSIGN_OR_RETURN(const Folder opened, Folder::Open(folder));
  RETURN_IF_ERROR(opened.WriteFile("plan.json", DumpJsonIndented(PlanToJson(plan)) + "\n"));
  RETURN_IF_ERROR(share->NoteStart(plan));
  record.counted = answered;
  return StoreJobRecord(folder, record);
}

}  // namespace upskill
