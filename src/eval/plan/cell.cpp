// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/cell.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "eval/plan/prompts.h"
#include "eval/plan/workspace_cell.h"
#include "util/hash.h"
#include "util/rng.h"

namespace upskill {
namespace {

std::uint64_t SeedOf(const Plan& plan, int round, const std::string& message) {
  return Rng(plan.sampling.seed ^ SeedFromText(fmt::format("round {}\n{}", round, message))).Next();
}

Json SimulationOf(const Arm arm, int attempt, const Case& test_case) {
  return {{"arm", ArmName(arm)}, {"attempt", attempt}, {"passing_answer", PassingAnswer(test_case)}};
}

// A model that acts finds the files in its workspace.
std::string MessageOf(const Plan& plan, const Case& test_case) {
  return plan.acts_in(test_case) ? test_case.input : UserMessage(test_case);
}

// Makes the keys of cells. A key covers what reaches the model and nothing else: a baseline's key leaves out the skill,
// so that its sample serves every skill, and the checks, so that a sample outlives a change of its checks. (A simulated
// student's answer depends on its case's passing answer, which is part of its request.) The key is the hash of
// canonical JSON, assembled from parts that many cells share.
class KeyMaker {
 public:
  explicit KeyMaker(const Plan& plan) : plan_(plan) {
    for (const Arm arm : plan.arms) {
      systems_[arm] = CanonicalJson(SystemPrompt(plan, arm));
      if (plan.workspace) acting_systems_[arm] = CanonicalJson(WorkspaceSystemPrompt(plan, arm));
    }
    for (const Case& test_case : plan.suite.cases) {
      messages_.push_back(MessageOf(plan, test_case));
      message_lists_.push_back(CanonicalJson(Json::array({messages_.back()})));
    }
    for (const Student& student : plan.students) models_.push_back(CanonicalJson(student.identity));
    temperature_ = CanonicalJson(plan.sampling.temperature ? Json(*plan.sampling.temperature) : Json(nullptr));
  }

  std::string KeyOf(const Cell& cell) {
    const bool acts = plan_.acts_in(plan_.suite.cases[cell.case_index]);
    text_.clear();
    fmt::format_to(
        std::back_inserter(text_),
        R"({{"key":1,"max_tokens":{},"messages":{},"model":{},"round":{},"seed":{},"simulation":{},"system":{}{},"temperature":{}}})",
        plan_.sampling.max_tokens, message_lists_[cell.case_index], models_[cell.student], cell.round,
        SeedOf(plan_, cell.round, messages_[cell.case_index]), SimulationText(cell),
        (acts ? acting_systems_ : systems_).at(cell.arm), acts ? TaskText(cell) : "", temperature_);
    return Sha256Hex(text_);
  }

 private:
  // A member of the key that only cells in a workspace have.
  const std::string& TaskText(const Cell& cell) {
    std::string& text = tasks_[{cell.arm, cell.case_index}];
    if (!text.empty()) return text;
    std::string& arm = arms_[cell.arm];
    if (arm.empty()) arm = ArmKey(plan_, cell.arm);
    text = fmt::format(R"(,"task":"{}")", TaskKey(plan_, arm, plan_.suite.cases[cell.case_index]));
    return text;
  }

  const std::string& SimulationText(const Cell& cell) {
    static const std::string none = "null";
    if (!IsSimulated(plan_.students[cell.student])) return none;
    std::string& text = simulations_[{cell.arm, cell.case_index}];
    if (text.empty()) text = CanonicalJson(SimulationOf(cell.arm, 0, plan_.suite.cases[cell.case_index]));
    return text;
  }

  const Plan& plan_;
  std::map<Arm, std::string> systems_;
  std::map<Arm, std::string> acting_systems_;  // of cases in a workspace
  std::map<Arm, std::string> arms_;            // hashes of what their tasks have in common
  std::map<std::pair<Arm, std::size_t>, std::string> tasks_;
  std::vector<std::string> messages_;       // by case
  std::vector<std::string> message_lists_;  // the same as JSON
  std::vector<std::string> models_;         // by student
  std::map<std::pair<Arm, std::size_t>, std::string> simulations_;
  std::string temperature_;
  std::string text_;
};

}  // namespace

bool IsSimulated(const Student& student) { return student.identity.starts_with("sim:"); }

std::vector<Cell> CellsOf(const Plan& plan) {
  std::vector<Cell> cells;
  KeyMaker keys(plan);
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (int round = 0; round < plan.rounds; ++round) {
      for (std::size_t case_index = 0; case_index < plan.suite.cases.size(); ++case_index) {
        if (!InShard(plan, student, round, case_index)) continue;
        for (const Arm arm : plan.arms) {
          Cell cell{student, arm, case_index, round, ""};
          cell.key = keys.KeyOf(cell);
          cells.push_back(std::move(cell));
        }
      }
    }
  }
  return cells;
}

bool InShard(const Plan& plan, std::size_t student, int round, std::size_t case_index) {
  const std::size_t cases = plan.suite.cases.size();
  const std::size_t pair =
      (student * static_cast<std::size_t>(plan.rounds) + static_cast<std::size_t>(round)) * cases + case_index;
  return pair % static_cast<std::size_t>(plan.shard.of) == static_cast<std::size_t>(plan.shard.index);
}

ChatRequest RequestFor(const Plan& plan, const Cell& cell, int attempt) {
  const Case& test_case = plan.suite.cases[cell.case_index];
  ChatRequest request;
  const bool acts = plan.acts_in(test_case);
  request.system = acts ? WorkspaceSystemPrompt(plan, cell.arm) : SystemPrompt(plan, cell.arm);
  if (!cell.key.empty()) {
    request.id = Sha256Hex(fmt::format("{}\n{}\n{}\n{}\n{}", cell.key, plan.students[cell.student].spec,
                                       ArmName(cell.arm), test_case.id, attempt))
                     .substr(0, 40);
  }
  request.messages.push_back({Role::kUser, MessageOf(plan, test_case)});
  if (acts) {
    request.task = TaskOf(plan, cell.arm, test_case);
    request.tools = ToolsOfArm(plan, cell.arm);
  }
  request.sampling = plan.sampling;
  request.sampling.seed = SeedOf(plan, cell.round, request.messages.front().text);
  if (IsSimulated(plan.students[cell.student])) {
    request.simulation = SimulationOf(cell.arm, attempt, test_case);
    request.simulation["round"] = cell.round;
    if (plan.measures_activation()) request.simulation["chooses"] = true;
  }
  return request;
}

}  // namespace upskill
