// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/eval/activation_plan.h"
#include "cli/eval/activation_teacher.h"
#include "cli/eval/eval_command.h"
#include "cli/eval/eval_options.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/option_row.h"
#include "cli/generate/commands.h"
#include "cli/models/students.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "prompts/prompts.h"
#include "report/terminal/activation_text.h"
#include "skill/description_edit.h"
#include "skill/skill.h"
#include "util/files.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

struct ImproveDescriptionOptions {
  EvalOptions eval;  // how descriptions are measured
  std::string teacher;
  int tries = 3;
  std::string output;  // the SKILL.md to write; empty: the skill's own
  bool dry_run = false;
};

namespace fs = std::filesystem;

constexpr int kMostTries = 20;
constexpr int kMostAttempts = 200;  // with those of earlier times

// A description with what it led to, over all students.
struct MeasuredDescription {
  std::string text;
  ActivationSummary activation;
  std::vector<std::string> missed;
  std::vector<std::string> misled;
  std::vector<std::string> runs;

  // The mean of how often the skill was read when it should be and left alone when it shouldn't.
  double score() const {
    return (activation.recall().value().value_or(0.0) + activation.specificity().value().value_or(1.0)) / 2.0;
  }
};

struct Improvement {
  std::vector<MeasuredDescription> train;     // the first is the skill's own
  std::size_t best = 0;                       // of `train`
  std::size_t useless = 0;                    // answers of the teacher
  std::string why_useless;                    // … the last of them
  std::optional<MeasuredDescription> before;  // on the held-out queries; absent: the teacher wrote nothing to compare
  std::optional<MeasuredDescription> after;   // absent: nothing did better on the train queries

  bool has_none() const { return train.size() == 1 && useless > 0; }
  std::string written;  // path; empty: nothing was written
  std::string why;      // … and why
};

Status UseDescription(const std::string& description, SkillFolder& skill) {
  ASSIGN_OR_RETURN(skill.files["SKILL.md"], WithDescription(skill.files["SKILL.md"], description, "SKILL.md"));
  skill.description = description;
  return {};
}

class Improver {
 public:
  Improver(const ImproveDescriptionOptions& options, const Config& config, Env& env)
      : options_(options), config_(config), env_(env), budget_(options.eval.max_cost_usd, 0.0) {}

