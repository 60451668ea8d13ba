// SPDX-License-Identifier: Apache-2.0
#include "cluster/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cluster/task_script.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kMaxSubmissionsOfShard = 3;
constexpr int kUsageExit = 2;  // the command itself is wrong: it would be again
constexpr milliseconds kShortestPoll{1000};
constexpr milliseconds kLongestPoll{10'000};
constexpr std::chrono::minutes kPatience{10};
constexpr int kMaxTriesOfSubmit = 5;
constexpr std::chrono::seconds kUnlistedLimit{30};  // an engine may list a task only some time after it took it
constexpr std::chrono::seconds kSecondSignal{5};
constexpr std::chrono::seconds kAtOnce{60};  // a task that ends so soon without its answers may do so again
constexpr std::chrono::seconds kFirstPause{30};

// "upskill-2026-11-24-23-10-11-ab12-3": a name for Slurm, Kubernetes and Hugging Face alike.
std::string NameOfArray(const fs::path& folder, std::size_t number) {
  std::string name;
  for (const char c : ToLowerAscii(folder.filename().string())) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    name += fits ? c : '-';
  }
  constexpr std::size_t kLongest = 40;
  if (name.size() > kLongest) name.erase(0, name.size() - kLongest);
  return fmt::format("upskill-{}-{}", name, number);
}

// The exit code that the last task of a shard left; nothing if it was killed.
std::optional<int> ExitOfShard(const fs::path& folder, int shard) {
  const Result<std::string> text = ReadFile(folder / ShardFolder(shard) / "exit", 16);
  if (!text) return std::nullopt;
  const auto code = ParseWholeNumber(Trim(*text), 0, 255);
  return code ? std::optional(static_cast<int>(*code)) : std::nullopt;
}

std::string LastLine(const fs::path& file) {
  const Result<std::string> text = ReadFile(file, std::uint64_t{16} << 20U);
  if (!text) return "";
  const std::vector<std::string_view> lines = SplitLines(*text);
  const auto last =
      std::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) { return !Trim(line).empty(); });
  return last == lines.rend() ? "" : ExcerptLine(Trim(*last), 300);
}

// The last line of what the script of a shard printed, which does so only if it fails itself; else of what the command
// printed.
std::string LastWords(const fs::path& folder, const std::string& array, int shard) {
  const std::string of_script = LastLine(folder / TaskOutputFile(array, std::to_string(shard)));
  return of_script.empty() ? LastLine(folder / ShardFolder(shard) / "log") : of_script;
}

// The folder of a run may come from elsewhere, and tasks write into the folders of shards.
Status CheckHasNoLinks(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> paths = {folder};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) paths.push_back(entry.path());
  for (const fs::path& path : paths) {
    if (fs::is_symlink(fs::symlink_status(path, code)))
      return InputError(
          fmt::format("{} is a link, through which jobs would write elsewhere; remove it", path.string()));
  }
  return {};
}

class Follower {
 public:
  Follower(JobEngine& engine, const fs::path& folder, JobRecord& record, const FollowedRun& run, const Clock& clock,
           const StopFlag* stop)
      : engine_(engine), folder_(folder), record_(record), run_(run), clock_(clock), stop_(stop) {}

  Result<FollowOutcome> Run() {
    const Status followed = FollowToTheEnd();
    const bool stopped = !followed && followed.error().kind == ErrorKind::kCancelled && Stopped();
    const Status merged = MergeUnmerged();
    if (!followed && !stopped) return followed.error();
    if (!merged) return merged.error();
    if (stopped) return Stop();
    for (const auto& [shard, problem] : given_up_) outcome_.unfinished.push_back(shard);
    return outcome_;
  }

 private:
  int stop_level() const { return stop_ == nullptr ? 0 : stop_->load(); }
  bool Stopped() const { return stop_level() > 0; }

  // Error (kCancelled): the user stopped it.
  Status FollowToTheEnd() {
    RETURN_IF_ERROR(TakeUp());
    while (true) {
      RETURN_IF_ERROR(SubmitMissing());
      Show();
      if (active_.empty() && not_before_.empty()) return {};
      RETURN_IF_ERROR(WaitUnlessStopped(poll_));
      RETURN_IF_ERROR(PollAll());
    }
  }

