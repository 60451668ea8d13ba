// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/suite_check.h"
#include "cli/env/env.h"
#include "cli/models/judge_option.h"
#include "eval/journal/judgment_store.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"
#include "util/terminal_text.h"

namespace CLI {
class App;
}

namespace upskill {

struct CheckJudgeOptions {
  std::string model;  // empty: none
  std::string base_url;
  std::string runs_dir;
  std::optional<double> max_cost_usd;
};

// Declares --judge-model and what belongs to it.
void AddCheckJudgeOptions(CLI::App& command, CheckJudgeOptions& options);

// The judge of `upskill check`, which keeps what it said (JudgmentStore). Not thread-safe.
class CheckJudge {
 public:
  // Errors: those of OpenJudge and JudgmentStore::Open; its price isn't known though the cost is limited.
  static Result<std::unique_ptr<CheckJudge>> Open(const CheckJudgeOptions& options, const Suite& suite, const Env& env);

  std::vector<Result<Judgments>> Ask(const std::vector<AnswerToJudge>& answers);

  // Who judged how many answers at what cost, and how far that can be trusted.
  TerminalText Text() const;
  Json ToJson() const;
  const std::string& unsaved() const { return unsaved_; }  // why judgments were not stored; empty: all were

 private:
  CheckJudge(OpenedJudge judge, JudgmentStore store, std::optional<double> max_cost_usd, const Env& env)
      : judge_(std::move(judge)), store_(std::move(store)), max_cost_usd_(max_cost_usd), env_(&env) {}

  OpenedJudge judge_;
  JudgmentStore store_;
  std::optional<double> max_cost_usd_;
  const Env* env_;
  std::size_t answers_ = 0;  // judged
  std::size_t known_ = 0;    // questions that were answered before
  std::optional<double> cost_usd_ = 0.0;
  std::string unsaved_;
};

}  // namespace upskill
