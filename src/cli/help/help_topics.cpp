// SPDX-License-Identifier: Apache-2.0
#include "cli/help/help_topics.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "check/check_makers.h"
#include "cli/help/built_in_text.h"
#include "model/sim.h"
#include "report/terminal/style.h"
#include "skill/check_types.h"

namespace upskill {
namespace {

// The text of a topic with the rows of a table in the place that it has for them.
std::string WithTable(std::string_view topic, std::string_view place, const std::string& rows) {
  std::string text(BuiltInText(topic));
  return text.replace(text.find(place), place.size(), rows);
}

std::string ChecksText() {
  constexpr std::size_t kColumns = 80;
  constexpr std::size_t kMeaning = 46;
  std::string rows;
  std::string missing;
  for (const CheckType& type : kCheckTypes) {
    rows += fmt::format("  {:<14} {:<16} {}\n", type.name, type.keys,
                        Wrapped(std::string(type.passes_when), kColumns, kColumns - kMeaning).text());
    if (FindCheckMaker(type.kind) == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", type.name);
  }
  if (!missing.empty()) rows += fmt::format("\n{}:\n{}.\n", missing, kWingMissing);
  return WithTable("help/checks.txt", "{{types}}", rows);
}

std::string SimText() {
  std::string rows;
  for (const SimSetting& setting : kSimSettings)
    rows += fmt::format("  {:<11} {:<17} {}\n", setting.name, setting.values, setting.meaning);
  return WithTable("help/sim.txt", "{{settings}}", rows);
}

const std::vector<HelpTopic>& Topics() {
  static const std::string checks = ChecksText();
  static const std::string sim = SimText();
  static const std::vector<HelpTopic> topics = {
      {"model-strings", "How models are named, their settings and keys", BuiltInText("help/model-strings.txt")},
      {"agents", "Agent programs as students", BuiltInText("help/agents.txt")},
      {"sim", "Settings of simulated students", sim},
      {"checks", "The types of checks in a suite of cases", checks},
      {"answers", "Right and wrong answers to try the checks of a suite on", BuiltInText("help/answers.txt")},
      {"verdicts", "What helps, hurts, no effect and undecided mean", BuiltInText("help/verdicts.txt")},
      {"config", "The configuration file and environment variables", BuiltInText("help/config.txt")},
      {"exit-codes", "Exit codes, and gates for CI", BuiltInText("help/exit-codes.txt")},
      {"files", "Skills, suites of cases, runs", BuiltInText("help/files.txt")},
  };
  return topics;
}

}  // namespace

std::span<const HelpTopic> HelpTopics() { return Topics(); }

std::span<const HelpPage> HelpPages() {
  constexpr std::string_view kEvalOn = "upskill eval SKILL --on SYSTEM --shards N  (upskill help eval: Jobs elsewhere)";
  static const std::vector<HelpPage> pages = {
      {"activation", "Whether models find a skill by its description", "workspaces.md",
       "upskill eval SKILL --activation  (upskill help eval)\n"
       "upskill improve-description SKILL  (upskill help improve-description)"},
      {"workspaces", "Cases in which a model acts in a folder", "workspaces.md",
       "upskill eval SKILL --mode workspace  (upskill help eval: Workspaces)"},
      {"slurm", "Shards of a run as Slurm jobs", "slurm.md", kEvalOn},
      {"kubernetes", "Shards of a run as Kubernetes Jobs", "kubernetes.md", kEvalOn},
      {"hf-jobs", "Shards of a run as Hugging Face Jobs", "hf-jobs.md", kEvalOn},
      {"matrix", "Many skills and models, and which verdicts hold for all of them", "matrix.md",
       "upskill eval skills/* -m A -m B -o table.html  (upskill help eval)\n"
       "upskill runs --matrix  (upskill help runs)"},
      {"judge", "Checks that ask a model", "judge.md", "upskill eval SKILL --judge-model MODEL  (upskill help eval)"},
      {"kernels", "CUDA programs without a GPU", "kernels.md", "upskill kernel check FILE.cu"},
      {"sandbox", "Where commands of suites and answers run", "sandbox.md", "upskill doctor"},
      {"traces", "Recordings of agents", "traces.md", "upskill trace find"},
      {"contrasts", "Comparing any two choices of model and skill", "contrasts.md",
       "upskill compare A B --choices X Y  (upskill help compare)"},
  };
  return pages;
}

}  // namespace upskill
