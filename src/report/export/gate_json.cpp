// SPDX-License-Identifier: Apache-2.0
#include "report/export/gate_json.h"

#include <optional>
#include <utility>

namespace upskill {

Json GateToJson(const Gate& gate, const JudgedRun& run) {
  Json clauses = Json::array();
  if (!run.summary.complete()) return {{"holds", nullptr}, {"clauses", std::move(clauses)}};
  bool all = true;
  for (const GateResult& result : CheckGate(gate, run)) {
    all = all && result.passed;
    clauses.push_back({{"clause", result.clause},
                       {"model", result.model.empty() ? Json(nullptr) : Json(result.model)},
                       {"against", result.against.empty() ? Json(nullptr) : Json(result.against)},
                       {"holds", result.passed},
                       {"found", result.detail}});
  }
  return {{"holds", all}, {"clauses", std::move(clauses)}};
}

Json GateToJson(const JudgedRun& run) {
  const std::optional<Gate> gate = GateOf(run.plan());
  return gate ? GateToJson(*gate, run) : Json(nullptr);
}

}  // namespace upskill
