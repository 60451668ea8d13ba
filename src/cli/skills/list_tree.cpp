// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/list_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/skills/agent_option.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/figures.h"
#include "report/terminal/verdict_text.h"
#include "report/terminal/verdict_words.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortFiles = 3;     // that a short tree names
constexpr std::size_t kShortVerdicts = 3;  // that a short tree has

struct TreeNode {
  TreeNode(TerminalText head_line, std::string text_below) : head(std::move(head_line)), text(std::move(text_below)) {}

  TerminalText head;
  std::string text;  // below the head, without a branch of its own; may be empty
  std::vector<TreeNode> children;
};

struct TreePrinter {
  const Style& style;
  bool is_cut;  // lines that are too long are cut, else wrapped

  TerminalText Line(const std::string& prefix, const TerminalText& text) const {
    const std::size_t taken = DisplayColumns(prefix);
    const std::size_t room = style.columns > taken ? style.columns - taken : 1;
    return TerminalText::Trusted(prefix) + (is_cut ? text.Cut(room) : text) + "\n";
  }

  TerminalText Text(const std::string& prefix, const std::string& text) const {
    if (is_cut) return Line(prefix, TerminalText::EscapeLine(text));
    TerminalText out;
    const TerminalText wrapped = Wrapped(text, style.columns, DisplayColumns(prefix));
    for (const std::string_view line : SplitLines(wrapped.text()))
      out += TerminalText::Trusted(prefix + std::string(Trim(line)) + "\n");
    return out;
  }

  TerminalText Print(const TreeNode& node, const std::string& prefix) const {
    TerminalText out;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool is_last = i + 1 == node.children.size();
      const TreeNode& child = node.children[i];
      const std::string below = prefix + (is_last ? "    " : "│   ");
      out += Line(prefix + (is_last ? "└── " : "├── "), child.head);
      if (!child.text.empty()) out += Text(below, child.text);
      out += Print(child, below);
    }
    return out;
  }
};

TreeNode VerdictNode(const LastVerdict& last, bool verbose, const Style& style) {
  const RunRow& row = last.row;
  const std::string& run = row.run;
  constexpr std::size_t kShortName = 4;  // by which every command finds the run
  std::string source = last.skill_changed ? "the skill has changed since run " : "run ";
  source += (verbose || run.size() <= kShortName ? run : run.substr(run.size() - kShortName));
  if (row.reference() == Arm::kPrevious) source += ", against the previous version";
  if (verbose && !row.created.empty()) source += ", " + row.created;
  if (!row.part.empty()) source += ", shard " + row.part;
  if (row.rechecked) source += ", rechecked";
  const TerminalText dim = Tinted(style, Tint::kDim, TerminalText::EscapeLine(source));
  const std::string& model = row.student.student.name;
  if (verbose)
    return {TerminalText::Format("{}: {} · {}", model, LiftLine(row.verdict, *row.shown_lift(), style), dim), ""};
  const std::string claim = ClaimText(row.verdict);
  const TerminalText word =
      Tinted(style, ShownAs(row.verdict.word).tint, TerminalText::EscapeLine(claim.substr(0, claim.find(';'))));
  return {TerminalText::Format("{}: {}, {} points · {}", model, word, PointsText(*row.shown_lift()), dim), ""};
}

std::string StateOfInstallation(const SkillInstallation& place) {
  switch (place.state.presence) {
    case Presence::kAbsent:
      return "removed since";
    case Presence::kChanged:
      return "changed since: " + DifferencesText(place.state.differences);
    default:
      return place.installed.mode == InstallMode::kLink ? "linked" : "unchanged";
  }
}

// `files`: below the folder `name`.
void AddFiles(const std::string& name, const std::vector<std::string>& files, bool verbose, TreeNode& node) {
  if (files.empty()) return;
  TreeNode branch{TerminalText::Format("{}/ ({})", name, Counted(files.size(), "file")), ""};
  const auto below = [&](const std::string& file) {
    return file.starts_with(name + "/") ? file.substr(name.size() + 1) : file;
  };
  if (verbose) {
    for (const std::string& file : files) branch.children.push_back({TerminalText::EscapeLine(below(file)), ""});
  } else {
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), kShortFiles); ++i)
      names += (i == 0 ? "" : ", ") + below(files[i]);
    if (files.size() > kShortFiles) names += fmt::format(" and {} more", files.size() - kShortFiles);
    branch.head = TerminalText::Format("{}/ {}", name, names);
  }
  node.children.push_back(std::move(branch));
}

