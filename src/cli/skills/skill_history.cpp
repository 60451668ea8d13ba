// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/skill_history.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "cli/runs/loaded_run.h"
#include "eval/journal/journal.h"
#include "util/files.h"
#include "util/json.h"
#include "util/stored_json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// What decides whether a run's answers have to be read.
struct RunHead {
  fs::path folder;
  std::string skill;
  std::string sha256;
  std::vector<std::string> models;  // Student::spec
  bool is_trial = false;
};

Result<RunHead> HeadOfRun(const fs::path& folder) {
  const fs::path file = folder / "plan.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file.string()));
  try {
    const StoredJson stored(json);
    RunHead head;
    head.folder = folder;
    head.skill = stored.at("skill").at("name").text();
    head.sha256 = stored.at("skill").at("sha256").text();
    for (const StoredJson& student : stored.at("students").elements())
      head.models.push_back(student.at("model").text());
    head.is_trial = !JsonGet<std::string>(json, "trial", "").empty();
    return head;
  } catch (const StoredJsonFault& fault) {
    return NotAsWritten(file.string(), fault, "start a new run");
  }
}

class HistoryReader {
 public:
  explicit HistoryReader(const std::vector<SkillIdentity>& skills) : skills_(skills), seen_(skills.size()) {
    history_.verdicts.resize(skills.size());
    for (std::size_t i = 0; i < skills.size(); ++i) {
      by_name_[skills[i].name].insert(i);
      by_text_[skills[i].sha256].insert(i);
    }
  }

  // The runs come newest first.
  SkillHistory Read(const std::vector<fs::path>& runs) && {
    std::vector<RunHead> heads;
    for (const fs::path& run : runs) {
      Result<RunHead> head = HeadOfRun(run);
      if (!head) Report(head.error());
      if (head && !head->is_trial) heads.push_back(*std::move(head));
    }
    for (const bool skill_changed : {false, true}) {
      for (const RunHead& head : heads) Take(head, skill_changed);
    }
    return std::move(history_);
  }

 private:
  // For the skills that have changed since the run, or for those that haven't.
  void Take(const RunHead& head, bool skill_changed) {
    const std::set<std::size_t> wanting = SkillsThatWant(head, skill_changed);
    if (wanting.empty()) return;
    const Result<JudgedRun> run = LoadRun(head.folder);
    if (!run) return Report(run.error());
    for (const RunRow& row : RowsOf(*run)) {
      if (!row.lift()) continue;
      for (const std::size_t skill : wanting) {
        if (seen_[skill].insert(row.student.student.spec).second)
          history_.verdicts[skill].push_back({row, skill_changed});
      }
    }
  }

  // Of the run's name or text, and without a verdict on one of its models yet.
  std::set<std::size_t> SkillsThatWant(const RunHead& head, bool skill_changed) const {
    std::set<std::size_t> found;
    for (const auto& [index, key] : {std::pair{&by_name_, &head.skill}, std::pair{&by_text_, &head.sha256}}) {
      if (const auto skills = index->find(*key); skills != index->end())
        found.insert(skills->second.begin(), skills->second.end());
    }
    std::erase_if(found, [&](std::size_t skill) {
      if (skill_changed != (head.sha256 != skills_[skill].sha256)) return true;
      return std::all_of(head.models.begin(), head.models.end(),
                         [&](const std::string& model) { return seen_[skill].contains(model); });
    });
    return found;
  }

  void Report(const Error& error) { history_.problems.push_back("run skipped: " + error.message); }

  const std::vector<SkillIdentity>& skills_;
  std::map<std::string, std::set<std::size_t>> by_name_;
  std::map<std::string, std::set<std::size_t>> by_text_;
  std::vector<std::set<std::string>> seen_;  // by skill: the models with a verdict
  SkillHistory history_;
};

}  // namespace

SkillHistory ReadSkillHistory(const fs::path& runs_dir, const std::vector<SkillIdentity>& skills) {
  std::vector<fs::path> runs = FindRuns(runs_dir);
  std::ranges::reverse(runs);
  return HistoryReader(skills).Read(runs);
}

}  // namespace upskill
