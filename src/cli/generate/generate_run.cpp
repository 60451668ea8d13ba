// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/generate/commands.h"
#include "cli/generate/generate_place.h"
#include "cli/generate/generate_session.h"
#include "cli/generate/generate_teacher.h"
#include "cli/generate/generate_text.h"
#include "report/terminal/progress_line.h"
#include "teach/choice.h"
#include "teach/generate.h"
#include "teach/result_files.h"
#include "util/append_file.h"
#include "util/folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// By their long names, or "TASK".
std::set<std::string> GivenOptionsOf(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_subcommand("generate")->get_options()) {
    if (option->count() == 0) continue;
    if (option->get_positional()) {
      given.insert(option->get_name(true));
      continue;
    }
    for (const std::string& name : option->get_lnames()) given.insert("--" + name);
  }
  return given;
}

GenerationFacts FactsOf(const GenerateSession& session, const Env& env) {
  GenerationFacts facts;
  facts.id = session.id;
  facts.version = UPSKILL_VERSION;
  facts.generated_by = session.options.model;
  facts.test_gen_model = session.given ? "given" : session.options.test_gen_model;
  facts.generated_at = UtcTimestamp(env.clock->WallNow());
  facts.lineage = LineageOf(session);
  facts.looks_before = LooksBefore(session);
  facts.counts_looks = CountsLooks(session);
  facts.task = session.sources.material.task;
  facts.sources = session.sources.names;
  facts.teachers = session.teacher->costs();
  if (session.test_teacher) {
    for (const auto& [stage, cost] : session.test_teacher->costs()) facts.teachers["tests: " + stage] = cost;
  }
  facts.students = StudentCosts(session);
  return facts;
}

// May give the skill another name.
Result<Placing> Place(const GenerateSession& session, GenerateOutcome& outcome, const GenerationFacts& facts) {
  SkillText& skill = outcome.candidates[outcome.chosen].skill;
  const std::string given = NameGiven(session);
  const bool renamed = session.output_is_new && !session.sources.material.has_existing() && !given.empty();
  skill.name = NameToUse(session, renamed ? given : skill.name);
  Placing placing;
  const fs::path folder = OutputFolder(session, skill.name);
  ASSIGN_OR_RETURN(const AcceptRule rule, AcceptRuleFromName(session.options.accept));
  placing.reason = ReasonToReject(outcome, rule, session.options.accept_margin_points / 100.0);
  if (placing.reason.empty()) {
    ASSIGN_OR_RETURN(placing.previous, MakeRoom(session, folder));
  }
  if (placing.reason.empty() && IsTaken(session, folder))
    placing.reason = fmt::format("{} contains another skill (to improve it, use --from)", folder.string());
  const bool edited = WasEdited(session, outcome, folder);
  if (placing.reason.empty() && edited)
    placing.reason = fmt::format("{} was edited since this generation wrote it", (folder / "SKILL.md").string());
  placing.target = placing.reason.empty() ? folder : session.folder / skill.name;  // gone at the end with --no-log-runs
  // An earlier session may have put another candidate there.
  std::vector<fs::path> files = SkillFilesOf(outcome);
  if (placing.reason.empty()) {
    if (placing.previous.empty()) {
      ASSIGN_OR_RETURN(placing.previous, KeepPrevious(session, folder));
    }
    RETURN_IF_ERROR(RestoreExisting(session, files, folder));
  } else if (!edited && !session.sources.existing_folder.empty()) {
    files.insert(files.end(), {"skill_meta.json", "lineage.json"});
    RETURN_IF_ERROR(RestoreExisting(session, files, session.sources.existing_folder));
  }
  ASSIGN_OR_RETURN(const Folder target,
                   placing.reason.empty() ? MakeOutputFolder(session, skill.name) : Folder::Make(placing.target));
  std::error_code code;
  const fs::path& existing = session.sources.existing_folder;
  const bool elsewhere = !existing.empty() && !fs::equivalent(existing, target.path(), code);
  RETURN_IF_ERROR(WriteGeneratedSkill(outcome, facts, target, elsewhere ? existing : fs::path()));
  return placing;
}

// Without a draft, or without room for it. A limit, the user, a model that gives up or a full disk leaves something to
// go on with; a teacher that wrote nothing usable doesn't.
ExitCode FinishWithoutSkill(const GenerateSession& session, const Error& error, Env& env) {
  const bool gave_up =
      error.kind == ErrorKind::kPermanent || error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kIo;
  if (!gave_up && error.kind != ErrorKind::kCancelled) return PrintError(env, error);
  PrintStop(session, StudentCosts(session), gave_up ? error.message : "interrupted", {}, true, env);
  return gave_up ? ExitCode::kIncomplete : ExitCode::kInterrupted;
}

