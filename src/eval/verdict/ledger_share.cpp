// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "eval/journal/journal.h"
#include "eval/verdict/input_clusters.h"
#include "eval/verdict/ledger.h"
#include "skill/check_reader.h"
#include "util/hash.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortHash = 12;  // hex digits

Json FilesToJson(const std::vector<std::pair<std::string, std::string>>& named) {
  Json files = Json::array();
  for (const auto& [name, text] : named) files.push_back({name, text});
  return files;
}

// A case with other checks is the same question, so that editing a check is another look at it.
std::string InputHash(const Case& test_case) {
  return Sha256Hex(DumpJson({test_case.input, FilesToJson(test_case.files)})).substr(0, kShortHash);
}

std::string CaseHash(const Case& test_case) {
  Json checks = Json::array();
  for (const CheckSpec& check : test_case.checks) checks.push_back(CheckIdentity(check));
  Json parts = Json::array({test_case.input, FilesToJson(test_case.files), test_case.output_file, checks});
  // Not in the hashes of cases without it, which earlier versions have written.
  if (const auto& fill = test_case.fill)
    parts.push_back(Json::array({fill->file, fill->gap, fill->pattern, FilesToJson(fill->files)}));
  return Sha256Hex(DumpJson(parts));
}

// Whatever must be equal for two runs to have one null hypothesis, apart from the skill, the students and the seed.
std::string ConditionsOf(const Plan& plan) {
  std::vector<std::string> cases;
  cases.reserve(plan.suite.cases.size());
  for (const Case& test_case : plan.suite.cases) cases.push_back(CaseHash(test_case));
  std::sort(cases.begin(), cases.end());
  // A previous version beside the baseline is another comparison with the same answers.
  const Arm compared = ComparedArm(plan);
  const std::string previous = compared == Arm::kPrevious ? plan.previous.sha256 : "";
  const Json temperature = plan.sampling.temperature ? Json(*plan.sampling.temperature) : Json(nullptr);
  return Sha256Hex(DumpJson({cases, temperature, plan.sampling.max_tokens, plan.system_prompt, plan.verdict.min_lift,
                             ArmName(compared), previous}));
}

// By the id of the lineage; where one side has none, by the name or the folder.
bool SameLineage(const LedgerRun& a, const LedgerRun& b) {
  if (!a.lineage.empty() && !b.lineage.empty()) return a.lineage == b.lineage;
  return a.sha256 == b.sha256 || a.skill == b.skill || (!a.folder.empty() && a.folder == b.folder);
}

// Whether at least half of the inputs of `run` were in `earlier`; any, if their answers are the same (`reuses_answers`
// and one seed).
bool SharesCases(const LedgerRun& run, const LedgerRun& earlier, bool reuses_answers) {
  std::vector<std::string> common;
  std::set_intersection(run.inputs.begin(), run.inputs.end(), earlier.inputs.begin(), earlier.inputs.end(),
                        std::back_inserter(common));
  if (reuses_answers && run.seed == earlier.seed) return !common.empty();
  return 2 * common.size() >= run.inputs.size();
}

// Whether anything of the run was seen, or may be by the time its verdict is. Without an answer, there is nothing to
// see.
bool WasStarted(const LedgerRun& earlier, const fs::path& runs_dir) {
  if (!earlier.results.empty()) return true;
  const fs::path folder = runs_dir / earlier.run;
  std::error_code code;
  return fs::exists(folder / "plan.json", code) && (HasAnswer(folder) || IsBeingWritten(folder));
}

bool SameTest(const LedgerRun& run, const LedgerRun& earlier) {
  return earlier.sha256 == run.sha256 && earlier.conditions == run.conditions;
}

bool HaveCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const auto& one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

// The earlier looks at the run's tests, by any of its students.
std::vector<const LedgerRun*> HistoryOf(const LedgerRun& run, const Ledger& ledger, const fs::path& runs_dir,
                                        bool reuses_answers) {
  std::vector<const LedgerRun*> history;
  for (const LedgerRun& earlier : ledger.runs) {
    if (!(earlier.can_decide || reuses_answers) || !SameLineage(run, earlier)) continue;
    if (!SharesCases(run, earlier, reuses_answers)) continue;
    if (earlier.run == run.run || !WasStarted(earlier, runs_dir)) continue;
    if (HaveCommon(run.students, earlier.students)) history.push_back(&earlier);
  }
  return history;
}