  // What an earlier call has left: shards that are done, and arrays that may still run.
  Status TakeUp() {
    std::vector<int> present;
    for (int shard = 1; shard <= record_.shards; ++shard) {
      std::error_code code;
      if (!fs::exists(fs::symlink_status(folder_ / ShardFolder(shard), code))) continue;
      RETURN_IF_ERROR(CheckHasNoLinks(folder_ / ShardFolder(shard)));
      present.push_back(shard);
      if (run_.complete(shard)) done_.insert(shard);
    }
    for (std::size_t i = 0; i < record_.submissions.size(); ++i) {
      JobSubmission& submission = record_.submissions[i];
      if (submission.id.empty()) {
        ASSIGN_OR_RETURN(const std::optional<std::string> id, FindPatiently(submission.name));
        if (!id) continue;  // it was never submitted
        submission.id = *id;
        RETURN_IF_ERROR(StoreJobRecord(folder_, record_));
      }
      if (!engine_.IsId(submission.id))
        return InputError(
            fmt::format("{}: '{}' is not a job id", (folder_ / kJobsFile).string(), ExcerptLine(submission.id, 40)));
      for (const int shard : submission.shards) {
        if (!done_.contains(shard)) active_[shard] = i;  // of several arrays, the last
      }
    }
    unmerged_.insert(present.begin(), present.end());
    RETURN_IF_ERROR(MergeUnmerged());
    return active_.empty() ? Status() : PollAll();
  }

  // Asks until there is an answer, or BePatient has none left.
  Result<std::optional<std::string>> FindPatiently(const std::string& name) {
    while (true) {
      Result<std::optional<std::string>> id = engine_.Find(name);
      if (id) unasked_since_.reset();
      if (id) return id;
      RETURN_IF_ERROR(BePatient(id.error()));
      RETURN_IF_ERROR(WaitUnlessStopped(poll_));
    }
  }

  // An array whose submission was cut off may have been submitted all the same: it is looked up before it is submitted
  // again.
  Result<std::string> SubmitPatiently(const JobArray& array) {
    for (int tries = 1;; ++tries) {
      Result<std::string> id = engine_.Submit(array);
      if (id) unasked_since_.reset();
      if (id) return id;
      if (tries == kMaxTriesOfSubmit) return id.error().With(fmt::format("tried {} times", tries));
      const std::string message = id.error().message;
      if (tries > 1) run_.note(fmt::format("{}; trying again ({} of {} tries)", message, tries, kMaxTriesOfSubmit));
      RETURN_IF_ERROR(BePatient(id.error()));
      RETURN_IF_ERROR(WaitUnlessStopped(poll_));
      ASSIGN_OR_RETURN(const std::optional<std::string> found, FindPatiently(array.name));
      if (found) return *found;
    }
  }

  Status SubmitMissing() {
    std::vector<int> missing;
    for (int shard = 1; shard <= record_.shards; ++shard) {
      if (done_.contains(shard) || active_.contains(shard) || given_up_.contains(shard)) continue;
      const auto pause = not_before_.find(shard);
      if (pause == not_before_.end() || pause->second <= clock_.Now()) missing.push_back(shard);
    }
    if (missing.empty() || Stopped()) return {};
    Result<JobArray> array = run_.array(missing);
    if (!array) {
      outcome_.problems.push_back(array.error().message);
      for (const int shard : missing) {
        given_up_[shard] = array.error().message;
        not_before_.erase(shard);
      }
      return {};
    }
    array->name = NameOfArray(folder_, record_.submissions.size() + 1);
    array->folder = folder_;
    array->shards = missing;
    array->of = record_.shards;
    record_.submissions.push_back({array->name, "", missing});
    RETURN_IF_ERROR(StoreJobRecord(folder_, record_));
    Result<std::string> id = SubmitPatiently(*array);
    if (!id) {
      const ErrorKind kind = id.error().kind;
      if (kind == ErrorKind::kCancelled) return id.error();
      // What is out of reach may have been submitted all the same: the name stays in the record.
      if (kind != ErrorKind::kUnavailable) {
        record_.submissions.pop_back();
        RETURN_IF_ERROR(StoreJobRecord(folder_, record_));
      }
      return id.error().With("submitting " + Counted(missing.size(), "shard"));
    }
    const std::size_t number = record_.submissions.size() - 1;
    record_.submissions[number].id = *id;
    for (const int shard : missing) {
      active_[shard] = number;
      ++submitted_[shard];
      submitted_at_[shard] = clock_.Now();
      not_before_.erase(shard);
      unlisted_since_.erase(shard);
      unfetched_since_.erase(shard);
    }
    states_.clear();
    since_ = clock_.Now();
    poll_ = kShortestPoll;
    run_.note(fmt::format("submitted {} as job {}", Counted(missing.size(), "shard"), *id));
    return StoreJobRecord(folder_, record_);
  }

