// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/check_judge.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/env/config.h"
#include "cli/options/option_checks.h"
#include "eval/run/judge_answers.h"
#include "net/http_client.h"
#include "report/terminal/figures.h"
#include "report/terminal/judge_text.h"
#include "util/text.h"

namespace upskill {

void AddCheckJudgeOptions(CLI::App& command, CheckJudgeOptions& options) {
  command
      .add_option("--judge-model", options.model,
                  "Model that judges answers for checks of the type `judge`; without one, these checks are skipped")
      ->type_name("MODEL");
  command.add_option("--base-url", options.base_url, "OpenAI-compatible server for a judge with a plain model name")
      ->type_name("URL");
  command.add_option("--max-cost", options.max_cost_usd, "Stop before the judge exceeds this cost (USD)")
      ->check(PositiveNumber())
      ->type_name("USD");
  command
      .add_option("-d,--runs-dir", options.runs_dir,
                  "Folder where the judge's verdicts are kept [default: the configured runs folder, else ./runs]")
      ->type_name("DIR");
}

Result<std::unique_ptr<CheckJudge>> CheckJudge::Open(const CheckJudgeOptions& options, const Suite& suite,
                                                     const Env& env) {
  ASSIGN_OR_RETURN(const Config config, LoadConfig(env));
  const std::filesystem::path runs_dir = RunsFolder(options.runs_dir, config);
  ModelOptions model_options;
  model_options.client = std::make_shared<HttpClient>();
  if (!options.base_url.empty()) model_options.base_urls.push_back(options.base_url);
  ASSIGN_OR_RETURN(OpenedJudge judge, OpenJudge(options.model, model_options, suite, runs_dir, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge.model, options.model));
  ASSIGN_OR_RETURN(JudgmentStore store, JudgmentStore::Open(runs_dir));
  return std::unique_ptr<CheckJudge>(new CheckJudge(std::move(judge), std::move(store), options.max_cost_usd, env));
}

std::vector<Result<Judgments>> CheckJudge::Ask(const std::vector<AnswerToJudge>& answers) {
  RunLimits limits;
  limits.max_cost_usd = max_cost_usd_;
  JudgedAnswers judged = JudgeAnswers(*judge_.model, answers, limits, *env_->clock, env_->stop, &store_, nullptr);
  std::vector<Result<Judgments>> results;
  results.reserve(judged.answers.size());
  for (JudgedAnswer& answer : judged.answers) {
    if (answer.error) {
      results.emplace_back(*std::move(answer.error));
    } else {
      ++answers_;
      results.emplace_back(std::move(answer.judgments));
    }
  }
  known_ += judged.known;
  cost_usd_ = cost_usd_ && judged.cost_usd ? std::optional(*cost_usd_ + *judged.cost_usd) : std::nullopt;
  unsaved_ = std::move(judged.unsaved);
  return results;
}

TerminalText CheckJudge::Text() const {
  std::string spent = fmt::format("{} judged {}", judge_.described.name, Counted(answers_, "answer"));
  if (known_ > 0)
    spent += fmt::format(", {} of its verdicts known from before", WithThousands(static_cast<long long>(known_)));
  if (cost_usd_.value_or(1.0) > 0.0) spent += cost_usd_ ? ", " + MoneyText(*cost_usd_) : ", cost unknown";
  return TerminalText::Format("{}\n{}\n", JudgeText(judge_.described), spent);
}

Json CheckJudge::ToJson() const {
  return {{"model", judge_.described.spec},
          {"name", judge_.described.name},
          {"answers", answers_},
          {"known", known_},
          {"cost_usd", JsonOrNull(cost_usd_)}};
}

}  // namespace upskill