// Whether the earlier run had a case, or a check of a case, that the run doesn't have.
bool LacksCasesOf(const LedgerRun& run, const LedgerRun& earlier) {
  if (earlier.cases.empty())
    return !std::includes(run.inputs.begin(), run.inputs.end(), earlier.inputs.begin(), earlier.inputs.end());
  return !std::includes(run.cases.begin(), run.cases.end(), earlier.cases.begin(), earlier.cases.end());
}

// What one student's history leaves.
struct StudentShare {
  int look = 1;
  const LedgerRun* continued = nullptr;
  std::map<std::uint64_t, const LedgerRun*> other_seeds;  // the latest look at each
};

StudentShare ShareOfStudent(const std::vector<const LedgerRun*>& history, const LedgerRun& run,
                            const std::string& student, bool reuses_answers, bool greedy) {
  StudentShare share;
  const LedgerRun* same_seed = nullptr;
  const LedgerRun* combined = nullptr;
  for (const LedgerRun* earlier : history) {
    if (std::find(earlier->students.begin(), earlier->students.end(), student) == earlier->students.end()) continue;
    share.look = std::max(share.look, earlier->share.look + 1);
    if (!SameTest(run, *earlier)) continue;
    if (earlier->seed == run.seed) same_seed = earlier;
    if (earlier->combines) combined = earlier;
    const auto result = earlier->results.find(student);
    // With repeated answers, another seed gives the same ones again: no independent evidence.
    if (earlier->seed == run.seed || greedy || result == earlier->results.end() || result->second.answers_repeat)
      continue;
    share.other_seeds[earlier->seed] = earlier;
  }
  if (same_seed != nullptr && reuses_answers) {
    share.look = same_seed->share.look;
    share.continued = same_seed;
    if (!same_seed->combines) share.other_seeds.clear();
  } else if (same_seed != nullptr) {
    share.other_seeds.clear();  // asked again: judged by itself
  } else if (!share.other_seeds.empty() && combined != nullptr) {
    share.look = combined->share.look;
  }
  return share;
}

// The rounds first planned for the version's answers by another test of them (with another --min-lift, or cases).
std::optional<int> RoundsOfAnotherTest(const std::vector<const LedgerRun*>& history, const LedgerRun& run) {
  for (const LedgerRun* earlier : history) {
    if (earlier->sha256 == run.sha256 && earlier->seed == run.seed) return earlier->planned_rounds;
  }
  return std::nullopt;
}

double LogOfEvidence(double e_value) { return std::log(std::max(e_value, DBL_MIN)); }

// Whether any outcome could decide anything. With one arm, none could. Without a lift, a pair (one input, one round) is
// a win with a probability of at most 1/2; with a lift of the margin, it is a tie with one of at most 1 - margin. So n
// pairs that all come out alike have a probability of at least max(1/2, 1 - margin)^n.
bool CanDecide(const Plan& plan) {
  if (!plan.has_arm(Arm::kSkill) || !plan.has_arm(ComparedArm(plan))) return false;
  if (!plan.share.prior.empty()) return true;  // the evidence of other seeds may be all but enough
  const double pairs =
      static_cast<double>(FirstOfEachInput(plan.suite).size()) * static_cast<double>(std::max(plan.rounds, 0));
  const double rarest = std::min(0.5, 1.0 - plan.verdict.margin);
  return pairs * std::log(1.0 / rarest) >= std::log(1.0 / EffectiveAlpha(plan)) - 1e-9;  // rounding
}

}  // namespace

