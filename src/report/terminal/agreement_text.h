// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/run/judge_labels.h"
#include "report/terminal/style.h"
#include "stats/agreement.h"
#include "util/json.h"

namespace upskill {

// How a judge compares with the people who labelled the same answers.
struct JudgeAgreement {
  std::string judge;
  ConfusionCounts counts;   // over answers about which people agree by majority and the judge said its word
  std::size_t divided = 0;  // answers whose raters are divided equally
  std::size_t unjudged = 0;
  std::size_t unlabelled = 0;
  std::optional<AgreementEstimate> kappa;
  std::optional<AgreementEstimate> alpha;         // of the judge and all raters
  std::optional<AgreementEstimate> people_alpha;  // of the raters, if there are several
  std::optional<JudgeRates> rates;
  std::vector<std::size_t> disagreements;  // numbers of answers
};

JudgeAgreement AgreementOf(const LabelSet& set, const JudgedLabels& judged, const std::string& judge);

TerminalText AgreementText(const JudgeAgreement& agreement);
Json AgreementToJson(const JudgeAgreement& agreement);

// The answers that judge and people see differently, with the judge's reasons.
TerminalText DisagreementsText(const JudgeAgreement& agreement, const LabelSet& set, const JudgedLabels& judged,
                               const Style& style);

}  // namespace upskill
