// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/run_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/plan/prompts.h"
#include "report/terminal/figures.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr double kSmallCost = 0.25;  // USD: not worth a line
constexpr double kLargeCost = 5.0;   // USD: asks for --max-cost

}  // namespace

double GuessedAnswerTokens(int max_tokens) { return std::min(300.0, static_cast<double>(max_tokens)); }

RunDemand DemandOf(const Plan& plan) {
  RunDemand demand;
  double cases_tokens = 0.0;
  for (const Case& test_case : plan.suite.cases)
    cases_tokens += static_cast<double>(EstimateTokens(UserMessage(test_case)));
  const std::size_t cases = plan.suite.cases.size();
  const double repeated = static_cast<double>(plan.rounds) / plan.shard.of;
  for (const Arm arm : plan.arms) {
    std::string prompt = SystemPrompt(plan, arm);
    demand.prompt_tokens += repeated * (static_cast<double>(cases * EstimateTokens(prompt)) + cases_tokens);
    // A skill that is read on demand needn't fit.
    const bool on_demand = plan.workspace && plan.workspace->load != SkillLoad::kBody;
    if (!on_demand && prompt.size() > demand.longest_system_prompt.size())
      demand.longest_system_prompt = std::move(prompt);
  }
  demand.answers = static_cast<std::size_t>(repeated * static_cast<double>(cases * plan.arms.size()));
  demand.output_tokens = GuessedAnswerTokens(plan.sampling.max_tokens) * static_cast<double>(demand.answers);
  return demand;
}

Status CheckSkillFits(const RunDemand& demand, const std::vector<std::unique_ptr<Model>>& models) {
  for (const std::unique_ptr<Model>& model : models) {
    const ModelInfo& info = model->info();
    if (info.context_tokens == 0) continue;
    // The estimate is up to twice the number: what may fit is tried.
    const std::size_t least =
        model->CountTokens(demand.longest_system_prompt).value_or(EstimateTokens(demand.longest_system_prompt) / 2);
    if (static_cast<std::int64_t>(least) < info.context_tokens) continue;
    return InputError(
        fmt::format("the skill doesn't fit into {}: the prompt with it takes at least {} tokens, but the model's "
                    "context has {}; choose "
                    "another model, or move what isn't always needed to files in references/",
                    info.name, WithThousands(static_cast<long long>(least)), WithThousands(info.context_tokens)));
  }
  return {};
}

Result<std::string> CheckCost(const RunDemand& demand, const std::vector<std::unique_ptr<Model>>& models,
                              bool limited) {
  double cost = 0.0;
  for (const std::unique_ptr<Model>& model : models) {
    const std::optional<Price> price = KnownPrice(model->info());
    if (!price || model->info().local) continue;  // of local models, a price is the user's own reckoning
    cost += (price->input * demand.prompt_tokens + price->output * demand.output_tokens) / 1e6 +
            price->request * static_cast<double>(demand.answers);
  }
  if (cost < kSmallCost) return std::string();
  const std::string text = fmt::format(
      "{} answers, with prompts of about {} tokens in all, are likely to cost about {}",
      WithThousands(static_cast<long long>(demand.answers) * static_cast<long long>(models.size())),
      WithThousands(std::llround(demand.prompt_tokens * static_cast<double>(models.size()))), MoneyText(cost));
  if (limited) return text;
  if (cost <= kLargeCost) return text + "; --max-cost USD sets a limit";
  return InputError(fmt::format("{}; to go ahead, set a limit: --max-cost {:.0f}", text, std::ceil(cost)));
}

}  // namespace upskill
