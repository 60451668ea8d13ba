// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "eval/run/budget.h"
#include "model/chat.h"
#include "model/model.h"
#include "util/append_file.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What a stage of a generation has used, over all its sessions.
struct StageCost {
  std::size_t calls = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  double usd = 0.0;  // of the calls whose cost is known
  bool all_costs_known = true;

  std::optional<double> total_usd() const { return all_costs_known ? std::optional(usd) : std::nullopt; }
};

struct TeacherCall {
  std::string stage;  // "notes", "draft", "cases" …; for costs and the log
  std::string system;
  std::string prompt;
  Json schema;      // of the answer
  int attempt = 0;  // distinguishes equal requests
  int max_tokens = 4096;
};

// Callbacks around each request that is sent to a teacher, repairs and further attempts included.
struct TeacherMeter {
  std::function<Status(const Model& model, const ChatRequest& request)> reserve;  // its error is the result of Ask
  std::function<Spending(const Result<ChatResponse>& answer)> settle;             // returns what it counts as
};

// A model that answers according to JSON schemas. Every answer is stored before it is used, and equal calls are
// answered from the store, so that a resumed generation pays for nothing twice. A request that fails for a reason that
// may go away is sent again, up to kMaxAttempts times in all. Not thread-safe.
class Teacher {
 public:
  // `calls`: the file of stored answers, created if absent. `clock` times the waits between attempts; null: the
  // system's. `model`, `stop` and `clock` must outlive the teacher.
  static Result<Teacher> Open(Model& model, const std::filesystem::path& calls, const StopFlag* stop = nullptr,
                              const Clock* clock = nullptr);

  // The meter has both callbacks or none.
  void set_meter(TeacherMeter meter) { meter_ = std::move(meter); }

  // Every request is scanned for secrets once more just before it is sent, because joined and repeated texts may hold
  // what their parts didn't; what is found is replaced. With `keep` (--no-redact) it isn't.
  void set_keep_secrets(bool keep) { keep_secrets_ = keep; }

  // Gets a line for the user when an answer can't be used, when a stop waits for one, and from time to time while one
  // is awaited.
  void set_say(std::function<void(const std::string& line)> say) { say_ = std::move(say); }

  // Errors: kInput if the model's answer didn't fit the schema (after two repairs), was a refusal or was cut off; that
  // is stored as well. Errors of the model or its server (never kInput) are not stored, so that a resumed generation
  // sends the request again; answers before them are, and what the failed request may have cost.
  Result<Json> Ask(const TeacherCall& call);

  bool HasAnswered(const TeacherCall& call) const { return stored_.contains(KeyOf(call)); }
  // A line for the user, if there is somebody to tell (set_say).
  void Tell(const std::string& stage, const std::string& text) const;

  const ModelInfo& info() const { return model_->info(); }
  const std::map<std::string, StageCost>& costs() const { return costs_; }
  double cost_usd() const;  // as far as costs are known
  std::size_t answers() const { return stored_.size(); }

 private:
  Teacher(Model& model, AppendFile file, const StopFlag* stop, const Clock* clock)
      : model_(&model), stop_(stop), clock_(clock), file_(std::move(file)) {}
  std::string KeyOf(const TeacherCall& call) const;
  Result<ChatResponse> Send(const TeacherCall& call, const ChatRequest& request);
  ChatRequest WithoutSecrets(const TeacherCall& call, ChatRequest request) const;
  Result<ChatResponse> SendOnce(const TeacherCall& call, ChatRequest request) const;
  void Say(const TeacherCall& call, const std::string& text) const { Tell(call.stage, text); }
  Spending Settle(const Result<ChatResponse>& answer) const;
  Status WaitBeforeNextAttempt(int attempt, const Error& error) const;
  void Count(const std::string& stage, const Json& record);
  // `result`: the member of the record that tells what came of the request.
  Status Store(const std::string& key, const TeacherCall& call, const ChatResponse& response, const Json& result);
  Status StoreFailure(const TeacherCall& call, double usd);

  Model* model_;
  const StopFlag* stop_;
  const Clock* clock_;
  AppendFile file_;
  TeacherMeter meter_;
  bool keep_secrets_ = false;
  std::function<void(const std::string& line)> say_;
  // {"answer"} or {"problem"} by the key of the call; {"rejected"}, an answer outside the schema that was requested
  // again, by the ID of its request.
  std::unordered_map<std::string, Json> stored_;
  std::map<std::string, StageCost> costs_;
};

}  // namespace upskill
