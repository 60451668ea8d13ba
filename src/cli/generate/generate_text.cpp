// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/model_spec.h"
#include "report/export/eval_json.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/ledger_text.h"
#include "report/terminal/result_sentence.h"
#include "teach/critique.h"
#include "teach/evidence.h"
#include "teach/generation_budget.h"
#include "teach/one_line.h"
#include "teach/probe.h"
#include "teach/read_parts.h"
#include "trace/digest/digest.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

std::string PriceText(const Model& model) {
  const std::optional<Price> price = KnownPrice(model.info());
  if (!price) return "price unknown";
  if (price->input == 0.0 && price->output == 0.0) return "free";
  return fmt::format("${:.2f} in, ${:.2f} out per million tokens", price->input, price->output);
}

Json CostToJson(const StageCost& cost) {
  return {{"calls", cost.calls},
          {"prompt_tokens", cost.prompt_tokens},
          {"output_tokens", cost.output_tokens},
          {"cost_usd", cost.all_costs_known ? Json(cost.usd) : Json(nullptr)}};
}

// "1 call, 100 tokens in, 50 out, $0.0100".
std::string CostText(const StageCost& cost, const char* one) {
  std::string usd;
  if (cost.usd > 0) usd = fmt::format(", {}{}", cost.all_costs_known ? "" : "at least ", MoneyText(cost.usd));
  if (usd.empty() && !cost.all_costs_known) usd = ", cost unknown";
  if (cost.prompt_tokens + cost.output_tokens == 0)  // a command may not tell
    return fmt::format("{}, tokens unknown{}", Counted(cost.calls, one), usd);
  return fmt::format("{}, {} in, {} out{}", Counted(cost.calls, one),
                     Counted(static_cast<std::size_t>(cost.prompt_tokens), "token"), WithThousands(cost.output_tokens),
                     usd);
}

// The students' answers that it took to find the best candidate, over all sessions.
std::size_t CallsOfTrials(const GenerationFacts& facts) {
  std::size_t calls = 0;
  for (const char* stage : {"train", "screen"}) {
    const auto found = facts.students.find(stage);
    if (found != facts.students.end()) calls += found->second.calls;
  }
  return calls;
}

// A line of the result, which a terminal would otherwise break within words.
void PrintLine(const std::string& line, Env& env) {
  constexpr std::size_t kIndent = 7;
  env.out((env.out_is_terminal ? Wrapped(line, env.columns, kIndent) : TerminalText::EscapeLine(line)) + "\n");
}

void PrintCosts(const GenerateOutcome& outcome, const GenerationFacts& facts, Env& env) {
  double usd = 0.0;
  bool known = true;
  const auto print = [&](const char* who, const char* stage, const char* one,
                         const std::map<std::string, StageCost>& stages) {
    const auto found = stages.find(stage);
    if (found == stages.end()) return;
    const StageCost& cost = found->second;
    if (cost.calls > 0) env.out(TerminalText::Format("{} {:<8} {}\n", who, stage, CostText(cost, one)));
    known = known && cost.all_costs_known;
    usd += cost.usd;
  };
  for (const char* stage :
       {"notes", "digest", "draft", "critique", "cases", "refine", "describe", "tests: notes", "tests: cases"})
    print("teacher", stage, "call", facts.teachers);
  for (const char* stage : {"baseline", "probe", "train", "screen", "test"})
    print("student", stage, "answer", facts.students);
  if (const std::size_t calls = CallsOfTrials(facts); calls < outcome.full_student_calls) {
    PrintLine(fmt::format("finding the best candidate took {}, {:.0f} % of the {} needed to measure every one in full",
                          Counted(calls, "student answer"),
                          100.0 * static_cast<double>(calls) / static_cast<double>(outcome.full_student_calls),
                          outcome.full_student_calls),
              env);
  }
  if (usd > 0) PrintLine(fmt::format("spent {}{}", known ? "" : "at least ", MoneyText(usd)), env);
}

std::string NotMeasured(const GenerateOutcome& outcome) {
  if (outcome.resumable) return "not measured: stopped early";
  return outcome.cases.empty() ? "not measured: no sound test could be made from the sources (-t names your own)"
                               : "not measured";
}

