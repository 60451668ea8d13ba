// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/plan/alpha_share.h"
#include "model/chat.h"
#include "model/workspace.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "stats/agreement.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Journaled by name (ArmName): never rename.
enum class Arm {
  kBaseline,  // no skill
  kSkill,
  kPlacebo,   // unrelated text of the skill's length
  kPrevious,  // another version of the skill
};

const char* ArmName(Arm arm);
Result<Arm> ArmFromName(std::string_view name);

// The skill as it was when the run started.
struct SkillSnapshot {
  std::string name;
  std::string folder;  // where it came from; only shown
  std::string body;
  std::string sha256;       // of the body
  std::string lineage;      // LineageOf its folder; may be empty
  std::string description;  // of its frontmatter; empty where it isn't known
};

// A model under test, as resolved when the run started.
struct Student {
  std::string spec;      // the model string as given: what `--resume` and the resume line use
  std::string name;      // for tables
  std::string identity;  // ModelInfo::identity
};

// What `upskill judge-check` has found of a judge.
struct JudgeRecord {
  ConfusionCounts counts;
  std::string time;           // UTC
  int rubrics_checked = 0;    // of those that the run's checks have
  EffectiveCounts effective;  // each answer as often as it occurred in its run
  bool arms_differ = false;   // it errs more often with the skill than without, or less (ErrsDifferently)

  bool operator==(const JudgeRecord&) const = default;
};

// The model that checks of the type `judge` ask.
struct RunJudge {
  std::string spec;                    // as given
  std::string name;                    // for tables
  std::string identity;                // ModelInfo::identity
  int rubrics = 0;                     // of the run's checks, each counted once
  std::optional<JudgeRecord> checked;  // absent: nobody has compared it with people
};

struct VerdictOptions {
  double alpha = 0.05;    // chance of a false "helps", and of a false "hurts", over all looks and all students
  double margin = 0.05;   // "no effect": the confidence sequence of the lift is within ±margin (a fraction)
  double min_lift = 0.0;  // "helps" claims a lift above this
};

// What a run was told to keep to and to meet. It changes no cell; a resumed run keeps it unless told otherwise.
struct RunTerms {
  std::string gate;  // as given; empty: none
  std::optional<double> max_cost_usd;
  std::optional<std::int64_t> max_tokens;  // in all
  std::optional<double> timeout_seconds;

  bool empty() const { return gate.empty() && !max_cost_usd && !max_tokens && !timeout_seconds; }
  bool operator==(const RunTerms&) const = default;
};

// The part of a plan's cells that one of several machines works on. All arms of a (student, round, case) are in one
// shard.
struct Shard {
  int index = 0;  // from 0
  int of = 1;
};

// Where the answers of an imported run come from (import/). Such a run can't be repeated, resumed or checked again.
struct ImportSource {
  std::string format;              // the program that made them: "promptfoo"
  std::string source;              // the file or folder, as named by the user
  std::string sha256;              // of its content
  std::string how;                 // the options that it was read with, as JSON
  std::vector<std::string> notes;  // sentences about what it lacks or what was left out
};

// How students work on the cases that are done in a workspace.
struct WorkspacePlan {
  CaseMode mode = CaseMode::kUnset;  // of all cases; unset: as each case says
  int max_turns = 20;
  SkillLoad load = SkillLoad::kBody;
  double case_seconds = 600.0;
  std::int64_t case_tokens = 0;  // 0: no limit
  std::string system_prompt;
  std::vector<Tool> tools;
  SkillFolder skill;         // whose body Plan::skill has
  std::string skill_prompt;  // what the system prompt says of it when it is loaded on demand
  SkillFolder previous;      // of the arm kPrevious; empty without it
  std::string previous_prompt;
  // Of a run that measures activation: its cases are queries, and these skills can be read instead.
  bool activation = false;
  std::vector<SkillFolder> others;
};

// Everything needed to repeat a run, stored as plan.json. PlanToJson has the persisted names of the fields.
struct Plan {
  std::string run;  // name of the run's folder
  std::string created;
  SkillSnapshot skill;
  Suite suite;
  std::vector<Student> students;
  std::optional<RunJudge> judge;
  std::vector<Arm> arms;
  int rounds = 1;
  int planned_rounds = 0;  // `rounds` when the run was first started, if it was raised later; 0: `rounds`
  Sampling sampling;       // seed: of the whole run; the seed of each cell is derived from it
  std::string system_prompt;
  SkillSnapshot previous;  // of the arm kPrevious; empty without it
  std::string placebo;     // text of the arm kPlacebo; empty without it
  VerdictOptions verdict;
  RunTerms terms;
  AlphaShare share;  // of verdict.alpha
  Shard shard;
  std::string trial;                     // of a generation: the stage that it served, "train"; empty: a run by itself
  std::optional<ImportSource> imported;  // results of another program
  std::string rechecked_from;            // the run whose answers it has, with other checks; empty: its own
  std::vector<std::string> left_out;  // sentences about cases that no answer could pass here, which are not in `suite`
  bool offers_cache = true;           // later runs may take answers from this one
  bool stop_when_decided = false;     // end after the round that settles everything (stop_rule.h)
  std::optional<WorkspacePlan> workspace;  // absent: all cases are answered in words

  // The rounds over which verdicts spend alpha: raising `rounds` later doesn't change them.
  int first_planned_rounds() const { return planned_rounds > 0 ? planned_rounds : rounds; }
  // Whether students work on this case in a workspace.
  bool acts_in(const Case& test_case) const;
  // How all cases are done; unset: as each case says.
  CaseMode mode_of_all() const { return workspace ? workspace->mode : CaseMode::kAnswer; }
  // Whether it is measured how students choose among skills, instead of how they answer.
  bool measures_activation() const { return workspace && workspace->activation; }
  bool has_arm(Arm arm) const { return std::find(arms.begin(), arms.end(), arm) != arms.end(); }
};

// The counts as plans, judges.jsonl and `--json` have them. From a file that people may have edited: each between 0 and
// a million.
void PutCounts(const ConfusionCounts& counts, Json& json);
ConfusionCounts CountsFromJson(const Json& json);
Json EffectiveToJson(const EffectiveCounts& counts);
EffectiveCounts EffectiveFromJson(const Json& json, const ConfusionCounts& counts);  // `counts` where it isn't stored

inline constexpr int kPlanSchema = 1;
inline constexpr int kMaxRounds = 100000;

Json PlanToJson(const Plan& plan);
// Errors: malformed, or written by a newer version.
Result<Plan> PlanFromJson(const Json& json, const std::string& source);

// Error: the run is an imported one, so nothing can be done that its models, requests or checks are needed for.
// `what`: "recheck", "resume".
Status RefuseImported(const Plan& plan, const std::string& what);

// Reads plan.json in a run's folder.
Result<Plan> LoadPlan(const std::filesystem::path& run_folder);

// A run's folder, and the plan in it.
struct StoredRun {
  std::filesystem::path folder;
  Plan plan;
};

SkillSnapshot Snapshot(const Skill& skill);
SkillSnapshot Snapshot(const std::string& name, const std::string& body);  // of a skill without a folder

}  // namespace upskill