LedgerRun LedgerRunOf(const Plan& plan) {
  LedgerRun run;
  run.run = plan.run;
  run.time = plan.created;
  run.skill = plan.skill.name;
  std::error_code code;
  if (!plan.skill.folder.empty()) run.folder = fs::absolute(plan.skill.folder, code).lexically_normal().string();
  run.lineage = plan.skill.lineage;
  run.sha256 = plan.skill.sha256;
  run.conditions = ConditionsOf(plan);
  for (const std::size_t i : FirstOfEachInput(plan.suite)) run.inputs.push_back(InputHash(plan.suite.cases[i]));
  std::sort(run.inputs.begin(), run.inputs.end());
  for (const Case& test_case : plan.suite.cases) run.cases.push_back(CaseHash(test_case).substr(0, kShortHash));
  std::sort(run.cases.begin(), run.cases.end());
  for (const Student& student : plan.students) run.students.push_back(student.identity);
  run.compared_with = ArmName(ComparedArm(plan));
  run.seed = plan.sampling.seed;
  run.rounds = plan.rounds;
  run.planned_rounds = plan.first_planned_rounds();
  run.alpha = plan.verdict.alpha;
  run.alpha_used = EffectiveAlpha(plan);
  run.can_decide = CanDecide(plan);
  run.share = plan.share;
  run.combines = !plan.share.prior.empty();
  return run;
}

std::uint64_t UnseenSeed(const Ledger& ledger, const fs::path& runs_dir, const Plan& plan) {
  const LedgerRun run = LedgerRunOf(plan);
  if (!run.can_decide || plan.sampling.temperature.value_or(1.0) == 0.0) return run.seed;
  // Of any skill: all share the answers without one.
  const auto is_seen = [&](std::uint64_t seed) {
    return std::any_of(ledger.runs.begin(), ledger.runs.end(), [&](const LedgerRun& earlier) {
      return earlier.seed == seed && earlier.run != run.run && HaveCommon(run.students, earlier.students) &&
             HaveCommon(run.inputs, earlier.inputs) && LacksCasesOf(run, earlier) && WasStarted(earlier, runs_dir);
    });
  };
  std::uint64_t seed = run.seed;
  while (is_seen(seed)) ++seed;
  return seed;
}

void TakeShare(const Ledger& ledger, const fs::path& runs_dir, bool reuses_answers, Plan& plan) {
  const LedgerRun run = LedgerRunOf(plan);
  // Runs with few answers count each other even if they ask for new answers: the best of them may be continued later.
  const std::vector<const LedgerRun*> history = HistoryOf(run, ledger, runs_dir, reuses_answers || !run.can_decide);
  std::set<std::string> versions = {run.sha256};
  for (const LedgerRun* earlier : history) versions.insert(earlier->sha256);

  // One alpha for all students: that of the one that was looked at most.
  AlphaShare share;
  share.look = 1;
  share.versions = static_cast<int>(versions.size());
  share.comparisons = std::max(1, static_cast<int>(plan.arms.size()) - 1);
  int next = 1;
  std::set<int> planned;
  std::set<std::string> prior_runs;
  for (const Student& student : plan.students) {
    const StudentShare one =
        ShareOfStudent(history, run, student.identity, reuses_answers, plan.sampling.temperature.value_or(1.0) == 0.0);
    share.look = std::max(share.look, one.look);
    if (one.continued != nullptr) {
      planned.insert(one.continued->planned_rounds);
      // What its other comparisons took stays taken.
      share.comparisons = std::max(share.comparisons, one.continued->share.comparisons);
    }
    for (const auto& [seed, earlier] : one.other_seeds) {
      const LookResult& result = earlier->results.at(student.identity);
      PriorEvidence& prior = share.prior[student.spec];
      prior.helps += LogOfEvidence(result.e_helps);
      prior.hurts += LogOfEvidence(result.e_hurts);
      prior_runs.insert(earlier->run);
    }
  }
  for (const LedgerRun* earlier : history) next = std::max(next, earlier->share.look + 1);
  // Tests with different plans can't be continued as one.
  if (planned.size() > 1) share.look = next;
  if (const auto others = RoundsOfAnotherTest(history, run); planned.empty() && others && reuses_answers)
    planned.insert(*others);
  if (planned.size() == 1 && *planned.begin() != plan.rounds) plan.planned_rounds = *planned.begin();
  share.look = std::min(share.look, kMaxLooks);
  share.prior_runs.assign(prior_runs.begin(), prior_runs.end());
  // Skip runs from which nothing can be concluded, such as those without a baseline.
  const auto last =
      std::find_if(history.rbegin(), history.rend(), [](const auto* earlier) { return earlier->can_decide; });
  if (last != history.rend()) share.last_run = (*last)->run;
  plan.share = std::move(share);
}

}  // namespace upskill
