// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/env/config.h"
#include "cli/generate/commands.h"
#include "cli/generate/generate_file.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/journal.h"
#include "model/answer_json.h"
#include "model/desk_files.h"
#include "model/model_spec.h"
#include "teach/draft_preview.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

struct DeskCommandOptions {
  std::string folder;
  bool print = false;
  bool whole = false;  // also what earlier requests have
  std::string answer;  // a file, or - for standard input; empty: none is given
  int number = 0;      // of the request; 0: the first one that waits
  bool check = false;  // the answer, without putting it in place
  std::string runs_dir;
};

namespace fs = std::filesystem;

// Whether each request of the folder has an answer, by their numbers.
using Requests = std::map<int, bool>;

Result<Requests> RequestsIn(const fs::path& folder) {
  ASSIGN_OR_RETURN(const DeskNumbers numbers, DeskNumbersIn(folder));
  std::error_code code;
  Requests requests;
  for (const int number : numbers.requests) {
    // One that can't be read is an answer, too, and isn't replaced.
    const fs::path place = folder / DeskAnswerName(number);
    const Result<std::string> answer = ReadFile(place, kMaxDeskFileBytes);
    requests[number] = answer ? !DeskAnswerText(*answer).empty() : fs::exists(place, code);
  }
  if (!requests.empty()) return requests;
  return InputError(fmt::format("{} has no requests; `upskill generate -m {}` writes them there", folder.string(),
                                ShellWord("desk:" + folder.string())));
}

std::optional<int> FirstWaiting(const Requests& requests) {
  const auto found = std::find_if(requests.begin(), requests.end(), [](const auto& one) { return !one.second; });
  return found == requests.end() ? std::nullopt : std::optional(found->first);
}

Result<std::string> ReadAnswer(const std::string& file) {
  if (file != "-") return ReadFile(file, kMaxDeskFileBytes);
  std::string text(kMaxDeskFileBytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > kMaxDeskFileBytes)
    return InputError(fmt::format("an answer has at most {} MiB", kMaxDeskFileBytes >> 20U));
  return text;
}

// The newest generation in the runs folder whose teacher is this desk; nothing if there is none.
std::optional<StoredGeneration> GenerationOf(const DeskCommandOptions& options, const Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return std::nullopt;
  const fs::path generations = RunsFolder(options.runs_dir, *config) / "generations";
  std::vector<fs::path> folders = StampedFolders(generations, GenerationFile({}).string());
  std::reverse(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    Result<StoredGeneration> stored = ReadGeneration(folder);
    std::error_code code;
    if (stored && stored->options.model.starts_with(kDeskPrefix) &&
        fs::equivalent(stored->options.model.substr(kDeskPrefix.size()), options.folder, code))
      return *std::move(stored);
  }
  return std::nullopt;
}

// Checks that `generate` can use the answer. Returns lines that say what it will do with it. Error: why it can't.
Result<std::vector<std::string>> CheckAnswer(const std::string& answer, const std::string& request,
                                             const DeskCommandOptions& options, const Env& env) {
  const std::string text = DeskAnswerText(answer);
  if (text.empty()) return InputError("it is empty");
  if (text == DeskAnswerText(request)) return InputError("it is the request itself");
  const std::optional<Json> schema = SchemaAskedFor(request);
  if (!schema) return std::vector<std::string>();
  ASSIGN_OR_RETURN(FittingAnswer fitting, AnswerJson(text, *schema));
  const std::optional<StoredGeneration> asking =
      fitting.json.contains("sections") ? GenerationOf(options, env) : std::nullopt;
  if (!asking) return std::vector<std::string>();
  return PreviewDraft(std::move(fitting.json), asking->material, asking->prompts.value_or(BuiltInPrompts()),
                      asking->options.how.target);
}

// Tells what becomes of the answer.
Result<std::vector<std::string>> PutAnswer(const DeskCommandOptions& options, int number, const Env& env) {
  const fs::path folder = options.folder;
  ASSIGN_OR_RETURN(const std::string request, ReadFile(folder / DeskRequestName(number), kMaxDeskFileBytes));
  ASSIGN_OR_RETURN(const std::string answer, ReadAnswer(options.answer));
  Result<std::vector<std::string>> checked = CheckAnswer(answer, request, options, env);
  if (!checked) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("the answer to {} can't be used: {}\nNothing was written. Tell the chat what is wrong, or "
                             "save the whole answer again.",
                             DeskRequestName(number), checked.error().message)};
  }
  if (options.check) return checked;
  ASSIGN_OR_RETURN(const Folder place, Folder::Open(folder));
  RETURN_IF_ERROR(place.WriteFile(DeskAnswerName(number), answer));
  return checked;
}

