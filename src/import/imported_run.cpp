// SPDX-License-Identifier: Apache-2.0
#include "import/imported_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "eval/journal/journal.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Reports hold a value for each cell, whether it has an answer or not.
constexpr std::size_t kMaxCells = 4'000'000;
constexpr std::size_t kMaxCases = 10'000;  // verdicts compare cases with each other
constexpr const char* kUnknownModel = "unknown model";
constexpr std::size_t kMostNamed = 5;

// The answers of one student, case and arm, in the order of their rounds.
using Draws = std::vector<ImportedAnswer*>;

struct DrawKey {
  std::size_t student = 0;
  std::size_t case_index = 0;
  Arm arm = Arm::kBaseline;
  auto operator<=>(const DrawKey&) const = default;
};

// "a, b and 3 more"
std::string Named(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + ExcerptLine(names[i], 60);
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

class Arrangement {
 public:
  Arrangement(ImportedResults& results, const ImportOptions& options) : results_(results), options_(options) {}

  Result<ImportedRun> Make() {
    Sort();
    RETURN_IF_ERROR(TakeArms());
    RETURN_IF_ERROR(TakeCases());
    RETURN_IF_ERROR(MakePlan());
    MakeSamples();
    return std::move(run_);
  }

 private:
  // By student, case and arm, in the file's order of numbers.
  void Sort() {
    std::unordered_map<std::string, std::size_t> students;
    std::unordered_map<std::string, std::size_t> cases;
    for (std::size_t i = 0; i < results_.cases.size(); ++i) cases.emplace(results_.cases[i].id, i);
    for (ImportedAnswer& answer : results_.answers) {
      if (answer.model.empty()) answer.model = kUnknownModel;
      const auto [student, is_new] = students.emplace(answer.model, models_.size());
      if (is_new) models_.push_back(answer.model);
      draws_[{student->second, cases.at(answer.case_id), answer.arm}].push_back(&answer);
    }
    std::size_t repeated = 0;
    for (auto& [key, draws] : draws_) repeated += Order(draws);
    if (repeated > 0)
      results_.AddNote(
          fmt::format("{} listed twice under one number; the first of each counts.", Counted(repeated, "answer")));
  }

  // Answers with numbers come first. Returns how many were dropped because their number has occurred.
  static std::size_t Order(Draws& draws) {
    std::stable_sort(draws.begin(), draws.end(), [](const ImportedAnswer* a, const ImportedAnswer* b) {
      return a->number && (!b->number || *a->number < *b->number);
    });
    const auto kept = std::unique(draws.begin(), draws.end(), [](const ImportedAnswer* a, const ImportedAnswer* b) {
      return a->number && a->number == b->number;
    });
    const auto dropped = static_cast<std::size_t>(draws.end() - kept);
    draws.erase(kept, draws.end());
    return dropped;
  }

  Status TakeArms() {
    std::set<Arm> arms;
    for (const auto& [key, draws] : draws_) arms.insert(key.arm);
    if (!arms.contains(Arm::kSkill)) {
      return InputError(
          fmt::format("{}: no answer with the skill; say with --with which label has it", results_.source));
    }
    if (arms.size() == 1) {
      results_.AddNote(
          "There are no answers without the skill, so there is no lift and no verdict: a pass rate alone doesn't show "
          "what the skill changes.");
    }
    run_.plan.arms.assign(arms.begin(), arms.end());
    return {};
  }

  // The cases that every student has answers to in every arm.
  Status TakeCases() {
    std::vector<std::size_t> found(results_.cases.size());
    for (const auto& [key, draws] : draws_) ++found[key.case_index];
    const std::size_t all = models_.size() * run_.plan.arms.size();
    std::vector<std::string> left_out;
    for (std::size_t i = 0; i < results_.cases.size(); ++i) {
      if (found[i] == all) {
        kept_.push_back(i);
      } else {
        left_out.push_back(results_.cases[i].id);
      }
    }
    for (const std::string& id : left_out) {
      run_.plan.left_out.push_back(
          fmt::format("case \"{}\" is left out: not every arm and model has an answer to it", ExcerptLine(id, 80)));
    }
    if (!left_out.empty()) {
      results_.AddNote(fmt::format("{} left out, because not every arm and model has an answer to it: {}.",
                                   Counted(left_out.size(), "case"), Named(left_out)));
    }
    if (kept_.size() > kMaxCases) {
      return InputError(fmt::format("{}: {} are more than the {} that an import may have", results_.source,
                                    Counted(kept_.size(), "case"), kMaxCases));
    }
    if (!kept_.empty()) return {};
    return InputError(fmt::format("{}: no case has an answer in every arm and of every model", results_.source));
  }

  Status MakePlan() {
    Plan& plan = run_.plan;
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    for (const auto& [key, draws] : draws_) {
      if (!std::binary_search(kept_.begin(), kept_.end(), key.case_index)) continue;
      least = std::min(least, draws.size());
      most = std::max(most, draws.size());
    }
    if (most > kMaxRounds || models_.size() * kept_.size() * plan.arms.size() > kMaxCells / most) {
      return InputError(fmt::format("{}: {} with up to {} each are more than {} cells", results_.source,
                                    Counted(kept_.size(), "case"), Counted(most, "answer"), kMaxCells));
    }
    plan.rounds = static_cast<int>(most);
    NoteRounds(least, most);
    Json cases = Json::array();
    for (const std::size_t i : kept_) {
      const ImportedCase& one = results_.cases[i];
      cases.push_back({{"id", one.id},
                       {"input", Trim(one.input).empty() ? UnknownInput(one.id) : one.input},
                       {"checks", Json::array({{{"type", "imported"}}})}});
    }
    const std::string& named = options_.skill.empty() ? results_.skill : options_.skill;
    plan.skill = Snapshot(named.empty() ? "unnamed skill" : named, "");
    if (plan.has_arm(Arm::kPrevious)) plan.previous = Snapshot(plan.skill.name + " (old)", "");
    ASSIGN_OR_RETURN(plan.suite, ParseSuite(DumpJson({{"cases", std::move(cases)}}), results_.source));
    plan.suite.source = results_.source;
    for (const std::string& model : models_)
      plan.students.push_back({model, model, fmt::format("imported from {}: {}", results_.format, model)});
    plan.offers_cache = false;
    plan.imported = {results_.format, results_.source, results_.sha256, HowRead(), results_.notes};
    return {};
  }

  // What of the options changes the result.
  std::string HowRead() const {
    return DumpJson({{"with", options_.with},
                     {"without", options_.without},
                     {"pass_at", options_.pass_at},
                     {"skill", options_.skill}});
  }

  void NoteRounds(std::size_t least, std::size_t most) {
    if (least < most) {
      results_.AddNote(
          fmt::format("Cases have {} to {} answers in an arm. A verdict rests on complete rounds, so on {} of each "
                      "case and arm; pass "
                      "rates count all.",
                      least, most, Counted(least, "answer")));
    }
    if (most == 1)
      results_.AddNote("Each case was answered once in each arm: how much answers vary by chance isn't in the file.");
  }

  // Round by round and case by case, the arms of a case next to each other.
  void MakeSamples() {
    const Plan& plan = run_.plan;
    for (std::size_t student = 0; student < models_.size(); ++student) {
      for (std::size_t round = 0; round < static_cast<std::size_t>(plan.rounds); ++round) {
        for (const std::size_t case_index : kept_) {
          for (const Arm arm : plan.arms) {
            const Draws& draws = draws_.at({student, case_index, arm});
            if (round < draws.size()) run_.samples.push_back(SampleOf(*draws[round], static_cast<int>(round)));
          }
        }
      }
    }
  }

  Sample SampleOf(ImportedAnswer& answer, int round) const {
    Sample sample;
    sample.student = answer.model;
    sample.arm = answer.arm;
    sample.case_id = answer.case_id;
    sample.round = round;
    sample.key = Sha256Hex("imported\n" + results_.sha256 + "\n" + CellName(sample));
    sample.time = answer.time.empty() ? results_.time : answer.time;
    if (!answer.error.empty()) {
      sample.error = Error{ErrorKind::kPermanent, ExcerptLine(answer.error, 500)};
      return sample;
    }
    sample.response.text = std::move(answer.text);
    sample.response.usage = answer.usage;
    sample.response.seconds = std::clamp(answer.seconds, 0.0, kMaxStoredSeconds);
    // Programs report 0 for a model whose price they don't know.
    const double usd = answer.cost_usd.value_or(0.0);
    if (usd > 0.0 && usd <= kMaxStoredUsd) sample.response.cost_usd = usd;
    sample.checks = std::move(answer.checks);
    return CutAnswer(std::move(sample));
  }

  ImportedResults& results_;
  const ImportOptions& options_;
  std::vector<std::string> models_;
  std::map<DrawKey, Draws> draws_;
  std::vector<std::size_t> kept_;  // ascending
  ImportedRun run_;
};

}  // namespace

