// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/agreement_text.h"

#include <fmt/format.h>

#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::uint64_t kSeed = 1;  // of the interval of Krippendorff's alpha

std::string Percent(const AgreementEstimate& rate) {
  return fmt::format("{:.0f} % (95 %: {:.0f} … {:.0f})", WholePercent(rate.value), WholePercent(rate.interval.low),
                     WholePercent(rate.interval.high));
}

std::string Coefficient(const std::optional<AgreementEstimate>& estimate) {
  if (!estimate) return "undefined: all labels are equal";
  return fmt::format("{:.2f} (95 %: {:.2f} … {:.2f})", estimate->value, estimate->interval.low,
                     estimate->interval.high);
}

Json EstimateToJson(const std::optional<AgreementEstimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"low", estimate->interval.low}, {"high", estimate->interval.high}};
}

}  // namespace

JudgeAgreement AgreementOf(const LabelSet& set, const JudgedLabels& judged, const std::string& judge) {
  JudgeAgreement agreement;
  agreement.judge = judge;
  agreement.unlabelled = set.unlabelled;
  std::vector<ItemLabels> all;
  std::vector<ItemLabels> people;
  std::vector<WeightedLabel> weighted;
  for (std::size_t i = 0; i < set.answers.size(); ++i) {
    people.push_back(set.answers[i].labels);
    if (judged.judgments[i].key.empty()) {
      ++agreement.unjudged;
      continue;
    }
    const bool passes = judged.judgments[i].judgment.word == JudgeWord::kMet;
    ItemLabels& labels = all.emplace_back(set.answers[i].labels);
    labels.emplace_back(passes);
    const std::optional<bool> majority = set.answers[i].people();
    if (!majority) {
      ++agreement.divided;
      continue;
    }
    agreement.counts.Add(passes, *majority);
    weighted.push_back({passes, *majority, set.answers[i].times()});
    if (passes != *majority) agreement.disagreements.push_back(i);
  }
  agreement.kappa = CohenKappa(agreement.counts);
  agreement.alpha = KrippendorffAlpha(all, kSeed);
  if (set.raters.size() > 1) agreement.people_alpha = KrippendorffAlpha(people, kSeed);
  agreement.rates = RatesOfJudge(EffectiveOf(weighted));
  return agreement;
}

TerminalText AgreementText(const JudgeAgreement& agreement) {
  const ConfusionCounts& counts = agreement.counts;
  TerminalText text = TerminalText::Format("judge  {} · {} that people have labelled", agreement.judge,
                                           Counted(static_cast<std::size_t>(counts.total()), "answer"));
  if (agreement.divided > 0) text += TerminalText::Format(" · {} on which they are divided", agreement.divided);
  if (agreement.unlabelled > 0) text += TerminalText::Format(" · {} without a label", agreement.unlabelled);
  if (agreement.unjudged > 0) text += TerminalText::Format(" · {} not judged", agreement.unjudged);
  text += TerminalText::Format("\n\n{:<14} {:>11} {:>11}\n", "", "people pass", "people fail");
  text += TerminalText::Format("{:<14} {:>11} {:>11}\n", "judge passes", counts.both_pass, counts.judge_only);
  text += TerminalText::Format("{:<14} {:>11} {:>11}\n\n", "judge fails", counts.people_only, counts.both_fail);
  if (counts.total() == 0) return text + "nothing to compare\n";
  const std::int64_t agreed = counts.both_pass + counts.both_fail;
  text += TerminalText::Format("agreement            {:.0f} % ({} of {})\n",
                               WholePercent(static_cast<double>(agreed) / static_cast<double>(counts.total())), agreed,
                               counts.total());
  text += TerminalText::Format("Cohen's kappa        {}\n", Coefficient(agreement.kappa));
  text += TerminalText::Format("Krippendorff's alpha {}\n", Coefficient(agreement.alpha));
  if (agreement.people_alpha)
    text += TerminalText::Format("alpha of people      {}\n", Coefficient(agreement.people_alpha));
  if (!agreement.rates) return text + "error rates unknown: people passed all answers, or failed all\n";
  text +=
      TerminalText::Format("sensitivity          {}: passes what people pass\n", Percent(agreement.rates->sensitivity));
  text +=
      TerminalText::Format("specificity          {}: fails what people fail\n", Percent(agreement.rates->specificity));
  return text;
}

Json AgreementToJson(const JudgeAgreement& agreement) {
  const auto rate = [&](AgreementEstimate JudgeRates::* which) {
    return agreement.rates ? EstimateToJson((*agreement.rates).*which) : Json(nullptr);
  };
  Json json = {{"judge", agreement.judge},
               {"divided", agreement.divided},
               {"unlabelled", agreement.unlabelled},
               {"unjudged", agreement.unjudged},
               {"kappa", EstimateToJson(agreement.kappa)},
               {"alpha", EstimateToJson(agreement.alpha)},
               {"people_alpha", EstimateToJson(agreement.people_alpha)},
               {"sensitivity", rate(&JudgeRates::sensitivity)},
               {"specificity", rate(&JudgeRates::specificity)}};
  PutCounts(agreement.counts, json);
  return json;
}

TerminalText DisagreementsText(const JudgeAgreement& agreement, const LabelSet& set, const JudgedLabels& judged,
                               const Style& style) {
  TerminalText text;
  for (const std::size_t i : agreement.disagreements) {
    const LabelledAnswer& answer = set.answers[i];
    const Judgment& judgment = judged.judgments[i].judgment;
    const bool passes = judgment.word == JudgeWord::kMet;
    const TerminalText head =
        passes ? TerminalText("the judge passes, people fail") : TerminalText("the judge fails, people pass");
    text += TerminalText::Format("\n{}\n", Tinted(style, Tint::kBold, head));
    text += TerminalText::Format("  rubric  {}\n", ExcerptLine(answer.asked.question.rubric, 200));
    text += TerminalText::Format("  answer  {}\n", ExcerptLine(answer.asked.text, 200));
    text += TerminalText::Format("  judge   {}\n", ExcerptLine(judgment.reason, 400));
  }
  return text;
}

}  // namespace upskill