bool PassedNothing(const GenerateOutcome& outcome, const Student& student) {
  return std::any_of(outcome.passed_nothing.begin(), outcome.passed_nothing.end(),
                     [&](const FailingStudent& failing) { return failing.student.spec == student.spec; });
}

// What is said first: whether the skill helps.
std::string Headline(const GenerateOutcome& outcome) {
  std::string text;
  const auto add = [&](const std::string& student, const std::string& word) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", student, word);
  };
  if (outcome.measured) {
    const JudgedRun& judged = outcome.measured->judged;
    for (std::size_t i = 0; i < judged.verdicts.size(); ++i)
      add(judged.summary.students[i].student.name, VerdictName(judged.verdicts[i].word));
  } else {
    for (const Student& student : outcome.students)
      if (!PassedNothing(outcome, student))
        add(student.name, outcome.nothing_to_learn ? kNothingToLearn : NotMeasured(outcome));
  }
  for (const FailingStudent& failing : outcome.passed_nothing) add(failing.student.name, kPassedNothing);
  for (const FailingStudent& small : outcome.too_small) add(small.student.name, kTooSmall);
  const bool is_known =
      outcome.measured || outcome.nothing_to_learn || !outcome.too_small.empty() || !outcome.passed_nothing.empty();
  return text.empty() || !is_known ? NotMeasured(outcome) : text;
}

// Why there is no verdict, and what would give one.
void PrintWhyNoVerdict(const GenerateOutcome& outcome, Env& env) {
  const std::string& skill = outcome.candidates[outcome.chosen].skill.name;
  for (const FailingStudent& small : outcome.too_small) {
    PrintLine(
        fmt::format(
            "{} failed all {} even with the reference answers in place of the skill, so no skill can "
            "help with these tests; {} was not measured with this student{}",
            small.student.name, Counted(small.answers, "answer"), skill,
            outcome.students.empty() ? ", and is kept as it was written. --eval-model names a larger student" : ""),
        env);
  }
  for (const FailingStudent& failing : outcome.passed_nothing) {
    PrintLine(
        fmt::format(
            "none of {} of {} to the train tests passes, with {} or without, so the skill was not measured on the "
            "held-out tests. Use easier tests (-t), a larger student (--eval-model) or more refinement "
            "(--max-attempts)",
            Counted(failing.answers, "answer"), failing.student.name, skill),
        env);
  }
  if (outcome.nothing_to_learn) {
    PrintLine(fmt::format("all {} to the train tests pass without a skill: there is nothing to refine or to "
                          "measure. Use harder tests (-t) or a smaller student (--eval-model)",
                          Counted(outcome.passed_without, "answer")),
              env);
  }
}

// What is stored of a generation.
struct KeptAnswers {
  std::size_t of_teachers = 0;
  std::size_t of_students = 0;
  double cost_usd = 0.0;  // as far as it is known
};

KeptAnswers KeptAnswersOf(const GenerateSession& session, const std::map<std::string, StageCost>& students) {
  KeptAnswers kept;
  for (const auto* teacher : {&session.teacher, &session.test_teacher}) {
    if (!*teacher) continue;
    kept.of_teachers += (*teacher)->answers();
    kept.cost_usd += (*teacher)->cost_usd();
  }
  for (const auto& [stage, cost] : students) {
    kept.of_students += cost.calls;
    kept.cost_usd += cost.usd;
  }
  return kept;
}

}  // namespace

