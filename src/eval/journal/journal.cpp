// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/journal.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <random>
#include <string_view>
#include <tuple>
#include <utility>

#include "eval/journal/runs_folder.h"
#include "eval/journal/sample_line.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLinesToGuess = 1000;  // read before the total is estimated

constexpr std::size_t kHeadBytes = 4096;  // of a file in which "created" is near the start

// Sort key for the order in which runs started: the second in UTC, then the time at which the file was written.
using RunAge = std::tuple<std::string, fs::file_time_type, std::string>;

bool IsUtcTime(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  return text.size() == kShape.size() && std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           return shape == '0' ? c >= '0' && c <= '9' : c == shape;
         });
}

// The value of "created" in a file of JSON, without parsing all of it; empty if there is none.
std::string CreatedIn(const fs::path& file) {
  std::string head(kHeadBytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  constexpr std::string_view kKey = "\"created\":";
  const std::size_t key = head.find(kKey);
  if (key == std::string::npos) return "";
  const std::size_t quote = head.find_first_not_of(' ', key + kKey.size());
  if (quote == std::string::npos || head[quote] != '"') return "";
  const std::string time = head.substr(quote + 1, UtcTimestamp({}).size());
  return IsUtcTime(time) ? time : "";
}

// The UTC time of a folder's name, which is local time; empty if it has none.
std::string TimeInName(const std::string& name) {
  std::tm time{};
  time.tm_isdst = -1;
  if (::strptime(name.c_str(), "%Y_%m_%d_%H_%M_%S", &time) == nullptr) return "";
  // Not by way of the system's clock, which can't count the nanoseconds to the year 2999.
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::mktime(&time)));
}

RunAge AgeOf(const fs::path& folder, const std::string& file) {
  const std::string name = folder.filename().string();
  std::string start = CreatedIn(folder / file);
  if (start.empty()) start = TimeInName(name);
  std::error_code unknown;
  return {std::move(start), fs::last_write_time(folder / file, unknown), name};
}

Status WritePlan(const fs::path& folder, const Plan& plan) {
  return WriteFileAtomically(folder / "plan.json", DumpJsonIndented(PlanToJson(plan)) + "\n");
}

}  // namespace

Result<Journal> Journal::Create(const fs::path& runs_dir, Plan& plan, const Clock& clock) {
  const Clock::Wall now = clock.WallNow();
  RETURN_IF_ERROR(MakeRunsFolder(runs_dir));
  ASSIGN_OR_RETURN(const fs::path folder, MakeStampedFolder(runs_dir, now));
  plan.run = folder.filename().string();
  plan.created = UtcTimestamp(now);
  const Status written = WritePlan(folder, plan);
  Result<AppendFile> file = written ? AppendFile::Open(folder / "samples.jsonl", false) : written.error();
  if (!file) {
    std::error_code code;
    fs::remove_all(folder, code);  // leave nothing half-written behind
    return file.error();
  }
  return Journal(folder, std::move(file).value(), clock);
}

Status Journal::StorePlan(const Plan& plan) const { return WritePlan(folder_, plan); }

Result<fs::path> MakeStampedFolder(const fs::path& parent, Clock::Wall time) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(parent));
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = fmt::format("{}-{:04x}", FolderTimestamp(time), random() & 0xFFFFU);
    if (::mkdirat(folder.fd().get(), name.c_str(), 0777) == 0) {
      RETURN_IF_ERROR(folder.Sync());
      return parent / name;
    }
    if (errno != EEXIST) return ErrnoError("creating run folder", parent / name, errno);
  }
  return Error{ErrorKind::kIo, fmt::format("creating a run folder in {}: no free name found", parent.string())};
}

Result<Journal> Journal::Reopen(const fs::path& run_folder, const Clock& clock) {
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(run_folder / "samples.jsonl", true));
  return Journal(run_folder, std::move(file), clock);
}

void Journal::Discard() {
  std::error_code code;
  fs::remove_all(folder_, code);
}

Status Journal::Append(const Sample& sample) {
  RETURN_IF_ERROR(file_.Append(DumpJson(SampleToJson(sample)) + "\n"));
  unsynced_ = true;
  return SyncWhenDue();
}

Status Journal::SyncWhenDue() {
  if (!unsynced_ || clock_->Now() - last_sync_ < std::chrono::seconds(1)) return {};
  return Sync();
}

Status Journal::Sync() {
  last_sync_ = clock_->Now();
  unsynced_ = false;
  return file_.Sync();
}

namespace {

// Splits what is read into lines and skips those that are too long, without holding them.
class LineSplitter {
 public:
  LineSplitter(const std::function<void(const JournalLine&)>& visit, std::size_t max_bytes)
      : visit_(visit), max_bytes_(max_bytes) {}

  void Take(std::string_view block) {
    for (std::size_t newline = block.find('\n'); newline != std::string_view::npos; newline = block.find('\n')) {
      Add(block.substr(0, newline));
      taken_ += newline + 1;
      End();
      block.remove_prefix(newline + 1);
    }
    // What follows the last newline stays in `pending_`: a torn line if nothing comes.
    const std::string_view rest = block;
    taken_ += rest.size();
    Add(rest);
    if (!pending_view_.empty()) pending_ = pending_view_;
    pending_view_ = {};
  }
  std::size_t skipped() const { return skipped_; }