  // Asks for every array with tasks that were running.
  Status PollAll() {
    std::set<std::size_t> numbers;
    for (const auto& [shard, number] : active_) numbers.insert(number);
    std::vector<int> ended;
    for (const std::size_t number : numbers) {
      const JobSubmission& submission = record_.submissions[number];
      const Result<std::map<int, TaskState>> tasks = engine_.Poll(submission.name, submission.id);
      if (!tasks) {
        RETURN_IF_ERROR(BePatient(tasks.error()));
        return {};
      }
      for (const int shard : submission.shards) {
        if (!active_.contains(shard) || active_[shard] != number) continue;
        const auto task = tasks->find(shard);
        if (task == tasks->end() ? IsGone(shard) : HasEnded(shard, task->second)) ended.push_back(shard);
      }
    }
    unasked_since_.reset();
    poll_ =
        std::clamp(std::chrono::duration_cast<milliseconds>(clock_.Now() - since_) / 20, kShortestPoll, kLongestPoll);
    return ended.empty() ? Status() : TakeEnded(ended);
  }

  // Whether a task that the engine doesn't list has ended, and isn't just too new to be listed.
  bool IsGone(int shard) {
    const Clock::Steady now = clock_.Now();
    const Clock::Steady since = unlisted_since_.emplace(shard, now).first->second;
    if (now - since < kUnlistedLimit && !run_.complete(shard)) return false;
    states_.erase(shard);
    return true;
  }

  bool HasEnded(int shard, const TaskState& state) {
    unlisted_since_.erase(shard);
    states_[shard] = state;
    if (state.phase != TaskState::Phase::kUnknown) return state.phase == TaskState::Phase::kEnded;
    if (run_.complete(shard)) return true;
    if (unknown_words_.insert(state.word).second) {
      run_.note(fmt::format("shard {} is in a state that upskill doesn't know: '{}'. It is taken for running", shard,
                            state.word));
    }
    return false;
  }

  Status TakeEnded(const std::vector<int>& ended) {
    bool is_new = false;
    for (const int shard : ended) {
      const JobSubmission& submission = record_.submissions[active_[shard]];
      const Status brought = engine_.Fetch(submission.name, folder_, shard);
      const bool complete = run_.complete(shard);
      if (!brought && !complete && FetchesAgain(shard, brought.error())) continue;
      const std::string array = submission.name;
      active_.erase(shard);
      std::error_code code;
      if (fs::exists(folder_ / ShardFolder(shard), code)) unmerged_.insert(shard);
      is_new = is_new || complete;
      if (complete) {
        done_.insert(shard);
      } else if (brought) {
        Consider(shard, array);
      } else {
        GiveUp(shard, fmt::format("shard {} has ended, but what it wrote can't be fetched: {}", shard,
                                  brought.error().message));
      }
    }
    return is_new ? MergeUnmerged() : Status();
  }

  // A task isn't run again because the files that it wrote can't be had now.
  bool FetchesAgain(int shard, const Error& error) {
    const Clock::Steady now = clock_.Now();
    const auto [since, is_first] = unfetched_since_.emplace(shard, now);
    if (error.kind != ErrorKind::kUnavailable || now - since->second >= kPatience) return false;
    if (is_first) run_.note(fmt::format("shard {}: {}; fetching it again", shard, error.message));
    return true;
  }

  // Merging rewrites the run: it waits until another shard is done, or nothing is followed any more.
  Status MergeUnmerged() {
    if (unmerged_.empty()) return {};
    const std::vector<int> shards(unmerged_.begin(), unmerged_.end());
    unmerged_.clear();
    return run_.merge(shards);
  }

  void GiveUp(int shard, const std::string& why) {
    given_up_[shard] = why;
    outcome_.problems.push_back(why);
  }

  // Whether a shard without all of its answers is submitted once more.
  void Consider(int shard, const std::string& array) {
    const std::optional<int> code = ExitOfShard(folder_, shard);
    const std::string word = states_[shard].word;
    const std::string why = code ? fmt::format("exit code {}", *code) : word.empty() ? "killed" : word;
    const std::string said = LastWords(folder_, array, shard);
    const std::string text =
        fmt::format("shard {} ended without all of its answers ({}){}{}", shard, why, said.empty() ? "" : ": ", said);
    if (code == kUsageExit || submitted_[shard] >= kMaxSubmissionsOfShard) return GiveUp(shard, text);
    const auto at = submitted_at_.find(shard);
    if (at == submitted_at_.end() || clock_.Now() - at->second >= kAtOnce)
      return run_.note(text + "; it is submitted again");
    const std::chrono::seconds pause = kFirstPause * (submitted_[shard] == 1 ? 1 : 4);
    not_before_[shard] = clock_.Now() + pause;
    run_.note(fmt::format("{}; that was within a minute, so it is submitted again in {} s", text, pause.count()));
  }