void PrintDryRun(const GenerateSession& session, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const Material& material = session.sources.material;
  const std::size_t tokens =
      EstimateTokens(ItemsText(material, 0, material.items.size()) + material.task + ExamplesText(material));
  PrintLine(
      fmt::format("material  {}, about {} without headings and sources, {}", Counted(material.items.size(), "item"),
                  Counted(tokens, "token"), Counted(material.requests.size(), "user request")),
      env);
  const std::size_t context = options.how.context_tokens;
  const auto attempts = static_cast<std::size_t>(options.how.attempts);
  const std::size_t parts = CountParts(material, context);
  const std::size_t read = parts > 1 ? tokens : 0;  // in parts, before the other requests
  const std::size_t others = 2 + (options.no_critique ? 0 : 1) + attempts;
  const std::size_t calls = others + (parts > 1 ? parts : 0);
  // A chat has the material of the first request.
  const std::size_t with_material = options.model.starts_with(kDeskPrefix) ? 1 : others;
  constexpr std::size_t kFailureTokens = 8000;  // the failed answers that an attempt tells of
  const std::size_t in =
      read + with_material * std::min(tokens, context) + attempts * std::min(context / 2, kFailureTokens);
  const std::size_t out = calls * 3000;
  if (parts > 1)
    PrintLine(fmt::format("reading   {}, because the material is too long for one request ({})", Counted(parts, "part"),
                          Counted(context, "token")),
              env);
  env.out(TerminalText::Format(
      "teacher   {} ({}): about {} requests{} (more if answers have to be repeated), up to about {} tokens in, {} out",
      session.options.model, PriceText(*session.teacher_model), calls,
      options.no_critique ? "" : ", one of them to correct its draft", WithThousands(static_cast<long long>(in)),
      WithThousands(static_cast<long long>(out))));
  if (session.teacher_model->info().price) {
    Usage usage;
    usage.input = static_cast<std::int64_t>(in);
    usage.output = static_cast<std::int64_t>(out);
    if (const double usd = CostUsd(*session.teacher_model->info().price, usage); usd > 0.0)
      env.out(TerminalText::Format(", up to about ${:.2f}", usd));
  }
  env.out("\n");
  const auto held_out = static_cast<std::size_t>(options.how.holdout * static_cast<double>(options.how.cases));
  const std::size_t test = std::max<std::size_t>(1, held_out);
  const std::size_t train = std::max<std::size_t>(1, options.how.cases - test);
  const std::size_t changes = attempts * options.how.candidates;
  const std::size_t cells = (2 + changes) * train * static_cast<std::size_t>(options.how.train_rounds) +
                            2 * test * static_cast<std::size_t>(options.how.runs) + kProbeCases +
                            kKnownRounds * options.how.cases;
  for (const auto& model : session.student_models) {
    PrintLine(
        fmt::format("student   {} ({}): about {}", model->info().name, PriceText(*model), Counted(cells, "answer")),
        env);
  }
  env.out("no requests were sent\n");
}

bool WroteNothing(const GenerateOutcome& outcome) {
  return outcome.candidates.size() == 1 && outcome.candidates.front().kind == "existing";
}

namespace {

// What has become of the existing skill's text.
void PrintChanges(const GenerateSession& session, const GenerateOutcome& outcome, const Placing& placing, Env& env) {
  const fs::path& before = placing.previous.empty() ? session.sources.existing_folder : placing.previous;
  const Candidate& chosen = outcome.candidates[outcome.chosen];
  if (WroteNothing(outcome)) return env.out("the teacher wrote nothing usable: the skill's text stays as it is\n");
  if (chosen.kind == "existing") {
    return PrintLine(fmt::format("no new version was better on the train tests, so the skill's text stays as it is{}; "
                                 "the new versions are kept in lineage.json, not measured on the held-out tests",
                                 outcome.measured ? ", and the results below are for that text" : ""),
                     env);
  }
  if (before.empty()) return;
  if (!chosen.why.empty()) PrintLine(fmt::format("reason  {}", OneLine(chosen.why)), env);
  PrintLine(fmt::format("changes  diff -u {} {}", ShellWord((before / "SKILL.md").string()),
                        ShellWord((placing.target / "SKILL.md").string())),
            env);
  const std::vector<std::string>& lost = outcome.lost_facts;
  if (lost.empty()) return;
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(lost.size(), 3));
  PrintLine(fmt::format("lost  facts of the existing skill that the new one lacks: {}{}",
                        fmt::join(lost.begin(), lost.begin() + shown, "; "),
                        lost.size() > 3 ? fmt::format(" and {} more (skill_meta.json has them)", lost.size() - 3) : ""),
            env);
}

}  // namespace

