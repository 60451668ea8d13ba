// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/doctor_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/machine/machine_findings.h"
#include "cli/options/help_formatter.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr std::size_t kNameColumns = 18;

TerminalText MarkOf(Finding::State state, const Style& style) {
  switch (state) {
    case Finding::State::kReady:
      return Tinted(style, Tint::kGood, "✓");
    case Finding::State::kBroken:
      return Tinted(style, Tint::kBad, "✗");
    case Finding::State::kAbsent:
      break;
  }
  return Tinted(style, Tint::kDim, "–");
}

void PrintFindings(const std::vector<Finding>& findings, const Style& style, Env& env) {
  constexpr std::size_t kIndent = 4 + kNameColumns + 1;
  std::string area;
  for (const Finding& finding : findings) {
    if (finding.area != area) {
      if (!area.empty()) env.out("\n");
      env.out(TerminalText::Format("{}\n", Tinted(style, Tint::kBold, TerminalText::EscapeLine(finding.area))));
      area = finding.area;
    }
    const std::string text = finding.remedy.empty() ? finding.text : finding.text + "; " + finding.remedy;
    const std::string name(finding.name.substr(0, kNameColumns));
    env.out(TerminalText::Format("  {} {}{} {}\n", MarkOf(finding.state, style), name,
                                 std::string(kNameColumns - name.size(), ' '), Wrapped(text, style.columns, kIndent)));
  }
}

void PrintFindingsJson(const std::vector<Finding>& findings, Env& env) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"area", finding.area},
                    {"name", finding.name},
                    {"state", FindingStateName(finding.state)},
                    {"text", finding.text},
                    {"remedy", finding.remedy.empty() ? Json() : Json(finding.remedy)}});
  }
  PrintDocument(env, DumpJsonIndented({{"version", UPSKILL_VERSION}, {"findings", list}}) + "\n");
}

}  // namespace

void AddDoctorCommand(CLI::App& app, DoctorOptions& options) {
  CLI::App* command =
      app.add_subcommand("doctor", "Show what this machine has, what is missing and what to do about it")
          ->group("Other");
  command->add_flag("--check", options.check, "Also ask the providers with a key whether they answer");
  command->add_flag("--json", options.json, "Print a JSON object");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"See what works here", "upskill doctor"},
                         {"Find out whether the keys are accepted", "upskill doctor --check"}});
  AddHelpNote(*command,
              "Exits with 1 if something is broken. What is only absent (–) is needed by some commands alone.");
}

ExitCode RunDoctor(const DoctorOptions& options, Env& env) {
  const std::vector<Finding> findings = LookAtMachine(env, options.check);
  if (options.json) {
    PrintFindingsJson(findings, env);
  } else {
    PrintFindings(findings, StyleFor(env, env.out_is_terminal, options.color), env);
  }
  const bool broken = std::any_of(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.state == Finding::State::kBroken; });
  return broken ? ExitCode::kFailed : ExitCode::kSuccess;
}

}  // namespace upskill