  Result<Improvement> Run() {
    ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options_.eval.skill));
    // What can't be written in the end should cost nothing.
    std::error_code code;
    const fs::path target = fs::absolute(options_.output, code);
    if (!options_.output.empty() && (fs::is_directory(target, code) || !fs::is_directory(target.parent_path(), code)))
      return InputError(fmt::format("--output {}: expected a file in a folder that exists", options_.output));
    RETURN_IF_ERROR(WithDescription(skill.text, "another", skill.file.string()));
    if (!options_.eval.quiet) {
      ASSIGN_OR_RETURN(const SkillsFound others, OtherSkills(options_.eval.activation.among, skill));
      for (const std::string& warning : others.warnings) PrintWarning(env_, warning);
    }
    if (options_.dry_run) {
      RETURN_IF_ERROR(PrintDryRun(skill));
      return Improvement{};
    }
    ASSIGN_OR_RETURN(OpenedTeacher opened,
                     OpenActivationTeacher(options_.teacher, skill, options_.eval, config_, budget_, env_));
    if (options_.eval.tests.empty()) {
      const Result<Suite> own = LoadQueries("", skill.folder);
      if (!own && own.error().kind == ErrorKind::kNotFound)
        RETURN_IF_ERROR(WriteQueriesOf(skill, options_.eval, *opened.teacher, env_));
    }
    Improvement found;
    ASSIGN_OR_RETURN(MeasuredDescription own, Measure(skill, skill.description, Split::kTrain));
    Tell("own", own);
    found.train.push_back(std::move(own));
    RETURN_IF_ERROR(TryOthers(skill, *opened.teacher, found));
    if (found.has_none()) {
      found.why = fmt::format(
          "the teacher wrote no usable description in {} (the last time: {}); the same command asks it for others",
          Counted(found.useless, "answer"), found.why_useless);
      return found;
    }
    ASSIGN_OR_RETURN(found.before, Measure(skill, skill.description, Split::kTest));
    if (found.best > 0) {
      ASSIGN_OR_RETURN(found.after, Measure(skill, found.train[found.best].text, Split::kTest));
    }
    RETURN_IF_ERROR(Write(skill, found));
    return found;
  }

 private:
  // What would be asked, at most.
  Status PrintDryRun(const Skill& skill) const {
    ModelOptions teacher;
    teacher.base_urls = options_.eval.base_urls;
    RETURN_IF_ERROR(CheckCanTeach(options_.teacher, teacher, env_));
    ASSIGN_OR_RETURN(const ListedSkills listed, ListedSkillsOf(skill, options_.eval));
    Result<Suite> own = LoadQueries(options_.eval.tests, skill.folder);
    const bool writes_queries = !own && own.error().kind == ErrorKind::kNotFound && options_.eval.tests.empty();
    std::size_t test = 2 * kQueriesOfAKind * 2 / 5;
    std::size_t train = 2 * kQueriesOfAKind - test;
    if (!writes_queries) {
      if (!own) return own.error();
      ASSIGN_OR_RETURN(const Suite queries, SplitQueries(*std::move(own)));
      train = static_cast<std::size_t>(std::count_if(queries.cases.begin(), queries.cases.end(),
                                                     [](const Case& query) { return query.split == Split::kTrain; }));
      test = queries.cases.size() - train;
    }
    constexpr std::size_t kPromptTokens = 600;  // besides the skills: instructions, and queries that went wrong
    std::size_t tokens = kPromptTokens + EstimateTokens(skill.body) + EstimateTokens(skill.description);
    for (const std::string& other : listed.others) tokens += EstimateTokens(other);
    const auto tries = static_cast<std::size_t>(options_.tries);
    const std::size_t requests = tries + (writes_queries ? 1 : 0);
    const auto rounds = static_cast<std::size_t>(options_.eval.rounds_or_default());
    std::vector<std::string> students = options_.eval.models;
    if (students.empty()) students.push_back(config_.eval_model.empty() ? "the default model" : config_.eval_model);
    env_.out(TerminalText::Format(
        "teacher  {}: up to {}, about {} in each\n"
        "queries  {}{} to choose by, {} held out\n"
        "student  {}: up to {}{}\nno requests were sent\n",
        options_.teacher, Counted(requests, "request"), Counted(tokens, "token"),
        writes_queries ? "to be written by the teacher: about " : "", train, test, TerminalText::Join(students, ", "),
        Counted(((1 + tries) * train + 2 * test) * rounds, "answer"), students.size() > 1 ? " each" : ""));
    return {};
  }

  void Tell(const std::string& what, const MeasuredDescription& measured) {
    if (options_.eval.quiet) return;
    env_.error(TerminalText::Format("train    {}: recall {}, left alone {}\n", what,
                                    ActivationRateText(measured.activation.recall()),
                                    ActivationRateText(measured.activation.specificity())));
  }

  Result<MeasuredDescription> Measure(const Skill& skill, const std::string& description, Split split) {
    EvalOptions options = options_.eval;
    options.activation.on = true;
    options.max_cost_usd.reset();  // budget_ has it
    ASSIGN_OR_RETURN(MeasureSpec spec, SpecOf(skill, options, config_, DefaultSandbox(), env_.stop));
    ASSIGN_OR_RETURN(spec.suite, SplitQueries(std::move(spec.suite)));
    std::erase_if(spec.suite.cases, [&](const Case& query) { return query.split != split; });
    spec.trial = split == Split::kTrain ? "train" : "test";
    RETURN_IF_ERROR(UseDescription(description, *spec.skill->folder));
    EvalUse use;
    use.budget = &budget_.trials();
    ASSIGN_OR_RETURN(const JudgedRun run, RunEvalQuietly(spec, options, config_, use, env_));
    MeasuredDescription measured{description, {}, {}, {}, {run.plan().run}};
    for (const StudentSummary& student : run.summary.students) {
      for (const QueryActivation& query : student.activation->queries) {
        measured.activation.queries.push_back(query);
        if (query.wrong() == 0) continue;
        (query.expected ? measured.missed : measured.misled)
            .push_back(fmt::format("{} ({} of {})", run.plan().suite.cases[query.case_index].input, query.wrong(),
                                   Counted(query.answers, "time")));
      }
    }
    return measured;
  }

  Status TryOthers(const Skill& skill, Teacher& teacher, Improvement& found) {
    ASSIGN_OR_RETURN(const ListedSkills listed, ListedSkillsOf(skill, options_.eval));
    // Answers are stored, so that useless ones of an earlier time come again for nothing. Where all were useless,
    // others are asked for.
    int asked = 0;
    for (int attempt = 0; attempt < kMostAttempts && found.train[found.best].score() < 1.0; ++attempt) {
      if (attempt >= options_.tries && (found.train.size() > 1 || asked >= options_.tries)) break;
      const MeasuredDescription& best = found.train[found.best];
      DescriptionTrial trial{best.missed, best.misled, {}};
      for (const MeasuredDescription& tried : found.train) {
        if (&tried != &best)
          trial.tried.push_back(fmt::format("{} (recall {}, left alone {})", tried.text,
                                            ActivationRateText(tried.activation.recall()),
                                            ActivationRateText(tried.activation.specificity())));
      }
      ListedSkills shown = listed;
      shown.skill.description = best.text;
      const std::size_t before = teacher.answers();
      const Result<std::string> written = BetterDescription(teacher, BuiltInPrompts(), shown, trial, attempt);
      if (!written && written.error().kind != ErrorKind::kInput) return written.error();
      if (teacher.answers() > before) ++asked;
      if (!written) {
        ++found.useless;
        found.why_useless = written.error().message;
        if (!options_.eval.quiet)
          env_.error(TerminalText::Format("try {}    {}\n", attempt + 1, written.error().message));
        continue;
      }
      ASSIGN_OR_RETURN(MeasuredDescription measured, Measure(skill, *written, Split::kTrain));
      Tell(fmt::format("try {}", attempt + 1), measured);
      const bool better = measured.score() > best.score();
      found.train.push_back(std::move(measured));
      if (better) found.best = found.train.size() - 1;
    }
    return {};
  }

  Status Write(const Skill& skill, Improvement& found) const {
    if (!found.after) {
      found.why = found.train.front().score() == 1.0
                      ? "the skill's own description makes no mistake on the train queries"
                      : "no other description did better on the train queries";
      return {};
    }
    if (found.after->score() < found.before->score()) {
      found.why = "it does worse on the held-out queries";
      return {};
    }
    const fs::path file = options_.output.empty() ? skill.file : fs::path(options_.output);
    ASSIGN_OR_RETURN(const std::string edited, WithDescription(skill.text, found.after->text, skill.file.string()));
    // The measurements took a while.
    ASSIGN_OR_RETURN(const std::string now, ReadFile(skill.file));
    if (options_.output.empty() && now != skill.text) {
      return InputError(
          fmt::format("{} was changed while its descriptions were measured; it stays as it is. The new "
                      "description: {}",
                      skill.file.string(), found.after->text));
    }
    RETURN_IF_ERROR(WriteFileAtomically(file, edited));
    found.written = file.string();
    return {};
  }

  const ImproveDescriptionOptions& options_;
  const Config& config_;
  Env& env_;
  GenerationBudget budget_;
};