void PrintOutcome(const GenerateSession& session, const GenerateOutcome& outcome, const GenerationFacts& facts,
                  const Placing& placing, bool estimated, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const Candidate& chosen = outcome.candidates[outcome.chosen];
  if (!session.is_part) {
    PrintLine(fmt::format("{}", Headline(outcome)), env);
    PrintWhyNoVerdict(outcome, env);
  }
  if (!placing.reason.empty()) {
    PrintLine(fmt::format("the existing skill stays as it is: {}{}", placing.reason,
                          options.log_runs ? "" : "; the new one isn't kept (--no-log-runs)"),
              env);
  }
  if (!placing.previous.empty()) PrintLine(fmt::format("previous files  {}", placing.previous.string()), env);
  PrintLine(fmt::format("skill  {} · {}{} · {}", placing.target.string(), estimated ? "about " : "",
                        Counted(chosen.tokens, "token"), chosen.skill.name),
            env);
  PrintChanges(session, outcome, placing, env);
  if (session.is_part) {
    // The other command has tests of its own.
  } else if (outcome.before_tests && !outcome.cases.empty()) {
    env.out(TerminalText::Format("tests  the {} there were: the generation was stopped before others were written\n",
                                 outcome.cases.size()));
  } else if (!outcome.cases.empty() || !outcome.rejected_cases.empty()) {
    PrintLine(fmt::format("tests  {} sound, {} rejected; {} held out", outcome.cases.size(),
                          outcome.rejected_cases.size(), outcome.test.size()),
              env);
  } else if (!outcome.stopped.empty() && outcome.tests_problem.empty()) {
    env.out("tests  none yet: the generation was stopped before they were written\n");
  }
  if (!outcome.tests_problem.empty()) PrintLine(fmt::format("no tests were written: {}", outcome.tests_problem), env);
  if (outcome.uncited_rules > 0)
    PrintLine(fmt::format("left out {} that {} no source", Counted(outcome.uncited_rules, "rule"),
                          outcome.uncited_rules == 1 ? "cites" : "cite"),
              env);
  for (const std::string& rule : outcome.contradicted_rules)
    PrintLine(fmt::format("left out because the material contradicts it: {}", CutToColumns(OneLine(rule), 120)), env);
  for (const std::string& rule : outcome.unsupported_rules)
    PrintLine(fmt::format("left out because it says nothing, or because the items that it cites don't show it: {}",
                          CutToColumns(OneLine(rule), 120)),
              env);
  if (!outcome.critique.empty())
    PrintLine(fmt::format("critique  {} (skill_meta.json has them)", Counted(outcome.critique.size(), "point")), env);
  if (outcome.coverage.items > 0)
    PrintLine(fmt::format("coverage  {}", CoverageLine(outcome.coverage, session.sources.material)), env);
  if (!outcome.refine_end.empty()) PrintLine(fmt::format("refinement ended because {}", outcome.refine_end), env);
  if (outcome.measured) {
    const JudgedRun& judged = outcome.measured->judged;
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    if (const std::string note = LookNote(judged.plan(), false); !note.empty())
      PrintLine(fmt::format("note   {}", note), env);
    env.out("\n");
    PrintLine(fmt::format("{} on the {}:", chosen.skill.name, Counted(outcome.test.size(), "held-out test")), env);
    env.out(ResultLines(judged, style) + "\n" + EvalBars(judged, style));
  }
  PrintCosts(outcome, facts, env);
  PrintLine(fmt::format("generation {} · {}", session.id, (placing.target / "lineage.json").string()), env);
  if (options.no_eval && !session.is_part && !outcome.cases.empty())
    env.out(TerminalText::Format("next: measure {}\n  upskill eval {}\n", chosen.skill.name,
                                 ShellWord(placing.target.string())));
}

