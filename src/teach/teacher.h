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

#include "eval/budget.h"
#include "model/chat.h"
#include "model/model.h"
#include "util/files.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What a stage of a generation has used, over all its sessions.
struct StageCost {
  std::size_t calls = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::optional<double> usd = 0.0;  // absent if the cost of any call is unknown
};

struct TeacherCall {
  std::string stage;  // "draft", "digest", "cases" or "refine"; for costs and the log
  std::string system;
  std::string prompt;
  Json schema;      // of the answer
  int attempt = 0;  // distinguishes equal requests
  int max_tokens = 4096;
};

// Callbacks around each request to a teacher that isn't answered from the store, repairs included.
struct TeacherMeter {
  std::function<Status(const Model& model, const ChatRequest& request)> reserve;  // its error is the result of Ask
  std::function<Spending(const Result<ChatResponse>& answer)> settle;             // returns what it counts as
};

// A model that answers according to JSON schemas. Every answer is stored before it is used, and equal calls are
// answered from the store, so that a resumed generation pays for nothing twice. Not thread-safe.
class Teacher {
 public:
  // `calls`: the file of stored answers, created if absent. `model` and `stop` must outlive the teacher.
  static Result<Teacher> Open(Model& model, const std::filesystem::path& calls, const StopFlag* stop = nullptr);

  // Both callbacks or none.
  void set_meter(TeacherMeter meter) { meter_ = std::move(meter); }

  // Errors: kInput if the model's answer didn't fit the schema (after two repairs), was a refusal or was cut off; that
  // is stored as well. Errors of the model or its server (never kInput) are not stored, so that a resumed generation
  // sends the request again; only what the call has cost is.
  Result<Json> Ask(const TeacherCall& call);

  const ModelInfo& info() const { return model_->info(); }
  const std::map<std::string, StageCost>& costs() const { return costs_; }
  double cost_usd() const { return known_usd_; }  // over all sessions, as far as it is known
  std::size_t answers() const { return stored_.size(); }

 private:
  Teacher(Model& model, AppendFile file, const StopFlag* stop) : model_(&model), stop_(stop), file_(std::move(file)) {}
  std::string KeyOf(const TeacherCall& call) const;
  void Count(const std::string& stage, const Json& record);
  Status Store(const std::string& key, Json record);
  Status StoreFailure(const TeacherCall& call, const Spending& used);
  Spending UsedBy(const Result<ChatResponse>& answer) const;

  Model* model_;
  const StopFlag* stop_;
  AppendFile file_;
  TeacherMeter meter_;
  std::unordered_map<std::string, Json> stored_;  // by key: {"answer"} or {"problem"}
  std::map<std::string, StageCost> costs_;
  double known_usd_ = 0.0;
};

}  // namespace upskill