Json MeasuredToJson(const MeasuredDescription& measured) {
  return {{"description", measured.text},
          {"recall", ActivationRateToJson(measured.activation.recall())},
          {"precision", ActivationRateToJson(measured.activation.precision())},
          {"specificity", ActivationRateToJson(measured.activation.specificity())},
          {"runs", measured.runs}};
}

Json ImprovementToJson(const Improvement& found) {
  Json train = Json::array();
  for (const MeasuredDescription& tried : found.train) train.push_back(MeasuredToJson(tried));
  return {{"train", std::move(train)},
          {"held_out",
           {{"before", found.before ? MeasuredToJson(*found.before) : Json(nullptr)},
            {"after", found.after ? MeasuredToJson(*found.after) : Json(nullptr)}}},
          {"written", found.written.empty() ? Json(nullptr) : Json(found.written)},
          {"not_written_because", found.why.empty() ? Json(nullptr) : Json(found.why)}};
}

void PrintImprovement(const Improvement& found, const std::string& runs_dir, Env& env) {
  const auto line = [&](const char* label, const MeasuredDescription& measured) {
    env.out(TerminalText::Format("  {:<7} recall {}\n          precision {}\n          left alone {}\n", label,
                                 ActivationRateText(measured.activation.recall()),
                                 ActivationRateText(measured.activation.precision()),
                                 ActivationRateText(measured.activation.specificity())));
  };
  if (found.before) {
    env.out("on the held-out queries, of which the teacher was told none:\n");
    line("before", *found.before);
  }
  if (found.after) {
    line("after", *found.after);
    env.out(TerminalText::Format("before: {}\nafter:  {}\n", found.before->text, found.after->text));
  }
  if (found.written.empty()) {
    env.out(TerminalText::Format("nothing was written: {}\n", found.why));
  } else {
    const bool tied = found.after->score() == found.before->score();
    env.out(TerminalText::Format(
        "wrote {}{}\n", found.written,
        tied ? ": it does better than before on the train queries, but only as well on the held-out queries" : ""));
  }
  std::string runs;
  for (const auto* measured : {&found.before, &found.after}) {
    if (*measured) runs += " " + (*measured)->runs.front();
  }
  const std::string place = runs_dir.empty() ? "" : " --runs-dir " + ShellWord(runs_dir);
  if (!runs.empty()) env.out(TerminalText::Format("upskill report{}{} -o report.html\n", runs, place));
}