  // An engine that can't be asked now may be later; its jobs go on meanwhile.
  Status BePatient(const Error& error) {
    if (error.kind != ErrorKind::kUnavailable) return error;
    const Clock::Steady now = clock_.Now();
    if (!unasked_since_) {
      unasked_since_ = now;
      run_.note(fmt::format("{}; trying again, for up to {} minutes", error.message, kPatience.count()));
    }
    poll_ = std::min(poll_ * 2, kLongestPoll);
    if (now - *unasked_since_ < kPatience) return {};
    return error.With(active_.empty()
                          ? "the job system has not answered for 10 minutes"
                          : "the job system has not answered for 10 minutes; the jobs may still be running");
  }

  void Show() {
    ShardCounts counts;
    counts.done = static_cast<int>(done_.size());
    counts.failed = static_cast<int>(given_up_.size());
    for (const auto& [shard, number] : active_) {
      const auto state = states_.find(shard);
      const bool waits = state == states_.end() || state->second.phase == TaskState::Phase::kWaiting;
      ++(waits ? counts.waiting : counts.running);
      if (waits && state != states_.end() && counts.waiting_for.empty()) counts.waiting_for = state->second.word;
    }
    run_.progress(counts);
  }

  // In slices, because a signal doesn't wake it up.
  void WaitFor(milliseconds time, int level = 1) {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    const Clock::Steady until = clock_.Now() + time;
    while (stop_level() < level) {
      const Clock::Steady now = clock_.Now();
      if (now >= until) return;
      clock_.WaitUntil(never, lock, std::min(until, now + milliseconds(100)));
    }
  }

  Status WaitUnlessStopped(milliseconds time) {
    if (!Stopped()) WaitFor(time);
    return Stopped() ? Status(Error{ErrorKind::kCancelled, "stopped"}) : Status();
  }

  Result<FollowOutcome> Stop() {
    outcome_.detached = true;
    std::set<std::size_t> numbers;
    for (const auto& [shard, number] : active_) numbers.insert(number);
    if (numbers.empty()) return outcome_;
    run_.note(fmt::format("no longer following; the jobs keep running. Ctrl-C within {} s cancels them",
                          kSecondSignal.count()));
    if (stop_level() < 2) WaitFor(kSecondSignal, 2);
    if (stop_level() < 2) return outcome_;
    outcome_.cancelled = true;
    for (const std::size_t number : numbers) {
      const JobSubmission& submission = record_.submissions[number];
      const Status cancelled = engine_.Cancel(submission.name, submission.id);
      if (!cancelled) {
        outcome_.cancelled = false;
        outcome_.problems.push_back(fmt::format("job {} could not be cancelled ({}); cancel it with `{}`",
                                                submission.id, cancelled.error().message,
                                                engine_.CancelLine(submission.id)));
      }
    }
    return outcome_;
  }

  JobEngine& engine_;
  const fs::path& folder_;
  JobRecord& record_;
  const FollowedRun& run_;
  const Clock& clock_;
  const StopFlag* stop_;
  std::set<int> done_;
  std::map<int, std::size_t> active_;          // by shard: the submission that has it
  std::map<int, TaskState> states_;            // as last seen
  std::map<int, int> submitted_;               // by shard: how often in this call
  std::map<int, Clock::Steady> submitted_at_;  // by shard: the last time
  std::map<int, Clock::Steady> not_before_;    // shards that wait to be submitted again
  std::map<int, std::string> given_up_;
  std::set<int> unmerged_;                        // shards whose folders may have more than the run
  std::map<int, Clock::Steady> unlisted_since_;   // by shard
  std::map<int, Clock::Steady> unfetched_since_;  // by shard
  std::set<std::string> unknown_words_;           // that were noted
  Clock::Steady since_ = clock_.Now();            // when this call began, or last submitted something
  milliseconds poll_ = kShortestPoll;             // a twentieth of the time since then
  std::optional<Clock::Steady> unasked_since_;
  FollowOutcome outcome_;
};

}  // namespace

Result<FollowOutcome> FollowJobs(JobEngine& engine, const fs::path& folder, JobRecord& record, const FollowedRun& run,
                                 const Clock& clock, const StopFlag* stop) {
  return Follower(engine, folder, record, run, clock, stop).Run();
}

}  // namespace upskill
