// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "cli/runs/loaded_run.h"
#include "eval/verdict/judged_run.h"
#include "report/export/benchmark_json.h"
#include "report/export/eval_json.h"
#include "report/export/inspect_log.h"
#include "report/export/junit.h"
#include "report/export/markdown.h"
#include "report/export/plugin_cases.h"
#include "report/export/python_export.h"
#include "report/export/python_files.h"
#include "report/export/skill_creator.h"
#include "report/html/html_report.h"
#include "report/terminal/csv.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/result_sentence.h"
#include "util/files.h"
#include "util/json.h"
#include "util/json_file.h"
#include "util/output_pieces.h"
#include "util/text.h"

namespace upskill {
namespace {

// Where a folder is written, there must be a name for it.
Status NeedFolder(const std::string& output, const char* format, const char* what) {
  if (!output.empty() && output != "-") return {};
  return InputError(fmt::format("--format {} writes {}; name a folder for {} with -o DIR", format, what,
                                std::string_view(what).starts_with("a ") ? "it" : "them"));
}

std::size_t AnswersIn(std::span<const JudgedRun> runs) {
  std::size_t answers = 0;
  for (const JudgedRun& run : runs) answers += run.summary.answered;
  return answers;
}

// The formats of `report` that are made for another program. Each prints what it has written, or an
// error, and gives the exit code. `output`: the value of -o, which may be empty.
ExitCode WritePythonRuns(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (const Status named = NeedFolder(output, "python", "folders"); !named) return PrintError(env, named.error());
  if (const Status written = ExportToPython(runs, output); !written) return PrintError(env, written.error());
  std::size_t results = 0;
  for (const JudgedRun& run : runs) results += PythonRounds(run).size();
  env.out(TerminalText::Format("{} written: {} as {}, and results.csv\n", output, Counted(runs.size(), "run"),
                               Counted(results, "run_N folder")));
  return ExitCode::kSuccess;
}

ExitCode WriteSkillCreatorWorkspace(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (const Status named = NeedFolder(output, "skill-creator", "a workspace"); !named)
    return PrintError(env, named.error());
  if (const Status written = ExportToSkillCreator(runs, output); !written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} written: {}, {}\n", output, Counted(runs.size(), "iteration"),
                               Counted(AnswersIn(runs), "answer")));
  return ExitCode::kSuccess;
}

ExitCode WriteInspectLogs(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (output.empty() || output == "-") {
    return PrintError(env, InputError("--format inspect writes a log; name it with -o FILE.eval, or a folder for the "
                                      "logs of several models with -o DIR"));
  }
  const Result<InspectLogs> written = ExportToInspect(runs, output, UPSKILL_VERSION);
  if (!written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} written: {}, {}\n", output, Counted(written->files, "log"),
                               Counted(written->samples, "sample")));
  return ExitCode::kSuccess;
}

ExitCode WritePluginCases(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (const Status named = NeedFolder(output, "plugin-eval", "cases"); !named) return PrintError(env, named.error());
  if (runs.size() != 1)
    return PrintError(env, InputError("--format plugin-eval writes the cases of one run; name only one"));
  const Result<PluginCases> written = ExportPluginCases(runs.front().plan(), output);
  if (!written) return PrintError(env, written.error());
  for (const std::string& one : written->left_out) PrintWarning(env, one);
  env.out(TerminalText::Format("{} written: {}\n", output, Counted(written->cases, "case")));
  return ExitCode::kSuccess;
}

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output;  // file; empty or "-": standard output
  std::string format;  // empty: by the file's extension, else text
  std::string runs_dir;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

enum class Format { kText, kHtml, kMarkdown, kCsv, kJson, kXml, kPython, kSkillCreator, kInspect, kPlugin };

const std::map<std::string, Format>& Formats() {
  static const std::map<std::string, Format> formats = {
      {"text", Format::kText},    {"txt", Format::kText},        {"html", Format::kHtml},
      {"htm", Format::kHtml},     {"md", Format::kMarkdown},     {"markdown", Format::kMarkdown},
      {"csv", Format::kCsv},      {"json", Format::kJson},       {"xml", Format::kXml},
      {"junit", Format::kXml},    {"python", Format::kPython},   {"skill-creator", Format::kSkillCreator},
      {"eval", Format::kInspect}, {"inspect", Format::kInspect}, {"plugin-eval", Format::kPlugin}};
  return formats;
}

Result<Format> FormatOf(const ReportOptions& options) {
  if (!options.format.empty()) return Formats().at(options.format);
  if (options.output.empty() || options.output == "-") return Format::kText;
  std::string extension = fs::path(options.output).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = Formats().find(extension);
  if (found != Formats().end()) return found->second;
  return InputError(fmt::format(
      "-o {}: can't tell the format from this name; end it with .html, .md, .csv, .json, .xml, .eval or .txt, or "
      "use --format",
      options.output));
}

// What the arguments name: runs of ours, and results that other programs wrote, which have no answers.
struct Sources {
  std::vector<JudgedRun> runs;
  std::vector<RunRow> rows;  // of the Python tool
  std::vector<BenchmarkSummary> benchmarks;
  std::string first_foreign;
};

