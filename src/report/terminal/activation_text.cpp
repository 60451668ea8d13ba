// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/activation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "report/terminal/style.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostShown = 5;
constexpr std::size_t kShownCharacters = 60;

// The queries of one kind that went wrong, those that did so most often first.
std::string WrongQueries(const Plan& plan, const ActivationSummary& activation, bool expected) {
  std::vector<QueryActivation> wrong;
  for (const QueryActivation& query : activation.queries) {
    if (query.expected == expected && query.wrong() > 0) wrong.push_back(query);
  }
  std::stable_sort(wrong.begin(), wrong.end(), [](const QueryActivation& a, const QueryActivation& b) {
    return a.wrong() * b.answers > b.wrong() * a.answers;
  });
  std::string text;
  for (std::size_t i = 0; i < wrong.size() && i < kMostShown; ++i) {
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ",
                        ExcerptLine(plan.suite.cases[wrong[i].case_index].input, kShownCharacters));
    if (wrong[i].answers > 1) text += fmt::format(" ({} of {})", wrong[i].wrong(), wrong[i].answers);
  }
  if (wrong.size() > kMostShown) text += fmt::format(" and {} more", wrong.size() - kMostShown);
  return text;
}

}  // namespace

std::string ActivationRateText(const ActivationRate& rate) {
  if (!rate.value()) return "–";
  const Interval interval = rate.interval();
  return fmt::format("{} ({} of {}; 95 %: {} … {})", PercentText(*rate.value()), rate.hits, rate.of,
                     PercentText(interval.low), PercentText(interval.high));
}

Json ActivationRateToJson(const ActivationRate& rate) {
  const Interval interval = rate.interval();
  return {{"value", JsonOrNull(rate.value())},
          {"low", rate.of == 0 ? Json(nullptr) : Json(interval.low)},
          {"high", rate.of == 0 ? Json(nullptr) : Json(interval.high)},
          {"hits", rate.hits},
          {"of", rate.of}};
}

std::vector<std::pair<std::string, std::string>> ActivationLines(const Plan& plan, const StudentSummary& student) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!student.activation) return lines;
  const ActivationSummary& activation = *student.activation;
  lines.emplace_back("recall", ActivationRateText(activation.recall()) + " read when it should be");
  lines.emplace_back("precision", ActivationRateText(activation.precision()) + " rightly, of the answers that read it");
  lines.emplace_back("left alone", ActivationRateText(activation.specificity()) + " not read when it should not be");
  if (const ActivationRate ignored = activation.ignored(); ignored.hits > 0) {
    lines.emplace_back("ignored", fmt::format("{} of {} read it and did not follow it: they turned to another skill "
                                              "afterwards, or failed the query's other checks",
                                              ignored.hits, Counted(ignored.of, "answer")));
  }
  if (std::string missed = WrongQueries(plan, activation, true); !missed.empty())
    lines.emplace_back("not read", std::move(missed));
  if (std::string misled = WrongQueries(plan, activation, false); !misled.empty())
    lines.emplace_back("misread", std::move(misled));
  return lines;
}

Json ActivationToJson(const Plan& plan, const ActivationSummary& activation) {
  Json others = Json::array();
  for (const SkillFolder& other : plan.workspace->others) others.push_back(other.name);
  Json queries = Json::array();
  for (const QueryActivation& query : activation.queries) {
    queries.push_back({{"id", plan.suite.cases[query.case_index].id},
                       {"query", plan.suite.cases[query.case_index].input},
                       {"should_trigger", query.expected},
                       {"answers", query.answers},
                       {"read", query.read},
                       {"ignored", query.ignored}});
  }
  return {{"description", plan.workspace->skill.description},
          {"among", std::move(others)},
          {"recall", ActivationRateToJson(activation.recall())},
          {"precision", ActivationRateToJson(activation.precision())},
          {"specificity", ActivationRateToJson(activation.specificity())},
          {"ignored", ActivationRateToJson(activation.ignored())},
          {"queries", std::move(queries)}};
}

}  // namespace upskill