ExitCode Finish(const GenerateSession& session, GenerateOutcome& outcome, bool estimated, Env& env) {
  if (outcome.before_tests && outcome.candidates[outcome.chosen].kind == "existing") {
    PrintStop(session, StudentCosts(session), outcome.stopped, {}, outcome.resumable, env);
    env.error(TerminalText::Format("{} stays as it is\n", session.sources.existing_folder.string()));
    return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
  }
  const GenerationFacts facts = FactsOf(session, env);
  const Result<Placing> placing = Place(session, outcome, facts);
  if (!placing) return FinishWithoutSkill(session, placing.error(), env);
  if (session.options.json) {
    PrintDocument(env, DumpJsonIndented(OutcomeToJson(session, outcome, *placing, facts)) + "\n");
  } else {
    PrintOutcome(session, outcome, facts, *placing, estimated, env);
  }
  if (outcome.stopped.empty()) return WroteNothing(outcome) ? ExitCode::kFailed : ExitCode::kSuccess;
  PrintStop(session, facts.students, outcome.stopped, placing->target, outcome.resumable, env);
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
}

// "draft    what is done", which a terminal would otherwise break within words.
void PrintStage(const std::string& line, Env& env) {
  constexpr std::size_t kIndent = 9;
  env.error((env.error_is_terminal ? Wrapped(line, env.columns, kIndent) : TerminalText::EscapeLine(line)) + "\n");
}

void PrintSources(const GenerateSession& session, Env& env) {
  for (const std::string& line : session.sources.told) PrintStage(line, env);
  for (const std::string& warning : session.sources.warnings) PrintWarning(env, warning);
  if (!session.sources.redactions.empty()) PrintStage(session.sources.redactions, env);
}

// From the open session to the skill.
GenerateEnd MakeSkill(GenerateSession& session, Env& env) {
  ProgressLine progress(StyleFor(env, env.error_is_terminal, session.options.color), env.error_is_terminal, env.error);
  // Opening it locks it. InputOf adds up what the trials in it cost, to which another process may have added until
  // then.
  Result<AppendFile> trials = AppendFile::Open(session.folder / kTrialsFile, true);
  if (!trials) return {PrintError(env, trials.error())};
  GenerateInput input = InputOf(session, env);
  if (!session.options.quiet) input.trials.observer = &progress;
  input.trials.on_run = [&](const std::string& stage, const std::string& run) {
    return trials->Append(stage + " " + run + "\n");
  };
  input.say = [&](const std::string& line) {
    progress.Clear();
    const bool is_others = session.is_part && line.starts_with("tests ");
    if (!session.options.quiet && !is_others) PrintStage(line, env);
  };
  for (std::optional<Teacher>* teacher : {&session.teacher, &session.test_teacher}) {
    if (*teacher) (*teacher)->set_say(input.say);
  }
  Result<GenerateOutcome> outcome = GenerateSkill(input);
  progress.Clear();
  if (!outcome && outcome.error().kind == ErrorKind::kNotFound) {  // the teacher is too weak
    PrintError(env, InputError(outcome.error().message + TeacherOffers(session.options, env)));
    return {ExitCode::kFailed};
  }
  if (!outcome) return {FinishWithoutSkill(session, outcome.error(), env)};
  return {Finish(session, *outcome, input.options.target.estimated, env), outcome->spent_usd};
}

ExitCode RunGenerate(const CLI::App& app, const GenerateCommandOptions& options, Env& env) {
  GenerateSession session;
  session.options = options;
  session.options.given = GivenOptionsOf(app);
  if (const Status opened = OpenGeneration(session, env); !opened) return PrintError(env, opened.error());
  if (!session.options.quiet) PrintSources(session, env);
  if (!session.options.dry_run) return MakeSkill(session, env).code;
  PrintDryRun(session, env);
  return ExitCode::kSuccess;
}

}  // namespace

Command GenerateCommand() { return CommandOf({"generate"}, AddGenerateCommand, RunGenerate); }

GenerateEnd RunGenerateAsPart(GenerateCommandOptions options,
                              const std::function<Status(const std::string& id)>& opened, Env& env) {
  GenerateSession session;
  session.options = std::move(options);
  session.is_part = true;
  if (const Status open = OpenGeneration(session, env); !open) return {PrintError(env, open.error())};
  if (const Status noted = opened(session.id); !noted) return {PrintError(env, noted.error())};
  if (!session.options.quiet) PrintSources(session, env);
  return MakeSkill(session, env);
}

}  // namespace upskill