void AddImproveDescriptionCommand(CLI::App& app, ImproveDescriptionOptions& options) {
  EvalOptions& eval = options.eval;
  CLI::App* command =
      app.add_subcommand("improve-description", "Have a teacher rewrite a description so that the skill is found")
          ->group("Skills and traces");
  command->add_option("SKILL", eval.skill, "Skill folder, or its SKILL.md")->required();
  BeginGroup(*command, "Models");
  command->add_option("--teacher", options.teacher, "Model that writes the descriptions")
      ->required()
      ->type_name("MODEL");
  command->add_option("-m,--model,--m", eval.models, "Model that chooses among skills (repeatable)")
      ->default_str("the configured one, else the default model")
      ->type_name("MODEL");
  command->add_option("--base-url", eval.base_urls, "OpenAI-compatible server for plain model names (repeatable)")
      ->type_name("URL");
  AddParallelOption(*command, eval.parallel);
  BeginGroup(*command, "Queries");
  command->add_option("-t,--tests", eval.tests, "Queries to use instead of the skill's own")->type_name("FILE");
  command
      ->add_option("--among", eval.activation.among,
                   "Other skill folders to choose from (repeatable) [default: those next to the skill]")
      ->type_name("DIR");
  command->add_option("--runs", eval.rounds, "Rounds: how often each query is put")
      ->check(WholeNumber(1, 1000))
      ->default_str("1")
      ->type_name("N");
  command->add_option("--tries", options.tries, "Maximum descriptions to try")
      ->check(WholeNumber(1, kMostTries))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-cost", eval.max_cost_usd, "Stop before exceeding this cost (USD), of teacher and models")
      ->check(PositiveNumber())
      ->type_name("USD");
  AddSandboxOptions(*command, eval.sandbox);
  BeginGroup(*command, "Output");
  command->add_option("-o,--output", options.output, "SKILL.md to write in place of the skill's own")
      ->type_name("FILE");
  command->add_flag("--dry-run", options.dry_run, "Print what would be asked, and stop");
  command->add_option("-d,--runs-dir", eval.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("-q,--quiet", eval.quiet, "Print no progress or notes");
  command->add_flag("--json", eval.json, "Print the result as JSON");
  AddColorOption(*command, eval.color);
  AddExamples(*command,
              {{"Improve the description of a skill among its neighbours",
                "upskill improve-description skills/tables --teacher opus -m haiku --runs 3"},
               {"See what it would ask", "upskill improve-description skills/tables --teacher opus --dry-run"}});
}

// Has a teacher write descriptions, measures each on the train queries, and the best of them on the held-out ones, on
// which it is judged. Writes it if it does better there, or as well while it does better on the train queries.
ExitCode RunImproveDescription(const ImproveDescriptionOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const Result<Improvement> found = Improver(options, *config, env).Run();
  if (!found) {
    const ExitCode code = PrintError(env, found.error());
    return found.error().kind == ErrorKind::kUnavailable ? ExitCode::kIncomplete : code;
  }
  if (options.dry_run) return ExitCode::kSuccess;
  if (options.eval.json) {
    PrintDocument(env, DumpJsonIndented(ImprovementToJson(*found)) + "\n");
  } else {
    PrintImprovement(*found, options.eval.runs_dir, env);
  }
  return ExitCode::kSuccess;
}

}  // namespace

Command ImproveDescriptionCommand() {
  return CommandOf({"improve-description"}, AddImproveDescriptionCommand, RunImproveDescription);
}

}  // namespace upskill