void AddInstallations(const ListedSkill& listed, bool verbose, TreeNode& node) {
  if (listed.installations.empty()) return;
  if (verbose) {
    for (const SkillInstallation& place : listed.installations) {
      node.children.push_back({TerminalText::Format("installed for {}: {} ({})", NamesOfAgents(place.installed.agents),
                                                    place.installed.folder, StateOfInstallation(place)),
                               ""});
    }
    return;
  }
  std::vector<std::string> agents;
  bool is_changed = false;
  for (const SkillInstallation& place : listed.installations) {
    is_changed = is_changed || place.state.presence == Presence::kChanged || place.state.presence == Presence::kAbsent;
    for (const std::string& agent : place.installed.agents) {
      if (std::find(agents.begin(), agents.end(), agent) == agents.end()) agents.push_back(agent);
    }
  }
  node.children.push_back({TerminalText::Format("installed for {}{}", NamesOfAgents(agents),
                                                is_changed ? " (changed or removed since; -v shows where)" : ""),
                           ""});
}

TreeNode NodeOf(const ListedSkill& listed, bool verbose, const Style& style) {
  if (!listed.skill) {
    const std::string name = fs::path(listed.folder).filename().string();
    return {TerminalText::Format("{} · {}", Tinted(style, Tint::kBold, TerminalText::EscapeLine(name)),
                                 Tinted(style, Tint::kBad, "can't be read")),
            listed.skill.error().message};
  }
  const Skill& skill = *listed.skill;
  TreeNode node{
      TerminalText::Format("{} · about {} · {}", Tinted(style, Tint::kBold, TerminalText::EscapeLine(skill.name)),
                           Counted(EstimateTokens(skill.body), "token"),
                           listed.cases == 0 ? "no cases" : Counted(listed.cases, "case")),
      skill.description};
  std::size_t shown = 0;
  for (const LastVerdict& last : listed.verdicts) {
    if (!verbose && shown++ == kShortVerdicts) {
      node.children.push_back(
          {TerminalText::Format("{}; -v shows them", Counted(listed.verdicts.size() - kShortVerdicts, "more model")),
           ""});
      break;
    }
    node.children.push_back(VerdictNode(last, verbose, style));
  }
  AddFiles("references", skill.references, verbose, node);
  AddFiles("scripts", skill.scripts, verbose, node);
  AddInstallations(listed, verbose, node);
  if (verbose) node.children.push_back({TerminalText::Format("folder {}", listed.folder), ""});
  if (!listed.suite_problem.empty())
    node.children.push_back({Tinted(style, Tint::kBad, "its cases can't be read"), listed.suite_problem});
  for (const std::string& warning : verbose ? skill.warnings : std::vector<std::string>())
    node.children.push_back({"warning", warning});
  return node;
}

Json VerdictToJson(const LastVerdict& last) {
  const RunRow& row = last.row;
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"model", row.student.student.spec},
          {"name", row.student.student.name},
          {"run", row.run},
          {"created", row.created},
          {"verdict", VerdictName(row.verdict.word)},
          {"lift", number(row.lift())},
          {"lift_low", number(row.verdict.low)},
          {"lift_high", number(row.verdict.high)},
          {"shard", row.part.empty() ? Json(nullptr) : Json(row.part)},
          {"skill_changed", last.skill_changed}};
}

Json InstallationToJson(const SkillInstallation& place) {
  return {{"folder", place.installed.folder.string()},
          {"source", place.installed.source.string()},
          {"version", place.installed.version.empty() ? Json(nullptr) : Json(place.installed.version)},
          {"linked", place.installed.mode == InstallMode::kLink},
          {"agents", place.installed.agents},
          {"removed", place.state.presence == Presence::kAbsent},
          {"changed", place.state.presence == Presence::kChanged},
          {"differences", place.state.differences}};
}

}  // namespace

TerminalText SkillTree(const std::string& folder, const std::vector<ListedSkill>& skills, bool verbose,
                       const Style& style) {
  TreeNode root{TerminalText(), ""};
  for (const ListedSkill& listed : skills) root.children.push_back(NodeOf(listed, verbose, style));
  return TerminalText::Format("{}\n", folder) + TreePrinter{style, !verbose}.Print(root, "");
}

Json ListedSkillToJson(const ListedSkill& listed) {
  if (!listed.skill) return {{"folder", listed.folder}, {"error", listed.skill.error().message}};
  const Skill& skill = *listed.skill;
  Json verdicts = Json::array();
  for (const LastVerdict& last : listed.verdicts) verdicts.push_back(VerdictToJson(last));
  Json installed = Json::array();
  for (const SkillInstallation& place : listed.installations) installed.push_back(InstallationToJson(place));
  return {{"folder", listed.folder},
          {"name", skill.name},
          {"description", skill.description},
          {"tokens", EstimateTokens(skill.body)},
          {"cases", listed.cases},
          {"cases_error", listed.suite_problem.empty() ? Json(nullptr) : Json(listed.suite_problem)},
          {"references", skill.references},
          {"scripts", skill.scripts},
          {"verdicts", verdicts},
          {"installed", installed},
          {"warnings", skill.warnings}};
}

}  // namespace upskill