Result<ImportedRun> ArrangeResults(ImportedResults results, const ImportOptions& options) {
  return Arrangement(results, options).Make();
}

EarlierImports FindEarlierImports(const fs::path& runs_dir, const Plan& plan) {
  EarlierImports earlier;
  for (const fs::path& folder : FindRuns(runs_dir)) {
    const Result<std::string> text = ReadFile(folder / "plan.json");
    if (!text || text->find("\"imported\"") == std::string::npos) continue;
    const Result<Plan> known = LoadPlan(folder);
    if (!known || !known->imported) continue;
    if (known->imported->sha256 == plan.imported->sha256 && known->imported->how == plan.imported->how) {
      earlier.same = folder;
    } else if (known->skill.name == plan.skill.name) {
      ++earlier.of_same_skill;
    }
  }
  return earlier;
}

Result<fs::path> WriteImportedRun(const fs::path& runs_dir, ImportedRun& run, const Clock& clock) {
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(runs_dir, run.plan, clock));
  for (const Sample& sample : run.samples) {
    if (const Status written = journal.Append(sample); !written) {
      journal.Discard();
      return written.error();
    }
  }
  if (const Status synced = journal.Sync(); !synced) {
    journal.Discard();
    return synced.error();
  }
  return journal.folder();
}

}  // namespace upskill
