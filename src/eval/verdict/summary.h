// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "eval/verdict/activation.h"

namespace upskill {

// What was done in workspaces, over the answers that come from one.
struct WorkSummary {
  std::size_t answers = 0;
  std::size_t turns = 0;
  std::size_t tool_calls = 0;
  std::size_t tool_errors = 0;
  std::map<std::string, std::size_t> tools;   // calls by the tool's name
  std::map<std::string, std::size_t> limits;  // answers that a limit ended (WorkRecord::limit)
  std::size_t with_skill = 0;                 // answers of students that had a skill …
  std::size_t on_demand = 0;                  // … of which files were in the workspace to be read
  std::size_t skill_read = 0;                 // … and whose SKILL.md was read
  std::int64_t always_tokens = 0;             // SkillUse, summed up
  std::int64_t loaded_tokens = 0;
  std::int64_t unread_tokens = 0;
};

// One arm of one student, over all its cells. Rates are fractions of the answered cells; errors never enter them.
struct ArmSummary {
  std::size_t cells = 0;     // planned
  std::size_t answered = 0;  // with an answer
  std::size_t errors = 0;    // cells whose final sample is an error
  std::size_t attempts = 0;  // requests: answers and failed attempts, also those that were retried
  std::map<ErrorCause, std::size_t> failed_attempts;
  std::size_t passed = 0;
  std::size_t checks_passed = 0;
  std::size_t checks_total = 0;
  std::size_t time_limits = 0;  // answers that failed because a check reached its time limit
  std::size_t truncated = 0;    // answers cut off at the token limit
  std::size_t cut = 0;          // answers too long to be stored whole (Sample::cut_from)
  std::size_t refusals = 0;
  std::size_t empty = 0;  // answers without a word
  std::int64_t prompt_tokens = 0;
  std::int64_t evaluated_tokens = 0;  // prompt tokens that were not read from a cache
  std::int64_t output_tokens = 0;
  std::size_t tokens_known = 0;  // answers that say how many tokens they took; those of commands and people don't
  std::size_t from_cache = 0;
  double cost_usd = 0.0;       // of the answers with a known cost, in whichever run they were paid for
  std::size_t cost_known = 0;  // answers with a known cost
  double seconds = 0.0;        // sum over answers
  WorkSummary work;

  std::size_t failures() const {  // of attempts
    std::size_t sum = 0;
    for (const auto& [cause, count] : failed_attempts) sum += count;
    return sum;
  }

  // Of all answers; absent if the cost of any answer is unknown.
  std::optional<double> total_cost_usd() const {
    if (answered == 0 || cost_known < answered) return std::nullopt;
    return cost_usd;
  }

  std::optional<double> rate() const {
    if (answered == 0) return std::nullopt;
    return static_cast<double>(passed) / static_cast<double>(answered);
  }
  std::optional<double> mean_checks() const {
    if (answered == 0) return std::nullopt;
    return static_cast<double>(checks_passed) / static_cast<double>(answered);
  }
  // Whether the sums of tokens are those of all answers.
  bool reports_tokens() const { return tokens_known == answered; }
  std::optional<double> mean_output_tokens() const {
    if (answered == 0 || !reports_tokens()) return std::nullopt;
    return static_cast<double>(output_tokens) / static_cast<double>(answered);
  }
  std::optional<double> mean_tokens() const {  // prompt and output
    if (answered == 0 || !reports_tokens()) return std::nullopt;
    return static_cast<double>(prompt_tokens + output_tokens) / static_cast<double>(answered);
  }
  std::optional<double> mean_cost_usd() const {
    const std::optional<double> total = total_cost_usd();
    if (!total) return std::nullopt;
    return *total / static_cast<double>(answered);
  }
};

// One case of one student in one arm.
struct CaseTally {
  std::size_t passed = 0;
  std::size_t answered = 0;
};

struct StudentSummary {
  Student student;
  std::map<Arm, ArmSummary> arms;
  std::map<Arm, std::vector<CaseTally>> cases;  // by index in Plan::suite.cases
  std::optional<ActivationSummary> activation;  // of a run that measures it
  int rounds = 0;                               // planned; with stop_when_decided, until the verdict was known
  std::size_t cells_skipped = 0;                // skipped because the verdict was known; set by Judge

  // Mean of (pass rate with skill − pass rate without) over the cases answered in both arms, as a fraction; absent
  // without such cases.
  std::optional<double> lift;
};

struct RunSummary {
  std::vector<StudentSummary> students;  // in the plan's order
  JudgeSummary judge;
  std::size_t cells = 0;
  std::size_t answered = 0;
  bool complete() const { return answered == cells; }
};

RunSummary Summarize(const RunData& data);

}  // namespace upskill