 private:
  void Add(std::string_view part) {
    if (too_long_ || part.size() > max_bytes_ - pending_.size()) {
      too_long_ = true;
      pending_ = std::string();
    } else if (pending_.empty()) {
      pending_view_ = part;
    } else {
      pending_ += part;
    }
  }
  void End() {
    if (too_long_) {
      ++skipped_;
    } else {
      const std::string_view line = pending_.empty() ? pending_view_ : std::string_view(pending_);
      visit_({line, taken_ - line.size() - 1});
    }
    too_long_ = false;
    pending_.clear();
    pending_view_ = {};
  }

  const std::function<void(const JournalLine&)>& visit_;
  const std::size_t max_bytes_;
  std::string pending_;            // the front of a line, from earlier blocks
  std::string_view pending_view_;  // the same, if it is all in this block
  std::uint64_t taken_ = 0;        // bytes
  std::size_t skipped_ = 0;
  bool too_long_ = false;
};

}  // namespace

Result<std::size_t> VisitJournalLines(const fs::path& run_folder, const std::function<void(const JournalLine&)>& visit,
                                      std::size_t max_line_bytes) {
  const fs::path path = run_folder / "samples.jsonl";
  const Result<Fd> fd = OpenRegularFile(path);  // a run may come from elsewhere; a pipe or device would never end
  if (!fd && fd.error().kind == ErrorKind::kNotFound) return std::size_t{0};
  if (!fd) return fd.error();
  return VisitJournalLines(*fd, path, visit, max_line_bytes);
}

Result<std::size_t> VisitJournalLines(const Fd& file, const fs::path& path,
                                      const std::function<void(const JournalLine&)>& visit,
                                      std::size_t max_line_bytes) {
  LineSplitter lines(visit, max_line_bytes);
  std::vector<char> block(1U << 20U);
  while (true) {
    const ssize_t got = Uninterrupted([&] { return ::read(file.get(), block.data(), block.size()); });
    if (got < 0) return ErrnoError("reading", path, errno);
    if (got == 0) return lines.skipped();
    lines.Take({block.data(), static_cast<std::size_t>(got)});
  }
}

Result<JournalContent> ReadJournal(const fs::path& run_folder, std::size_t max_line_bytes) {
  JournalContent content;
  std::error_code unknown;
  const std::uintmax_t bytes = fs::file_size(run_folder / "samples.jsonl", unknown);
  std::size_t read = 0;
  const auto take = [&](const JournalLine& line) {
    read += line.text.size() + 1;
    // Reserve by the lines so far: growing step by step would need the memory twice.
    if (!unknown && content.samples.size() == kLinesToGuess)
      content.samples.reserve(bytes / (read / kLinesToGuess) * 21 / 20);
    Result<Sample> sample = SampleFromLine(line.text);
    if (sample) {
      content.samples.push_back(std::move(sample).value());
    } else {
      ++content.skipped_lines;
    }
  };
  ASSIGN_OR_RETURN(const std::size_t too_long, VisitJournalLines(run_folder, take, max_line_bytes));
  content.skipped_lines += too_long;
  return content;
}

bool HasAnswer(const fs::path& run_folder) {
  bool found = false;
  const auto look = [&found](const JournalLine& line) {
    if (found) return;
    const Result<Json> json = ParseJson(line.text, "samples.jsonl");
    found = !json || StringAt(*json, "status") == "ok" || json->contains("answer");
  };
  return !VisitJournalLines(run_folder, look) || found;
}

bool IsBeingWritten(const fs::path& run_folder) {
  const Result<Fd> file = OpenRegularFile(run_folder / "samples.jsonl");
  return file && !TryLock(*file);
}

std::vector<fs::path> StampedFolders(const fs::path& parent, const std::string& file) {
  std::vector<std::pair<RunAge, fs::path>> found;
  std::error_code code;
  for (fs::directory_iterator it(parent, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (fs::is_regular_file(it->path() / file, ignored)) found.emplace_back(AgeOf(it->path(), file), it->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> folders;
  folders.reserve(found.size());
  for (auto& [age, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

std::vector<fs::path> FindRuns(const fs::path& runs_dir) { return StampedFolders(runs_dir, "plan.json"); }

Result<std::optional<fs::path>> PickStampedFolder(const std::vector<fs::path>& folders, const std::string& name) {
  if (name == "latest") return folders.empty() ? std::nullopt : std::optional(folders.back());
  std::vector<fs::path> matches;
  for (const fs::path& path : folders) {
    const std::string folder = path.filename().string();
    if (folder == name) return std::optional(path);
    if (name.size() >= 4 && folder.ends_with("-" + name)) matches.push_back(path);
  }
  if (matches.size() > 1) {
    return InputError(fmt::format("'{}' is ambiguous: it matches {} and {}; give the full name", name,
                                  matches[0].filename().string(), matches[1].filename().string()));
  }
  return matches.empty() ? std::nullopt : std::optional(matches.front());
}

Result<fs::path> ResolveRun(const fs::path& runs_dir, const std::string& name) {
  std::error_code code;
  if (name.find('/') != std::string::npos && fs::is_regular_file(fs::path(name) / "plan.json", code))
    return fs::path(name);
  ASSIGN_OR_RETURN(const std::optional<fs::path> run, PickStampedFolder(FindRuns(runs_dir), name));
  if (run) return *run;
  if (name == "latest")
    return Error{ErrorKind::kNotFound,
                 fmt::format("no runs in the folder '{}'; `upskill eval SKILL` creates one", runs_dir.string())};
  return Error{ErrorKind::kNotFound, fmt::format("no run '{}' in {}; `upskill runs -d {}` lists its runs", name,
                                                 runs_dir.string(), ShellWord(runs_dir.string()))};
}

}  // namespace upskill