Json OutcomeToJson(const GenerateSession& session, const GenerateOutcome& outcome, const Placing& placing,
                   const GenerationFacts& facts) {
  Json json = {{"generation", session.id},
               {"skill", placing.target.string()},
               {"accepted", placing.reason.empty()},
               {"rejected_because", placing.reason.empty() ? Json(nullptr) : Json(placing.reason)},
               {"generated_by", session.options.model},
               {"cases", outcome.cases.size()},
               {"test_cases", outcome.test.size()},
               {"rejected_cases", outcome.rejected_cases.size()},
               {"tests_problem", outcome.tests_problem.empty() ? Json(nullptr) : Json(outcome.tests_problem)},
               {"candidates", outcome.candidates.size()},
               {"chosen", outcome.candidates[outcome.chosen].id},
               {"tokens", outcome.candidates[outcome.chosen].tokens},
               {"contradicted_rules", outcome.contradicted_rules},
               {"unsupported_rules", outcome.unsupported_rules},
               {"critique_points", outcome.critique.size()},
               {"untouched_items", outcome.coverage.untouched},
               {"lost_facts", outcome.lost_facts},
               {"refine_end", outcome.refine_end.empty() ? Json(nullptr) : Json(outcome.refine_end)},
               {"student_calls", CallsOfTrials(facts)},
               {"full_student_calls", outcome.full_student_calls},
               {"stopped", outcome.stopped.empty() ? Json(nullptr) : Json(outcome.stopped)},
               {"too_small", Json::array()},
               {"passed_nothing", Json::array()},
               {"nothing_to_learn", outcome.nothing_to_learn},
               {"stages", {{"teacher", Json::object()}, {"student", Json::object()}}},
               {"result", nullptr}};
  for (const FailingStudent& small : outcome.too_small) json["too_small"].push_back(small.student.spec);
  for (const FailingStudent& failing : outcome.passed_nothing) json["passed_nothing"].push_back(failing.student.spec);
  for (const auto& [stage, cost] : facts.teachers) json["stages"]["teacher"][stage] = CostToJson(cost);
  for (const auto& [stage, cost] : facts.students) json["stages"]["student"][stage] = CostToJson(cost);
  if (outcome.measured) json["result"] = EvalToJson(outcome.measured->judged);
  return json;
}

namespace {

// The skill is there, but no tests: the same requests would get the same answers.
void PrintWaysToTests(const GenerateSession& session, const fs::path& skill, Env& env) {
  if (skill.empty()) return;
  std::string command = "upskill eval " + ShellWord(skill.string());
  for (const std::string& student : session.options.eval_models) command += " -m " + ShellWord(student);
  env.error(TerminalText::Format(
      "Measure the skill with tests of another model, or with your own (`upskill help files` shows the format):\n"
      "  {0} --test-gen-model MODEL\n  {0} -t FILE\n",
      command));
}

}  // namespace

void PrintStop(const GenerateSession& session, const std::map<std::string, StageCost>& students,
               const std::string& reason, const fs::path& skill, bool resumable, Env& env) {
  env.error(TerminalText::Format("stopped early: {}\n", reason));
  const std::string best = skill.empty() ? "" : skill.string();
  if (!session.options.log_runs) {
    if (!best.empty()) env.error(TerminalText::Format("kept: the best skill so far, in {}\n", best));
    return;
  }
  const KeptAnswers kept = KeptAnswersOf(session, students);
  if (best.empty() && kept.of_teachers + kept.of_students == 0) {
    env.error(TerminalText::Format("nothing to keep yet; the generation is in {}\n", session.folder.string()));
  } else {
    env.error(TerminalText::Format("kept: {}{} from teachers and {} from students in {}\n",
                                   best.empty() ? "" : "the best skill so far in " + best + ", and ",
                                   Counted(kept.of_teachers, "answer"), kept.of_students, session.folder.string()));
  }
  if (!resumable) {
    PrintWaysToTests(session, skill, env);
    return;
  }
  if (session.is_part) {
    env.error("the same command continues with it\n");
    return;
  }
  const std::optional<double>& limit = session.options.how.max_cost_usd;
  if (limit && IsBudgetExceeded(reason)) {
    const double more = std::max({0.01, 2.0 * *limit, 2.0 * kept.cost_usd});
    env.error(TerminalText::Format("Continue with a higher limit, for example:\n  {} --max-cost {:.2f}\n",
                                   ResumeLine(session), more));
  } else {
    env.error(TerminalText::Format("Continue with:\n  {}\n", ResumeLine(session)));
  }
}

}  // namespace upskill
