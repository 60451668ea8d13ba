// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_stored.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "eval/plan/alpha_share.h"
#include "eval/plan/plan.h"
#include "eval/verdict/ledger.h"
#include "fuzz/fuzz_checks.h"
#include "model/command_output.h"
#include "model/desk_files.h"
#include "prompts/prompt_template.h"
#include "prompts/prompts.h"
#include "report/terminal/ledger_text.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// The plan of a run that the ledgers of the corpus know.
Plan LookedAtPlan() {
  Plan plan;
  plan.run = "2026_01_02_10_00_00-0123";
  plan.skill = Snapshot("a-skill", "Fix it.");
  plan.suite = *ParseSuite(R"({"tests":[{"id":"a","input":"Fix it","expected":{"contains":["fix"]}}]})", "tests.json");
  plan.students = {{"sim:base=0.4", "sim", "sim:base=0.4"}};
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = 3;
  return plan;
}

void CheckShare(const Ledger& ledger, bool reuses_answers) {
  Plan plan = LookedAtPlan();
  TakeShare(ledger, "/no/such/folder", reuses_answers, plan);
  const double alpha = EffectiveAlpha(plan);
  CHECK(alpha > 0.0 && alpha <= plan.verdict.alpha);
  for (const auto& [student, evidence] : plan.share.prior)
    CHECK(std::isfinite(evidence.helps) && std::isfinite(evidence.hurts));
  const Result<Plan> again = PlanFromJson(PlanToJson(plan), "plan.json");
  CHECK(again.ok() && again->share.look == plan.share.look && again->planned_rounds == plan.planned_rounds);
  CHECK(!FindInvalidUtf8(AlphaNote(plan)));
}

void CheckRendered(const PromptTemplate& form, std::string_view input) {
  constexpr std::string_view kValue = "{{task}} value";
  PromptValues values;
  for (const std::string& name : form.Placeholders()) values[name] = kValue;
  const std::string text = form.Render(values);
  CHECK(text.size() <= input.size() + 20 * form.Placeholders().size() * kValue.size());
  // Nothing is taken away from a text without tags but the white space around it.
  if (input.find("{{") == std::string_view::npos) CHECK(text == Trim(input));
}

}  // namespace

void FuzzPrompt(std::string_view input) {
  const std::string text(input);
  if (const Result<PromptTemplate> form = PromptTemplate::Parse(text, {"count", "material", "task"}, "x.md");
      Parsed(form))
    CheckRendered(*form, input);
  // All kinds for each input would take two dozen times as long.
  const PromptKind& kind = PromptKinds()[input.size() % PromptKinds().size()];
  const Result<Prompts> prompts = Prompts::FromJson({{std::string(kind.name), text}}, "generation.json");
  if (!Parsed(prompts)) return;
  CHECK(prompts->Text(kind.name) == text);
  const Result<Prompts> again = Prompts::FromJson(prompts->ToJson(), "generation.json");
  CHECK(again.ok() && again->Hash() == prompts->Hash());
  prompts->Render(kind.name);
}

std::vector<std::string> PromptSeeds() {
  std::vector<std::string> seeds;
  for (const auto& [name, text] : BuiltInPromptTexts()) seeds.push_back(text);
  return seeds;
}

void FuzzLedger(std::string_view input) {
  const Ledger ledger = LedgerFromText(input);
  CHECK(ledger.runs.size() + ledger.skipped_lines <= SplitLines(input).size());
  for (const LedgerRun& run : ledger.runs) {
    CHECK(!run.run.empty() && std::is_sorted(run.inputs.begin(), run.inputs.end()));
    CHECK(run.rounds >= 1 && run.planned_rounds >= 1);
  }
  CheckShare(ledger, true);
  CheckShare(ledger, false);
  CHECK(ParseJson(DumpJson(LedgerToJson(ledger)), "runs --ledger --json").ok());
  CHECK(!FindInvalidUtf8(LedgerTable(ledger, Style{}).text()));
}

void FuzzCommandOutput(std::string_view input) {
  const Result<ChatResponse> answer = ReadCommandOutput(input);
  if (!Parsed(answer)) return;
  CHECK(!Trim(answer->text).empty() && !FindInvalidUtf8(answer->text));
  const Usage& usage = answer->usage;
  for (const std::int64_t tokens : {usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning})
    CHECK(tokens >= 0);
  CHECK(usage.prompt() >= 0);
  CHECK(!answer->cost_usd || (std::isfinite(*answer->cost_usd) && *answer->cost_usd >= 0.0));
}

void FuzzDesk(std::string_view input) {
  CHECK(!FindInvalidUtf8(DeskAnswerText(input)));
  if (const std::optional<std::string> key = DeskKeyIn(input)) CHECK(input.starts_with(DeskMark(*key)));
  CHECK(DeskKeyIn(DeskMark(DeskKeyOf(input)) + "\n" + std::string(input)) == DeskKeyOf(input));
}

}  // namespace upskill
