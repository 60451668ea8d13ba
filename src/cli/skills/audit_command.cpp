// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/audited_skill.h"
#include "cli/skills/commands.h"
#include "cli/skills/workflow_command.h"
#include "skill/skill_tree.h"
#include "skill/specification.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct AuditOptions {
  std::vector<std::string> paths;
  std::string waivers;  // empty: audit-waivers.txt beside each skill
  std::string format;   // "text", "json", "sarif" or "github"
};

// Agents follow such links, which `install --link` makes.
std::vector<std::string> LinkedSkillsIn(const std::string& folder) {
  std::vector<std::string> linked;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored) && fs::exists(entry->path() / "SKILL.md", ignored))
      linked.push_back(entry->path().string());
  }
  std::sort(linked.begin(), linked.end());
  return linked;
}

Result<std::vector<AuditedSkill>> AuditAll(const AuditOptions& options) {
  std::vector<AuditedSkill> skills;
  for (const std::string& path : options.paths) {
    std::error_code code;
    std::vector<std::string> found = {SkillFolderOf(path)};
    if (fs::is_directory(path, code)) {
      ASSIGN_OR_RETURN(found, FindSkillFolders(PlainPath(path)));
      if (found.empty() && LinkedSkillsIn(path).empty())
        return Error{ErrorKind::kNotFound, fmt::format("no skills in '{}': no folder has a SKILL.md", path)};
    } else if (!fs::exists(path, code)) {
      return Error{ErrorKind::kNotFound, fmt::format("path '{}' does not exist", path)};
    }
    for (std::string& linked : LinkedSkillsIn(path)) found.push_back(std::move(linked));
    for (const std::string& skill : found) {
      ASSIGN_OR_RETURN(AuditedSkill audited, AuditFolder(skill, options.waivers));
      skills.push_back(std::move(audited));
    }
  }
  return skills;
}

std::size_t CountAll(const std::vector<AuditedSkill>& skills, Severity severity) {
  std::size_t count = 0;
  for (const AuditedSkill& skill : skills) count += CountFindings(skill.findings, severity);
  return count;
}

std::size_t CountWaived(const std::vector<AuditedSkill>& skills) {
  std::size_t count = 0;
  for (const AuditedSkill& skill : skills) {
    count += static_cast<std::size_t>(
        std::count_if(skill.findings.begin(), skill.findings.end(), [](const AuditFinding& f) { return f.waived; }));
  }
  return count;
}

// What to do, in a sentence.
std::string ResultText(const std::vector<AuditedSkill>& skills) {
  constexpr std::size_t kNamed = 3;
  const std::size_t severe = CountAll(skills, Severity::kSevere);
  const std::size_t warnings = CountAll(skills, Severity::kWarning);
  const std::size_t waived = CountWaived(skills);
  const std::string rest =
      waived > 0 ? fmt::format(" {} waived.", Counted(waived, "finding") + (waived == 1 ? " is" : " are")) : "";
  if (severe == 0) {
    const std::string look = warnings == 0 ? "." : fmt::format("; look at {}.", Counted(warnings, "warning"));
    return fmt::format("No severe findings in {}{}{}", Counted(skills.size(), "skill"), look, rest);
  }
  std::vector<std::string> names;
  for (const AuditedSkill& skill : skills) {
    if (CountFindings(skill.findings, Severity::kSevere) > 0) names.push_back(ExcerptLine(skill.name, 64));
  }
  const std::size_t bad = names.size();
  if (bad > kNamed) {
    names.resize(kNamed);
    names.push_back(fmt::format("{} more", bad - kNamed));
  }
  const std::string of = skills.size() == 1 ? "" : fmt::format(" in {} of {} skills", bad, skills.size());
  return fmt::format("{}{}: review {} before you install {}.{}", Counted(severe, "severe finding"), of,
                     severe == 1 ? "it" : "them", fmt::join(names, ", "), rest);
}

void PrintText(const std::vector<AuditedSkill>& skills, Env& env) {
  env.out(TerminalText::Format("{}\n", ResultText(skills)));
  std::size_t notes = 0;
  for (const AuditedSkill& skill : skills) {
    notes += CountFindings(skill.findings, Severity::kNote);
    bool is_first = true;
    for (const AuditFinding& finding : skill.findings) {
      if (finding.severity == Severity::kNote) continue;
      if (std::exchange(is_first, false)) env.out(TerminalText::Format("\n{}\n", skill.path));
      env.out(TerminalText::Format("  {:<7}  {} {} ({}){}\n", SeverityName(finding.severity), PlaceText(finding),
                                   finding.reason, finding.rule, finding.waived ? ", waived " + finding.waiver : ""));
      env.out(TerminalText::Format("           {}\n", finding.excerpt));
    }
  }
  if (notes > 0) env.out(TerminalText::Format("\n{} (shown with --format json)\n", Counted(notes, "note")));
}

