// SPDX-License-Identifier: Apache-2.0
#include "eval/cell.h"

#include <fmt/format.h>

#include "eval/prompts.h"
#include "util/hash.h"
#include "util/rng.h"

namespace upskill {
namespace {

bool IsSimulated(const Student& student) { return student.identity.starts_with("sim:"); }

// The key holds what reaches the model and nothing else: a baseline's key knows no skill, so its sample serves every
// skill; checks are not in it, so a sample outlives a change of its checks. (A simulated student's answer depends on
// its case's passing answer, which is in its request.)
std::string KeyOf(const Plan& plan, const Cell& cell) {
  const ChatRequest request = RequestFor(plan, cell, 0);
  Json messages = Json::array();
  for (const Message& message : request.messages) messages.push_back(message.text);
  const Json key = {
      {"key", 1},
      {"model", plan.students[cell.student].identity},
      {"system", request.system},
      {"messages", messages},
      {"temperature", request.sampling.temperature ? Json(*request.sampling.temperature) : Json(nullptr)},
      {"max_tokens", request.sampling.max_tokens},
      {"seed", request.sampling.seed},
      {"round", cell.round},
      {"simulation", request.simulation},
  };
  return Sha256Hex(CanonicalJson(key));
}

}  // namespace

std::vector<Cell> CellsOf(const Plan& plan) {
  std::vector<Cell> cells;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (int round = 0; round < plan.rounds; ++round) {
      for (std::size_t case_index = 0; case_index < plan.suite.cases.size(); ++case_index) {
        if (!InShard(plan, student, round, case_index)) continue;
        for (const Arm arm : plan.arms) {
          Cell cell{student, arm, case_index, round, ""};
          cell.key = KeyOf(plan, cell);
          cells.push_back(std::move(cell));
        }
      }
    }
  }
  return cells;
}

bool InShard(const Plan& plan, std::size_t student, int round, std::size_t case_index) {
  const std::size_t cases = plan.suite.cases.size();
  const std::size_t pair = (student * static_cast<std::size_t>(plan.rounds) + static_cast<std::size_t>(round)) * cases + case_index;
  return pair % static_cast<std::size_t>(plan.shard.of) == static_cast<std::size_t>(plan.shard.index);
}

ChatRequest RequestFor(const Plan& plan, const Cell& cell, int attempt) {
  const Case& test_case = plan.suite.cases[cell.case_index];
  ChatRequest request;
  request.system = SystemPrompt(plan, cell.arm);
  if (!cell.key.empty()) {
    request.id = Sha256Hex(fmt::format("{}\n{}\n{}\n{}\n{}", cell.key, plan.students[cell.student].spec, ArmName(cell.arm), test_case.id, attempt)).substr(0, 40);
  }
  request.messages.push_back({Role::kUser, UserMessage(test_case)});
  request.sampling = plan.sampling;
  request.sampling.seed = Rng(plan.sampling.seed ^ SeedFromText(fmt::format("round {}\n{}", cell.round, request.messages.front().text))).Next();
  if (IsSimulated(plan.students[cell.student])) {
    request.simulation = {{"arm", ArmName(cell.arm)}, {"attempt", attempt}, {"passing_answer", PassingAnswer(test_case)}};
  }
  return request;
}

}  // namespace upskill