Status Load(const std::string& name, const fs::path& runs_dir, Env& env, Sources& sources) {
  std::error_code code;
  if (fs::path(name).extension() == ".json" && fs::is_regular_file(name, code)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
    ASSIGN_OR_RETURN(const Json json, ParseJsonFile(text, name));
    ASSIGN_OR_RETURN(BenchmarkSummary benchmark, BenchmarkFromJson(json, name));
    sources.benchmarks.push_back(std::move(benchmark));
    if (sources.first_foreign.empty()) sources.first_foreign = name;
    return {};
  }
  ASSIGN_OR_RETURN(const std::vector<fs::path> folders, FoldersOf(name, runs_dir));
  for (const fs::path& folder : folders) {
    if (IsPythonRun(folder)) {
      ASSIGN_OR_RETURN(PythonRun run, ReadPythonRun(folder));
      for (const std::string& warning : run.warnings) PrintWarning(env, warning);
      sources.rows.insert(sources.rows.end(), run.rows.begin(), run.rows.end());
      if (sources.first_foreign.empty()) sources.first_foreign = folder.string();
      continue;
    }
    ASSIGN_OR_RETURN(JudgedRun run, LoadRun(folder));
    sources.runs.push_back(std::move(run));
  }
  return {};
}

TerminalText TextOf(const Sources& sources, const Style& style) {
  TerminalText out;
  for (const JudgedRun& run : sources.runs) {
    if (!out.empty()) out += "\n";
    out += EvalHead(run, style) + "\n" + ResultLines(run, style) + "\n";
    const bool several = run.plan().students.size() > 1;
    out += several ? EvalTable(run, style) + EvalTableNotes(run, style) : EvalBars(run, style);
    out += EvalCaseNotes(run) + TerminalText::Format("run {}\n", run.plan().run);
  }
  if (!sources.rows.empty()) {
    if (!out.empty()) out += "\n";
    out += RunTable(sources.rows, style);
  }
  for (const BenchmarkSummary& benchmark : sources.benchmarks) {
    if (!out.empty()) out += "\n";
    out += BenchmarkText(benchmark, style);
    if (!benchmark.rows.empty()) out += RunTable(benchmark.rows, style);
  }
  return out;
}

std::string JsonOf(const Sources& sources) {
  const auto document = [](const JudgedRun& run) {
    Json json = EvalToJson(run);
    json["gate"] = GateToJson(run);
    return json;
  };
  if (sources.runs.size() == 1) return DumpJsonIndented(document(sources.runs.front())) + "\n";
  Json list = Json::array();
  for (const JudgedRun& run : sources.runs) list.push_back(document(run));
  return DumpJsonIndented(list) + "\n";
}

Result<std::string> ReportOf(const Sources& sources, Format format, const Style& style) {
  if (format == Format::kText) return TextOf(sources, style).text();
  const bool has_rows_alone = sources.runs.empty() && sources.benchmarks.empty();
  if (format == Format::kCsv && has_rows_alone && !sources.rows.empty()) return RunCsv(sources.rows);
  if (!sources.first_foreign.empty() && sources.runs.empty()) {
    return InputError(
        fmt::format("{} was written by another program and has no answers: its figures can be shown as text (without "
                    "-o), those of the "
                    "Python tool also as CSV",
                    sources.first_foreign));
  }
  switch (format) {
    case Format::kHtml:
      return HtmlReport(sources.runs);
    case Format::kMarkdown:
      return MarkdownReport(sources.runs);
    case Format::kXml:
      return JUnitXml(sources.runs);
    case Format::kJson:
    case Format::kText:
    case Format::kCsv:  // in pieces
    case Format::kPython:
    case Format::kSkillCreator:
    case Format::kInspect:
    case Format::kPlugin:
      break;
  }
  return JsonOf(sources);
}

// What doesn't fit into memory in one piece: the answers of runs as CSV. Nothing for other reports.
bool IsWrittenInPieces(const Sources& sources, Format format) {
  return format == Format::kCsv && !sources.runs.empty();
}

std::string SizeText(std::size_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", WithThousands(static_cast<long long>(bytes)));
  if (bytes < 10'000'000) return fmt::format("{} kB", WithThousands(static_cast<long long>(bytes / 1000)));
  return fmt::format("{} MB", bytes / 1'000'000);
}

// Of results without answers beside runs that have them.
void WarnOfLeftOut(const Sources& sources, Env& env) {
  if (sources.first_foreign.empty() || sources.runs.empty()) return;
  PrintWarning(env, fmt::format("left out: {} was written by another program and has no answers; without -o, its "
                                "figures are shown as text",
                                sources.first_foreign));
}

bool IsForAnotherProgram(Format format) {
  return format == Format::kPython || format == Format::kSkillCreator || format == Format::kInspect ||
         format == Format::kPlugin;
}

