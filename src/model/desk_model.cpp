// SPDX-License-Identifier: Apache-2.0
#include "model/desk_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "model/desk_files.h"
#include "model/request_text.h"
#include "util/files.h"
#include "util/folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr int kDefaultOpenRequests = 1000;
constexpr std::chrono::milliseconds kLockPatience{0};

struct DeskRequest {
  Model::Done done;
  Steady::time_point started;
  // Of the answer's file when it was last seen to change.
  std::uintmax_t size = 0;
  fs::file_time_type written;
  Steady::time_point seen;
};

Status LockDesk(const Folder& folder) {
  if (folder.Lock(kLockPatience)) return {};
  return Error{ErrorKind::kPermanent,
               fmt::format("{} is in use by another upskill: give each a folder of its own", folder.path().string())};
}

Status TryToWrite(const fs::path& path) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(path));
  RETURN_IF_ERROR(LockDesk(folder));
  ASSIGN_OR_RETURN(const TemporaryFile file, TemporaryFile::MakeIn(folder, DeskRequestName(1)));
  return WriteAll(file.fd(), "\n", file.path());
}

class DeskModel : public Model {
 public:
  DeskModel(const DeskOptions& options, ModelInfo info)
      : options_(options), info_(std::move(info)), thread_([this](const std::stop_token& stop) { Look(stop); }) {}
  ~DeskModel() override {
    thread_.request_stop();
    DeskModel::Cancel(CancelScope::kRunning);
  }
  DeskModel(const DeskModel&) = delete;
  DeskModel& operator=(const DeskModel&) = delete;

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return options_.parallel > 0 ? options_.parallel : kDefaultOpenRequests; }

  void Start(ChatRequest request, Done done) override {
    if (!request.tools.empty())
      return done(Error{ErrorKind::kPermanent, fmt::format("model '{}' can't call tools", info_.name)});
    const std::uint64_t seed = request.sampling.seed;
    const bool is_teacher = request.answer_schema.has_value();  // a student's answers must not come from one chat
    const std::string text = RequestText(std::move(request));
    const std::string key = DeskKeyOf(fmt::format("{}\n{}", seed, text));
    const std::unique_lock lock(mutex_);
    if (const Status opened = OpenFolder(); !opened) return done(opened.error());
    const auto known = numbers_.find(key);
    const int number = known != numbers_.end() ? known->second : last_ + 1;
    if (open_.contains(number))
      return done(Error{ErrorKind::kUnavailable, fmt::format("{} is already awaited", DeskAnswerName(number))});
    if (known == numbers_.end()) {
      const Status written = folder_->WriteFile(DeskRequestName(number), DeskMark(key) + "\n" + text);
      if (!written) return done(written.error());
      last_ = number;
      numbers_[key] = number;
      if (is_teacher) WriteNew(number, text);
    }
    Tell(number);
    open_[number] = {std::move(done), Steady::now(), 0, {}, {}};
    wake_.notify_all();
  }

  void Cancel(CancelScope /*scope*/) override {
    std::map<int, DeskRequest> dropped;
    {
      // A person who is asked to stop waiting doesn't want to write an answer first.
      const std::lock_guard lock(mutex_);
      dropped.swap(open_);
    }
    for (const auto& [number, request] : dropped) request.done(Error{ErrorKind::kCancelled, "cancelled"});
  }

 private:
  // A convenience, because the request's file has it all: an error doesn't matter.
  void WriteNew(int number, const std::string& text) const {
    if (IsForNewChat(text)) return;
    constexpr int kMostEarlier = 20;
    std::vector<DeskEarlier> earlier;
    for (int i = std::max(1, number - kMostEarlier); i < number; ++i) {
      Result<std::string> one = ReadFile(options_.folder / DeskRequestName(i), kMaxDeskFileBytes);
      if (one && !IsForNewChat(*one)) earlier.push_back({i, *std::move(one)});
    }
    const std::string only_new = DeskNewText(text, earlier);
    if (!only_new.empty()) (void)folder_->WriteFile(DeskNewName(number), only_new);
  }

  void Tell(int number) {
    if (!options_.say) return;
    const std::string answer = (options_.folder / DeskAnswerName(number)).string();
    std::error_code code;
    if (!fs::exists(answer, code)) {
      const std::string only_new = DeskFileToPaste(options_.folder, number).filename() == DeskNewName(number)
                                       ? fmt::format(" ({} for a chat that has the earlier ones)", DeskNewName(number))
                                       : "";
      const Result<std::string> request = ReadFile(options_.folder / DeskRequestName(number), kMaxDeskFileBytes);
      const bool is_for_new = request && IsForNewChat(*request);
      options_.say(fmt::format("desk     waiting for {}, the answer to {}{}", answer, DeskRequestName(number),
                               is_for_new ? " (by a new chat)" : only_new));
    } else if (!std::exchange(told_of_old_, true)) {
      options_.say(
          fmt::format("desk     taking answers that are there already, such as {}; to be asked again, remove "
                      "both the request and its answer",
                      answer));
    }
  }

  // At the first request, so that a model that is never asked leaves nothing behind.
  Status OpenFolder() {
    if (folder_) return {};
    ASSIGN_OR_RETURN(Folder folder, Folder::Make(options_.folder));
    RETURN_IF_ERROR(LockDesk(folder));
    RETURN_IF_ERROR(NoteExisting());
    folder_ = std::move(folder);
    return {};
  }

  Status NoteExisting() {
    ASSIGN_OR_RETURN(const DeskNumbers found, DeskNumbersIn(options_.folder));  // else requests would be written over
    last_ = found.last;
    for (const int number : found.requests) {
      const Result<std::string> text = ReadFile(options_.folder / DeskRequestName(number), kMaxDeskFileBytes);
      const std::optional<std::string> key = text ? DeskKeyIn(*text) : std::nullopt;
      if (key) numbers_[*key] = number;
    }
    return {};
  }

  void Look(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (open_.empty()) {
        wake_.wait(lock, stop, [this] { return !open_.empty(); });
        continue;
      }
      std::vector<std::pair<Done, Result<ChatResponse>>> answered;
      for (auto request = open_.begin(); request != open_.end();) {
        std::optional<Result<ChatResponse>> answer = AnswerOf(request->first, request->second);
        if (!answer) {
          ++request;
          continue;
        }
        answered.emplace_back(std::move(request->second.done), *std::move(answer));
        request = open_.erase(request);
      }
      lock.unlock();
      for (auto& [done, answer] : answered) done(std::move(answer));
      lock.lock();
      wake_.wait_for(lock, stop, options_.look, [] { return false; });
    }
  }

  // Nothing: not there, empty, or perhaps still being written.
  std::optional<Result<ChatResponse>> AnswerOf(int number, DeskRequest& request) const {
    const fs::path file = options_.folder / DeskAnswerName(number);
    std::error_code code;
    const std::uintmax_t size = fs::file_size(file, code);
    if (code || size == 0) return std::nullopt;
    const fs::file_time_type written = fs::last_write_time(file, code);
    if (code) return std::nullopt;
    const Steady::time_point now = Steady::now();
    if (size != request.size || written != request.written) {
      request.size = size;
      request.written = written;
      request.seen = now;
    }
    if (now - request.seen < options_.settle) return std::nullopt;
    Result<std::string> text = ReadFile(file, kMaxDeskFileBytes);
    if (!text) return Result<ChatResponse>(text.error());
    ChatResponse response;
    response.text = DeskAnswerText(*text);
    response.cost_usd = 0.0;
    response.seconds = std::chrono::duration<double>(now - request.started).count();
    if (response.text.empty()) return std::nullopt;
    return Result<ChatResponse>(std::move(response));
  }

  const DeskOptions options_;
  const ModelInfo info_;
  std::mutex mutex_;  // guards the rest
  std::optional<Folder> folder_;
  bool told_of_old_ = false;  // answers from before
  std::condition_variable_any wake_;
  std::map<std::string, int> numbers_;  // of the requests in the folder, by their keys
  int last_ = 0;
  std::map<int, DeskRequest> open_;
  std::jthread thread_;  // last: uses everything above
};

}  // namespace

Status CheckDeskFolder(const fs::path& folder) {
  std::vector<fs::path> missing;  // the innermost first
  std::error_code code;
  for (fs::path place = fs::absolute(folder, code).lexically_normal();
       !place.empty() && fs::symlink_status(place, code).type() == fs::file_type::not_found;
       place = place.parent_path())
    missing.push_back(place);
  const Status written = TryToWrite(folder);
  for (const fs::path& place : missing) fs::remove(place, code);
  return written;
}

std::unique_ptr<Model> MakeDeskModel(const DeskOptions& options) {
  std::error_code code;
  const fs::path absolute = fs::weakly_canonical(options.folder, code);
  ModelInfo info;
  info.name = "desk:" + options.folder.string();
  info.identity = "desk:1:" + (code ? options.folder : absolute).string();
  info.detail = "answers written by hand";
  info.price = Price{};
  return std::make_unique<DeskModel>(options, std::move(info));
}

}  // namespace upskill
