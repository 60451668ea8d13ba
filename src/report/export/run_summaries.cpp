// SPDX-License-Identifier: Apache-2.0
#include "report/export/run_summaries.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "report/export/derived_file.h"
#include "report/export/run_rows_json.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A text that is equal as long as a file hasn't been written, replaced or moved to another machine: its device, number,
// size, and the times of its last change. The latter is set by the system alone, so that what is remembered of a file
// can't be made up for it in an archive.
//
// Nothing: there is no such file, or it was written less than two seconds before `now`, so that another write might not
// show.
std::optional<std::string> FileIdentity(const std::filesystem::path& path, std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds kSettled{2};
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec) + kSettled > now) return std::nullopt;
  return fmt::format("{:x}.{:x}.{:x}.{:x}.{:x}.{:x}.{:x}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

constexpr int kSchema = 2;
constexpr std::size_t kFewRuns = 32;  // are judged in no time

// The beginning of a run's line, by which it is found and known to be as it was, without parsing the rest.
std::string LineStart(const std::string& run, const std::string& identity) {
  return fmt::format("{{\"run\":{},\"of\":{},", DumpJson(run), DumpJson(identity));
}

}  // namespace

RunSummaries::RunSummaries(fs::path runs_dir, const Clock& clock) : runs_dir_(std::move(runs_dir)), clock_(&clock) {
  Result<std::string> text = ReadFile(runs_dir_ / kSummariesFile);
  if (!text) return;
  constexpr std::string_view kStart = "{\"run\":\"";
  for (const std::string_view line : SplitLines(*text)) {
    if (!line.starts_with(kStart)) continue;
    const std::size_t end = line.find('"', kStart.size());
    if (end == std::string_view::npos) continue;
    lines_.insert_or_assign(std::string(line.substr(kStart.size(), end - kStart.size())), std::string(line));
  }
}

std::optional<std::string> RunSummaries::IdentityOf(const fs::path& run_folder) const {
  const auto plan = FileIdentity(run_folder / "plan.json", clock_->WallNow());
  const auto samples = FileIdentity(run_folder / "samples.jsonl", clock_->WallNow());
  if (!plan || !samples) return std::nullopt;
  return fmt::format("{} {} {} {}", kSchema, UPSKILL_VERSION, *plan, *samples);
}

std::optional<RunSummaryRows> RunSummaries::Find(const fs::path& run_folder) {
  const std::string run = run_folder.filename().string();
  const auto found = lines_.find(run);
  if (found == lines_.end()) return std::nullopt;
  const std::optional<std::string> identity = IdentityOf(run_folder);
  if (!identity || !found->second.starts_with(LineStart(run, *identity))) return std::nullopt;
  const Result<Json> json = ParseJson(found->second, kSummariesFile);
  if (!json) return std::nullopt;
  Result<std::vector<RunRow>> rows = RowsFromJson(Member(*json, "rows"));
  if (!rows) return std::nullopt;
  return RunSummaryRows{StringAt(*json, "skill"), StringAt(*json, "trial"),
                        JsonGet<std::size_t>(*json, "skipped_lines", 0), std::move(rows).value()};
}

void RunSummaries::Put(const fs::path& run_folder, const RunSummaryRows& summary) {
  const std::string run = run_folder.filename().string();
  const std::optional<std::string> identity = IdentityOf(run_folder);
  if (!identity) return;
  const Json rest = {{"skill", summary.skill},
                     {"trial", summary.trial},
                     {"skipped_lines", summary.skipped_lines},
                     {"rows", RowsToJson(summary.rows)}};
  lines_.insert_or_assign(run, LineStart(run, *identity) + DumpJson(rest).substr(1));
  changed_ = true;
}

Status RunSummaries::Store() const {
  if (!changed_ || lines_.size() < kFewRuns) return {};
  std::string text;
  std::error_code code;
  for (const auto& [run, line] : lines_) {
    if (fs::exists(runs_dir_ / run / "plan.json", code)) text += line + "\n";
  }
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(runs_dir_));
  return WriteDerivedFile(folder, kSummariesFile, text);
}

}  // namespace upskill
