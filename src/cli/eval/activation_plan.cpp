// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/activation_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "check/activation_check.h"
#include "eval/verdict/activation.h"
#include "measure/workspace.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOthers = 30;

bool IsQuery(const Case& test_case) {
  return std::any_of(test_case.checks.begin(), test_case.checks.end(), IsActivationCheck);
}

Result<Suite> SuiteOfQueries(const std::string& tests, const fs::path& folder) {
  if (!tests.empty()) return LoadSuite(tests, folder);
  for (const char* name : {kQueriesFile, "eval_queries.json"}) {
    std::error_code code;
    if (fs::exists(folder / name, code)) return LoadSuite(folder / name, folder);
  }
  return LoadSuiteOfSkill(folder);
}

// The skills right below a folder. One that can't be read is left out, with a warning.
SkillsFound SkillsBelow(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  SkillsFound found;
  for (const fs::path& path : paths) {
    if (!fs::exists(path / "SKILL.md", code)) continue;
    Result<Skill> skill = LoadSkill(path);
    if (skill) {
      found.skills.push_back(*std::move(skill));
    } else {
      found.warnings.push_back(fmt::format("students can't choose {}: {}", path.string(), skill.error().message));
    }
    if (found.skills.size() > kMostOthers) break;
  }
  return found;
}

}  // namespace

Result<Suite> LoadQueries(const std::string& tests, const fs::path& skill_folder) {
  Result<Suite> suite = SuiteOfQueries(tests, skill_folder);
  if (!suite && suite.error().kind != ErrorKind::kNotFound) return suite;
  Suite queries;
  if (suite) {
    queries.source = suite->source;
    queries.warnings = std::move(suite->warnings);
    queries.files = std::move(suite->files);
    for (Case& test_case : suite->cases) {
      if (IsQuery(test_case)) queries.cases.push_back(std::move(test_case));
    }
  }
  if (queries.cases.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} has no queries; write {} (docs/workspaces.md shows the format) or name a file with -t",
                             tests.empty() ? skill_folder.string() : tests, kQueriesFile)};
  }
  queries.document = {{"cases", Json::array()}};
  for (Case& query : queries.cases) query.mode = CaseMode::kWorkspace;
  return queries;
}

Result<Suite> SplitQueries(Suite queries) {
  for (const bool expected : {true, false}) {
    std::vector<std::pair<std::string, Case*>> kind;
    for (Case& query : queries.cases) {
      if (ShouldActivate(query) == expected) kind.emplace_back(Sha256Hex(query.input), &query);
    }
    if (expected && kind.size() < 2) {
      return InputError(
          "a description is improved on some queries and measured on others: there must be at least two that should "
          "trigger");
    }
    std::sort(kind.begin(), kind.end());
    const std::size_t train = std::min(kind.size() - std::min<std::size_t>(kind.size(), 1), (kind.size() * 3 + 4) / 5);
    for (std::size_t i = 0; i < kind.size(); ++i) kind[i].second->split = i < train ? Split::kTrain : Split::kTest;
  }
  return queries;
}

Result<SkillsFound> OtherSkills(const std::vector<std::string>& among, const Skill& skill) {
  SkillsFound found;
  std::error_code code;
  if (among.empty()) found = SkillsBelow(fs::absolute(skill.folder, code).lexically_normal().parent_path());
  for (const std::string& path : among) {
    SkillsFound several = SkillsBelow(path);
    if (several.skills.empty() && several.warnings.empty()) {
      ASSIGN_OR_RETURN(Skill one, LoadSkill(path));
      several.skills.push_back(std::move(one));
    }
    std::move(several.skills.begin(), several.skills.end(), std::back_inserter(found.skills));
    std::move(several.warnings.begin(), several.warnings.end(), std::back_inserter(found.warnings));
  }
  SkillsFound others{{}, std::move(found.warnings)};
  std::map<std::string, fs::path> folders = {{skill.name, skill.folder}};
  for (Skill& other : found.skills) {
    if (fs::equivalent(other.folder, skill.folder, code)) continue;
    const auto leave_out = [&](const std::string& why) {
      others.warnings.push_back(fmt::format("students can't choose {}: {}", other.folder.string(), why));
    };
    if (!IsFolderName(other.name)) {
      leave_out(fmt::format("its name \"{}\" can't be the name of a folder", ExcerptLine(other.name, 80)));
      continue;
    }
    const auto [known, is_new] = folders.emplace(other.name, other.folder);
    if (!is_new) {
      if (!fs::equivalent(known->second, other.folder, code))
        leave_out(fmt::format("{} has the same name", known->second.string()));
      continue;
    }
    if (others.skills.size() == kMostOthers) {
      if (among.empty()) break;
      return InputError(fmt::format("more than {} other skills to choose from; name fewer with --among", kMostOthers));
    }
    others.skills.push_back(std::move(other));
  }
  return others;
}

}  // namespace upskill