Json JsonOf(const std::vector<AuditedSkill>& skills) {
  Json list = Json::array();
  for (const AuditedSkill& skill : skills) {
    Json findings = Json::array();
    for (const AuditFinding& finding : skill.findings) {
      findings.push_back({{"rule", finding.rule},
                          {"severity", SeverityName(finding.severity)},
                          {"file", finding.file},
                          {"line", finding.line > 0 ? Json(finding.line) : Json(nullptr)},
                          {"reason", finding.reason},
                          {"excerpt", finding.excerpt},
                          {"waived", finding.waived}});
    }
    list.push_back({{"path", skill.path}, {"name", skill.name}, {"findings", std::move(findings)}});
  }
  return {{"result", ResultText(skills)}, {"skills", std::move(list)}};
}

// SARIF 2.1.0, which code scanning reads.
Json SarifOf(const std::vector<AuditedSkill>& skills) {
  const auto level = [](Severity severity) {
    return severity == Severity::kSevere ? "error" : severity == Severity::kWarning ? "warning" : "note";
  };
  Json rules = Json::array();
  for (const AuditRule& rule : BuiltInAuditRules().rules)
    rules.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.reason}}}});
  Json results = Json::array();
  for (const AuditedSkill& skill : skills) {
    for (const AuditFinding& finding : skill.findings) {
      Json place = {{"artifactLocation", {{"uri", (fs::path(skill.path) / finding.file).generic_string()}}}};
      if (finding.line > 0) place["region"] = {{"startLine", finding.line}};
      Json result = {{"ruleId", finding.rule},
                     {"level", level(finding.severity)},
                     {"message", {{"text", fmt::format("{}: {}", finding.reason, finding.excerpt)}}},
                     {"locations", Json::array({{{"physicalLocation", std::move(place)}}})}};
      if (finding.waived) result["suppressions"] = Json::array({{{"kind", "external"}}});
      results.push_back(std::move(result));
    }
  }
  const Json driver = {{"name", "upskill audit"}, {"rules", std::move(rules)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}};
}

void PrintForGithub(const std::vector<AuditedSkill>& skills, Env& env) {
  for (const AuditedSkill& skill : skills) {
    for (const AuditFinding& finding : skill.findings) {
      if (finding.waived || finding.severity == Severity::kNote) continue;
      PrintDocument(env, WorkflowCommand(finding.severity == Severity::kSevere ? "error" : "warning",
                                         (fs::path(skill.path) / finding.file).generic_string(), finding.line, 0,
                                         fmt::format("{} ({}): {}", finding.reason, finding.rule, finding.excerpt)));
    }
  }
  env.error(TerminalText::Format("{}\n", ResultText(skills)));
}

void AddAuditCommand(CLI::App& app, AuditOptions& options) {
  CLI::App* command = app.add_subcommand("audit", "Check skills for anything unsafe before you install them")
                          ->group("Skills for agents");
  command->add_option("PATH", options.paths, "Skill, a folder of skills, or a .skill or .zip archive")->required();
  command
      ->add_option("--waivers", options.waivers,
                   "File of findings that are accepted [default: audit-waivers.txt beside each skill]")
      ->type_name("FILE");
  command->add_option("--format", options.format, "text, json, sarif or github")
      ->type_name("FORMAT")
      ->default_val("text")
      ->transform(OneOf({"text", "json", "sarif", "github"}));
  AddExamples(*command, {{"Audit a skill", "upskill audit examples/skills/kernel-builder-cuda-kernels"},
                         {"For GitHub's code scanning", "upskill audit skills --format sarif > audit.sarif"}});
  AddHelpNote(*command,
              "Nothing is run. Exit code 1: there are severe findings that aren't waived. docs/audit.md "
              "says what an audit can't find.");
}

ExitCode RunAudit(const AuditOptions& options, Env& env) {
  const Result<std::vector<AuditedSkill>> skills = AuditAll(options);
  if (!skills) {
    PrintError(env, skills.error());
    return ExitCode::kUsage;
  }
  for (const AuditedSkill& skill : *skills) {
    for (const std::string& problem : skill.problems) PrintWarning(env, problem);
  }
  if (options.format == "text") {
    PrintText(*skills, env);
  } else if (options.format == "github") {
    PrintForGithub(*skills, env);
  } else {
    PrintDocument(env, DumpJson(options.format == "json" ? JsonOf(*skills) : SarifOf(*skills)) + "\n");
  }
  return CountAll(*skills, Severity::kSevere) == 0 ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace

Command AuditCommand() { return CommandOf({"audit"}, AddAuditCommand, RunAudit, Keys::kNone); }

}  // namespace upskill