void PrintNext(const DeskCommandOptions& options, const Requests& requests, Env& env) {
  const std::optional<int> next = FirstWaiting(requests);
  if (!next)
    return env.out("no request waits for an answer; while `generate` runs, the next one follows in a few seconds\n");
  const Result<std::string> request = ReadFile(fs::path(options.folder) / DeskRequestName(*next), kMaxDeskFileBytes);
  const char* const chat = request && IsForNewChat(*request) ? "a NEW chat" : "the chat";
  env.out(TerminalText::Format("next: paste {} into {}, save its answer as a file, and hand it in with\n",
                               DeskFileToPaste(options.folder, *next, options.whole).string(), chat));
  env.out(TerminalText::Format("  upskill desk {} --answer FILE\n", ShellWord(options.folder)));
}

void AddDeskCommand(CLI::App& app, DeskCommandOptions& options) {
  CLI::App* command = app.add_subcommand("desk", "Show the requests of a desk: folder, and hand in answers to them")
                          ->group("Skills and traces");
  command->add_option("DIR", options.folder, "Folder of the model desk:DIR")->required();
  CLI::Option* const print =
      command->add_flag("-p,--print", options.print, "Print the request to paste into the chat: what is new in it");
  command->add_flag("--whole", options.whole, "The whole request, for a new chat that hasn't seen the earlier ones");
  CLI::Option* const answer = command
                                  ->add_option("-a,--answer", options.answer,
                                               "Check an answer, and hand it in if it has the form that the request "
                                               "asks for (-: read it from standard input)")
                                  ->excludes(print)
                                  ->type_name("FILE");
  command->add_flag("--check", options.check, "Only check the answer and say what generate would do with it")
      ->needs(answer);
  command->add_option("-n,--number", options.number, "Number of the request")
      ->check(WholeNumber(1, 999'999'999))
      ->default_str("the first one that waits")
      ->type_name("N");
  command
      ->add_option("-d,--runs-dir", options.runs_dir,
                   "Runs folder of the generation that wrote the requests [default: the configured one, else ./runs]")
      ->type_name("DIR");
  AddExamples(*command, {{"See what waits", "upskill desk desk"},
                         {"Copy the next request", "upskill desk desk --print | xclip"},
                         {"Hand in the answer", "upskill desk desk --answer answer.txt"}});
}

ExitCode RunDesk(const DeskCommandOptions& options, Env& env) {
  Result<Requests> requests = RequestsIn(options.folder);
  if (!requests) return PrintError(env, requests.error());
  const bool lists = !options.print && options.answer.empty();
  if (lists) {
    for (const auto& [number, answered] : *requests)
      env.out(TerminalText::Format("{:04}  {}\n", number, answered ? "answered" : "waits"));
    PrintNext(options, *requests, env);
    return ExitCode::kSuccess;
  }
  const std::optional<int> number = options.number > 0 ? std::optional(options.number) : FirstWaiting(*requests);
  if (!number) return PrintError(env, InputError("every request has an answer; -n names one to show"));
  if (!requests->contains(*number))
    return PrintError(env, InputError(fmt::format("{} has no request {}", options.folder, *number)));
  if (options.print) {
    const Result<std::string> text =
        ReadFile(DeskFileToPaste(options.folder, *number, options.whole), kMaxDeskFileBytes);
    if (!text) return PrintError(env, text.error());
    PrintDocument(env, *text);
    return ExitCode::kSuccess;
  }
  if (requests->at(*number)) {
    return PrintError(env, InputError(fmt::format("{} is there already; to replace it, remove it first",
                                                  (fs::path(options.folder) / DeskAnswerName(*number)).string())));
  }
  const Result<std::vector<std::string>> put = PutAnswer(options, *number, env);
  if (!put) {
    const ExitCode code = PrintError(env, put.error());
    return put.error().kind == ErrorKind::kPermanent ? ExitCode::kFailed : code;
  }
  for (const std::string& line : *put) env.out(TerminalText::EscapeLine(line) + "\n");
  if (options.check) {
    env.out("generate can use this answer; run the command again without --check to hand it in\n");
    return ExitCode::kSuccess;
  }
  env.out(TerminalText::Format("{} is in place\n", (fs::path(options.folder) / DeskAnswerName(*number)).string()));
  requests->at(*number) = true;
  PrintNext(options, *requests, env);
  return ExitCode::kSuccess;
}

}  // namespace

Command DeskCommand() { return CommandOf({"desk"}, AddDeskCommand, RunDesk); }

}  // namespace upskill
