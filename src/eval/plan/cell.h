// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "model/chat.h"

namespace upskill {

// The unit of work: one case answered once by one student in one arm.
struct Cell {
  std::size_t student = 0;  // index into Plan::students
  Arm arm = Arm::kBaseline;
  std::size_t case_index = 0;  // index into Plan::suite.cases
  int round = 0;
  std::string key;  // SHA-256 of everything that determines the answer
};

// All cells of a plan's shard in sending order: student by student, round by round, case by case, the arms of a case
// next to each other, so that a provider's drift affects both alike.
std::vector<Cell> CellsOf(const Plan& plan);

// Whether a case and round belong to the plan's shard.
bool InShard(const Plan& plan, std::size_t student, int round, std::size_t case_index);

// Whether the student is `sim:…`: a random draw decides each answer, and there are only two texts to choose from.
bool IsSimulated(const Student& student);

// The request of a cell. Both arms of a (case, round) get the same sampling settings and seed.
ChatRequest RequestFor(const Plan& plan, const Cell& cell, int attempt);

}  // namespace upskill