ExitCode Export(const ReportOptions& options, Format format, const Sources& sources, Env& env) {
  if (!sources.first_foreign.empty() && sources.runs.empty()) {
    return PrintError(env, InputError(fmt::format("{} was written by another program and has no answers; name runs of "
                                                  "this program",
                                                  sources.first_foreign)));
  }
  WarnOfLeftOut(sources, env);
  for (const JudgedRun& run : sources.runs) PrintRunNotes(run, env);
  if (format == Format::kSkillCreator) return WriteSkillCreatorWorkspace(sources.runs, options.output, env);
  if (format == Format::kPlugin) return WritePluginCases(sources.runs, options.output, env);
  if (format == Format::kInspect) return WriteInspectLogs(sources.runs, options.output, env);
  return WritePythonRuns(sources.runs, options.output, env);
}

void AddReportCommand(CLI::App& app, ReportOptions& options) {
  CLI::App* command =
      app.add_subcommand("report", "Write a report of runs: HTML, Markdown, CSV, JSON, JUnit XML or text")
          ->group("Results");
  command
      ->add_option("RUN", options.runs,
                   "Runs: folders, names, the last 4 characters of names, latest, or folders of runs; also results of "
                   "the Python "
                   "tool and a "
                   "benchmark.json")
      ->required();
  command
      ->add_option("-o,--output", options.output,
                   "File to write; .html, .md, .csv, .json, .xml, .eval or .txt decides the format [default: text on "
                   "standard output]")
      ->type_name("FILE");
  std::vector<std::string> names;
  for (const auto& [name, format] : Formats()) names.push_back(name);
  command
      ->add_option(
          "--format", options.format,
          "Format, whatever the file's name: text, html, md, csv, json or xml; python writes the Python "
          "tool's run_N folders into the folder given by -o, skill-creator the workspace that its viewer shows; "
          "inspect writes a log of Inspect AI, FILE.eval or FILE.json, of several models a folder of them; plugin-eval "
          "writes the run's cases for `claude plugin eval` into a folder")
      ->transform(OneOf(names))
      ->type_name("FORMAT");
  command->add_flag_callback("--json", [&options] { options.format = "json"; }, "Same as --format json");
  command
      ->add_option("-d,--runs-dir,--dir", options.runs_dir,
                   "Folder of runs given by name [default: the configured one, else ./runs]")
      ->type_name("DIR");
  AddColorOption(*command, options.color);
  AddExamples(
      *command,
      {{"Write a report to look at in a browser", "upskill report latest -o report.html"},
       {"Write a comment for a pull request", "upskill report 4f2a -o comment.md"},
       {"Put all runs into one table", "upskill report runs -o runs.csv"},
       {"Write a run for the Python tool", "upskill report latest --format python -o for-python"},
       {"Write the workspace of skill-creator", "upskill report latest --format skill-creator -o workspace"},
       {"Write a run's cases for claude plugin eval", "upskill report latest --format plugin-eval -o plugin/evals"},
       {"Write a log for inspect view", "upskill report latest -o logs/run.eval"}});
}

ExitCode RunReport(const ReportOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const Result<Format> format = FormatOf(options);
  if (!format) return PrintError(env, format.error());
  Sources sources;
  for (const std::string& name : options.runs) {
    if (const Status loaded = Load(name, RunsFolder(options.runs_dir, *config), env, sources); !loaded)
      return PrintError(env, loaded.error());
  }
  const bool to_file = !options.output.empty() && options.output != "-";
  const Style style = StyleFor(env, !to_file && env.out_is_terminal, options.color);
  const auto print_notes = [&] {
    for (const JudgedRun& run : sources.runs) PrintRunNotes(run, env);
  };
  if (IsForAnotherProgram(*format)) return Export(options, *format, sources, env);
  if (*format == Format::kText && !to_file) {
    print_notes();
    env.out(TextOf(sources, style));
    return ExitCode::kSuccess;
  }
  const bool in_pieces = IsWrittenInPieces(sources, *format);
  const Result<std::string> report = in_pieces ? std::string() : ReportOf(sources, *format, style);
  if (!report) return PrintError(env, report.error());
  if (*format != Format::kText) WarnOfLeftOut(sources, env);
  print_notes();
  std::size_t bytes = 0;
  const auto produce = [&](const PieceWriter& write) {
    const auto count = [&](std::string_view piece) {
      bytes += piece.size();
      return write(piece);
    };
    return in_pieces ? WriteSamplesCsv(sources.runs, count) : count(*report);
  };
  if (!to_file) {
    static_cast<void>(produce([&env](std::string_view piece) {
      PrintDocument(env, std::string(piece));
      return Status();
    }));
    return ExitCode::kSuccess;
  }
  if (const Status written = WriteOutputInPieces(options.output, produce); !written)
    return PrintError(env, written.error());
  std::size_t answers = 0;
  for (const JudgedRun& run : sources.runs) answers += run.summary.answered;
  env.out(TerminalText::Format("{} written: {}, {}, {}\n", options.output,
                               Counted(std::max<std::size_t>(1, sources.runs.size()), "run"),
                               Counted(answers, "answer"), SizeText(bytes)));
  return ExitCode::kSuccess;
}

}  // namespace

Command ReportCommand() { return CommandOf({"report"}, AddReportCommand, RunReport); }

}  // namespace upskill
