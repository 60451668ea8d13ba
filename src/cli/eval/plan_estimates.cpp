// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/plan_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ranges>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "check/check.h"
#include "cli/env/model_costs.h"
#include "eval/journal/journal.h"
#include "eval/plan/alpha_share.h"
#include "eval/plan/plan.h"
#include "eval/run/judge_prompt.h"
#include "eval/verdict/ledger.h"
#include "model/model_spec.h"
#include "stats/multiplicity.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// The newest plan with the model, and its student alone.
std::optional<Plan> NewestPlanWith(const std::string& model, const fs::path& runs_dir) {
  const std::vector<fs::path> runs = FindRuns(runs_dir);
  for (const fs::path& run : std::views::reverse(runs)) {
    Result<Plan> plan = LoadPlan(run);
    if (!plan || plan->imported || plan->measures_activation()) continue;
    const auto student = std::find_if(plan->students.begin(), plan->students.end(),
                                      [&](const Student& one) { return one.spec == model; });
    if (student == plan->students.end()) continue;
    plan->students = {*student};
    return *std::move(plan);
  }
  return std::nullopt;
}

// `plan`: of an earlier run with the model.
NextLook LookOf(Plan plan, const Skill& skill, const Suite& suite, double alpha, const Ledger& ledger,
                const fs::path& runs_dir) {
  plan.run.clear();
  plan.skill = Snapshot(skill);
  plan.suite = suite;
  plan.verdict.alpha = alpha;
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = kMaxRounds;  // unlike those of a run that it would continue
  plan.planned_rounds = 0;
  plan.sampling.seed = UnseenSeed(ledger, runs_dir, plan);
  TakeShare(ledger, runs_dir, true, plan);
  return {.number = std::max(plan.share.look, 1), .planned_rounds = plan.planned_rounds, .alpha = EffectiveAlpha(plan)};
}

// Processor time of a token of an answer, with its share of the prompts and many answers in one batch: the default
// model (Q8_0, 145 MB) needed 18 s for 10,585 tokens, Qwen2.5-Coder-1.5B (Q4_K_M, 1.1 GB) 66 s for 5,395, on processors
// of 2024 with VNNI (bench/README.md). Short answers pay more for prompts, hence the higher first figure.
constexpr double kSecondsOfToken = 0.002;
constexpr double kSecondsOfTokenPerByte = 9e-12;
constexpr double kBytesOfDefaultModel = 145e6;
constexpr double kBytesOfUnknownModel = 2e9;

// Of an answer over the network: before its first token, and each token.
constexpr double kFirstToken = 1.0;
constexpr double kTokensPerSecond = 85.0;

double BytesOf(const ModelSpec& spec) {
  if (spec.provider != "llama") return kBytesOfDefaultModel;
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(spec.rest, code);
  return code ? kBytesOfUnknownModel : static_cast<double>(std::max<std::uintmax_t>(bytes, 1));
}

constexpr double kVerdictTokens = 200.0;  // of a judge's answer, without reasoning

}  // namespace

Result<std::vector<NextLook>> FindNextLooks(const fs::path& runs_dir, const Skill& skill, const Suite& suite,
                                            const std::vector<std::string>& models, double alpha) {
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(runs_dir));
  std::vector<NextLook> looks;
  looks.reserve(models.size());
  for (const std::string& model : models) {
    std::optional<Plan> plan = NewestPlanWith(model, runs_dir);
    looks.push_back(plan ? LookOf(*std::move(plan), skill, suite, alpha, ledger, runs_dir)
                         : NextLook{.number = 1, .planned_rounds = 0, .alpha = CandidateAlpha(1, alpha)});
  }
  return looks;
}

std::string LookText(const NextLook& look) {
  std::string text;
  if (look.number > 1)
    text = fmt::format("look {} at these tests, so more evidence is needed than at the first one", look.number);
  if (look.planned_rounds > 0) {
    text += fmt::format("{}the run goes on after {}, which it began with and which count as the first of `rounds`",
                        text.empty() ? "" : "; ", Counted(static_cast<std::size_t>(look.planned_rounds), "round"));
  }
  return text;
}

AnswerTime TimeOfAnswer(const KnownStudent& known, const ModelSpec& spec, double output, int parallel) {
  if (known.answers > 0)
    return {known.seconds, fmt::format("from {} of earlier runs", Counted(known.answers, "answer"))};
  const bool in_process = spec.provider == "llama" || spec.provider == "embedded";
  // Answers in process are made together: what a short one took says nothing about a long one.
  if (known.seconds_per_token && !in_process)
    return {*known.seconds_per_token * output, "from its answers to other cases"};
  if (spec.provider == "sim") return {0.0, "simulated students take none"};
  if (!in_process) {
    return {
        kFirstToken + output / kTokensPerSecond,
        fmt::format("a guess of {:.0f} s and {:.0f} tokens per second for each answer", kFirstToken, kTokensPerSecond)};
  }
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const double rate = processors / (kSecondsOfToken + kSecondsOfTokenPerByte * BytesOf(spec));
  return {parallel * output / rate,
          fmt::format("a guess of {:.2g} tokens per second of all answers together on {}; the first run shows this "
                      "machine's speed",
                      rate, Counted(processors, "processor"))};
}

Result<JudgeEstimate> EstimateJudge(const std::string& judge_model, const Suite& suite, const Catalog& catalog,
                                    double answer_tokens) {
  ASSIGN_OR_RETURN(const ModelSpec spec, ParseModelSpec(judge_model, {&catalog, false}));
  JudgeEstimate estimate;
  estimate.local = RunsInProcess(spec);
  double prompt = 0.0;
  for (const Case& test_case : suite.cases) {
    ASSIGN_OR_RETURN(const CaseChecks checks, CaseChecks::Make(test_case, DefaultSandbox(), true));
    for (const AskedQuestion& asked : checks.QuestionsAbout("an answer", checks.Waiting())) {
      const ChatRequest request = JudgeRequest(test_case, asked);
      prompt += static_cast<double>(EstimateTokens(request.system) + EstimateTokens(request.messages.front().text)) +
                answer_tokens;
      estimate.requests += 1.0;
    }
  }
  const auto cases = static_cast<double>(suite.cases.size());
  prompt /= cases;
  estimate.requests /= cases;
  const double output = estimate.requests * kVerdictTokens;
  estimate.tokens = prompt + output;
  if (const std::optional<Price> price = catalog.PriceOf(spec.provider, PricedName(spec));
      !RunsInProcess(spec) && price)
    estimate.usd = (prompt * price->input + output * price->output) / 1e6;
  return estimate;
}

}  // namespace upskill
