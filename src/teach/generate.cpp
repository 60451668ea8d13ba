// SPDX-License-Identifier: Apache-2.0
#include "teach/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "skill/case_reader.h"
#include "teach/draft.h"
#include "teach/extract.h"
#include "teach/refine.h"
#include "teach/write_cases.h"
#include "trace/digest/digest.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kFruitlessAttempts = 2;   // in a row, then the refinement ends
constexpr std::size_t kMaxShorter = 4;  // parts that are tried to be left out

class Generation {
 public:
  explicit Generation(const GenerateInput& input)
      : input_(input), options_(input.options), material_(*input.material) {}

  Result<GenerateOutcome> Run() {
    RETURN_IF_ERROR(WriteFirst());
    const Status cases = CollectCases();
    if (!cases) {
      if (cases.error().kind != ErrorKind::kInput) return cases.error();
      out_.stopped = cases.error().message;
    }
    if (options_.evaluate && !input_.trials.models.empty() && !out_.cases.empty()) {
      Split();
      const Status status = train_.empty() ? Status() : Improve();
      if (!status && !EndEarly(status.error())) return status.error();
      Choose();
      if (out_.stopped.empty()) {
        const Status measured = Measure();
        if (!measured && !EndEarly(measured.error())) return measured.error();
      }
    } else {
      Choose();
    }
    return std::move(out_);
  }

 private:
  // A line of progress under the stage's label.
  void Say(std::string_view stage, const std::string& line) const {
    if (input_.say) input_.say(fmt::format("{:<8} {}", stage, line));
  }

  double Spent() const {
    double spent = trial_usd_;
    if (input_.teacher != nullptr) spent += input_.teacher->cost_usd();
    if (input_.test_teacher != nullptr && input_.test_teacher != input_.teacher)
      spent += input_.test_teacher->cost_usd();
    return spent;
  }

  // For a line of progress: what is spent and what is left of it; empty when nothing costs.
  std::string SpentText() const {
    if (options_.max_cost_usd)
      return fmt::format(" · ${:.2f} spent, ${:.2f} left", Spent(), std::max(0.0, *options_.max_cost_usd - Spent()));
    return Spent() > 0 ? fmt::format(" · ${:.2f} spent", Spent()) : "";
  }

  // A limit or the person ended it: the best so far stands. Anything else is an error of the whole.
  bool EndEarly(const Error& error) {
    if (error.kind != ErrorKind::kCancelled && error.kind != ErrorKind::kPermanent &&
        error.kind != ErrorKind::kUnavailable)
      return false;
    out_.stopped = error.message;
    out_.interrupted = error.kind == ErrorKind::kCancelled;
    return true;
  }

  // Before each call of a teacher, which can't be stopped on its way.
  Status MayAskTeacher() const {
    if (input_.trials.stop != nullptr && input_.trials.stop->load() > 0) return Error{ErrorKind::kCancelled, "stopped"};
    if (options_.max_cost_usd && Spent() >= *options_.max_cost_usd) {
      return Error{ErrorKind::kPermanent, fmt::format("${:.2f} of ${:.2f} are spent", Spent(), *options_.max_cost_usd)};
    }
    return {};
  }

  std::size_t AddCandidate(const std::string& kind, int parent, const std::string& why, SkillText skill) {
    Candidate candidate;
    candidate.id = static_cast<int>(out_.candidates.size());
    candidate.parent = parent;
    candidate.kind = kind;
    candidate.why = why;
    candidate.tokens = options_.target.count(skill.body);
    candidate.skill = std::move(skill);
    candidate.status = "not measured";
    out_.candidates.push_back(std::move(candidate));
    return out_.candidates.size() - 1;
  }

  Status WriteFirst() {
    if (material_.has_existing()) AddCandidate("existing", -1, "", material_.existing);
    Result<Draft> draft = InputError("");
    if (input_.teacher == nullptr) {
      Say("draft", "taken from the material, word for word");
      draft = ExtractDraft(material_, options_.name, options_.target);
    } else {
      RETURN_IF_ERROR(MayAskTeacher());
      Say("draft",
          fmt::format("{} writes the skill from {} items", input_.teacher->info().name, material_.items.size()));
      DraftOptions draft_options;
      draft_options.name = material_.has_existing() ? material_.existing.name : options_.name;
      draft_options.target = options_.target;
      draft_options.context_tokens = options_.context_tokens;
      draft = WriteDraft(*input_.teacher, material_, draft_options);
    }
    if (!draft) {
      if (!material_.has_existing()) return draft.error();
      Say("draft", "none: " + draft.error().message);
      return {};
    }
    out_.uncited_rules = draft->uncited;
    out_.contradicted_rules = draft->contradicted;
    for (const Section& section : draft->sections) {
      for (const Rule& rule : section.rules) out_.provenance.push_back(ProvenanceOf(rule));
    }
    SkillText skill = DraftToSkill(*draft);
    if (material_.has_existing()) {
      skill.name = material_.existing.name;
      skill.other_fields = material_.existing.other_fields;
    }
    const std::size_t index = AddCandidate("draft", -1, "", std::move(skill));
    Say("draft", fmt::format("{} · {} · {} rules, {}", out_.candidates[index].skill.name, TokensText(index),
                             out_.provenance.size(), EvidenceText(*draft)));
    return {};
  }

  // "about 486 tokens".
  std::string TokensText(std::size_t index) const {
    return fmt::format("{}{} tokens", options_.target.estimated ? "about " : "", out_.candidates[index].tokens);
  }

  std::string EvidenceText(const Draft& draft) const {
    if (material_.items.empty()) return "no material to hold them against";
    if (draft.uncited == 0 && draft.contradicted.empty()) return "all with evidence";
    return fmt::format("{} without evidence and {} against it left out", draft.uncited, draft.contradicted.size());
  }

  std::string ProvenanceOf(const Rule& rule) const {
    std::set<std::string> places;
    for (const std::string& cite : rule.cites) {
      const auto item = std::find_if(material_.items.begin(), material_.items.end(),
                                     [&](const MaterialItem& other) { return other.id == cite; });
      if (item == material_.items.end()) {
        places.insert(cite);
      } else {
        places.insert(item->places.begin(), item->places.end());
      }
    }
    std::string text = CutToColumns(SafeForTerminalLine(rule.text), 80) + ":";
    for (const std::string& place : places) text += " " + place;
    return text;
  }

  Result<VettedCases> MoreCases(std::size_t count) const {
    Teacher* teacher = input_.test_teacher;
    if (teacher == nullptr) return ExtractCases(material_, count);
    RETURN_IF_ERROR(MayAskTeacher());
    Say("tests", fmt::format("{} writes {} without seeing the skill", teacher->info().name, count));
    CaseOptions options;
    options.cases = count;
    options.context_tokens = options_.context_tokens;
    return WriteCases(*teacher, material_, options);
  }

  // The person's cases as they are; else examples, then written or extracted ones.
  Status CollectCases() {
    if (input_.given) {
      out_.cases = input_.given->cases;
      return {};
    }
    VettedCases vetted;
    for (const Example& example : material_.examples) {
      if (example.output.empty()) continue;
      const Json raw = {{"id", SkillNameFrom(example.input)},
                        {"input", example.input},
                        {"expected", {{"contains", {example.output}}}},
                        {"reference", example.output}};
      Result<CaseReading> reading = ReadCase(raw, 1);
      if (reading) TakeCase(std::move(reading->test_case), vetted);
    }
    const std::size_t missing = options_.cases - std::min(options_.cases, vetted.cases.size());
    Result<VettedCases> result = missing == 0 ? VettedCases{} : MoreCases(missing);
    if (!result && result.error().kind != ErrorKind::kInput) return result.error();
    VettedCases written = result ? result.value() : VettedCases{};
    for (Case& test_case : written.cases) {
      if (vetted.cases.size() < options_.cases) TakeCase(std::move(test_case), vetted);
    }
    out_.cases = std::move(vetted.cases);
    out_.rejected_cases = std::move(vetted.rejected);
    out_.rejected_cases.insert(out_.rejected_cases.end(), written.rejected.begin(), written.rejected.end());
    const std::string example =
        out_.rejected_cases.empty() ? "" : fmt::format(" (for example {})", out_.rejected_cases.front());
    Say("tests", fmt::format("{} sound, {} rejected{}", out_.cases.size(), out_.rejected_cases.size(), example));
    return result || !out_.cases.empty() ? Status() : Status(result.error());
  }

  void Split() {
    out_.test = HeldOut(out_.cases, options_.holdout, options_.seed);
    for (std::size_t i = 0; i < out_.cases.size(); ++i) {
      if (!std::binary_search(out_.test.begin(), out_.test.end(), i)) train_.push_back(i);
    }
    Say("tests", train_.empty() ? "one alone: it is held out, and nothing is refined"
                                : fmt::format("{} to refine on, {} held out", train_.size(), out_.test.size()));
  }

  RunLimits Limits() const {
    RunLimits limits;
    if (options_.max_cost_usd) limits.max_cost_usd = std::max(0.0, *options_.max_cost_usd - Spent());
    return limits;
  }

  Result<Trial> Try(const SkillText& skill, TrialSpec spec) {
    spec.skill = &skill;
    spec.limits = Limits();
    ASSIGN_OR_RETURN(Trial trial, RunTrial(input_.trials, std::move(spec)));
    trial_usd_ += trial.cost_usd;
    return trial;
  }

  std::size_t FullCalls() const {
    return 2 * train_.size() * static_cast<std::size_t>(options_.train_rounds) * input_.trials.students.size();
  }

  // On all of train, with the baseline the first time (later it comes from the cache, and nothing needs it).
  Status MeasureOnTrain(std::size_t index) {
    TrialSpec spec;
    spec.stage = "train";
    spec.suite = SuiteOf(out_.cases, train_);
    spec.rounds = options_.train_rounds;
    spec.baseline = trains_ == 0;
    ASSIGN_OR_RETURN(Trial trial, Try(out_.candidates[index].skill, std::move(spec)));
    ++trains_;
    out_.student_calls += trial.asked;
    Candidate& candidate = out_.candidates[index];
    candidate.train = PassRates(trial);
    candidate.measured = true;
    candidate.run = trial.run;
    candidate.status = "measured";
    std::string rates;
    for (std::size_t i = 0; i < candidate.train.size(); ++i) {
      const auto& arms = trial.judged.summary.students[i].arms;
      if (const auto baseline = arms.find(Arm::kBaseline); baseline != arms.end())
        without_.push_back(baseline->second.rate().value_or(0.0));
      rates += fmt::format("{}{} {:.0f} → {:.0f} %", i == 0 ? "" : ", ", input_.trials.students[i].name,
                           100.0 * without_.at(i), 100.0 * candidate.train[i]);
    }
    trials_[index] = std::move(trial);
    if (candidate.kind == "shorter")
      candidate.lost = LostAnswers(trials_.at(static_cast<std::size_t>(candidate.parent)), trials_.at(index));
    const std::string standing =
        candidate.lost > 0 ? fmt::format("  loses {} answer{}", candidate.lost, candidate.lost == 1 ? "" : "s")
        : Best() == index  ? "  best so far"
                           : "";
    Say("train", fmt::format("candidate {} ({}, {})  {}{}{}", candidate.id, candidate.kind, TokensText(index), rates,
                             standing, SpentText()));
    return {};
  }

  // Cases of train that some answer to `index` failed, or with `passing` those that every answer passed.
  std::vector<std::size_t> CasesBy(std::size_t index, bool passing) const {
    std::set<std::string> failing;
    for (const Sample* sample : trials_.at(index).judged.data.samples()) {
      if (sample->ok() && sample->arm == Arm::kSkill && !sample->passed()) failing.insert(sample->case_id);
    }
    std::vector<std::size_t> found;
    for (const std::size_t i : train_) {
      if (failing.contains(out_.cases[i].id) != passing) found.push_back(i);
    }
    return found;
  }

  // Answers of the first round that passed, over students, of some cases.
  static std::size_t PassedInFirstRound(const Trial& trial, const std::set<std::string>& ids) {
    std::size_t passed = 0;
    for (const Sample* sample : trial.judged.data.samples()) {
      if (sample->arm == Arm::kSkill && sample->round == 0 && ids.contains(sample->case_id) && sample->passed())
        ++passed;
    }
    return passed;
  }

  // One round on a few cases of train; returns the passed answers of the candidate and of `best` on them.
  Result<std::pair<std::size_t, std::size_t>> Screen(std::size_t index, std::size_t best,
                                                     const std::vector<std::size_t>& cases) {
    std::set<std::string> ids;
    for (const std::size_t i : cases) ids.insert(out_.cases[i].id);
    TrialSpec spec;
    spec.stage = "screen";
    spec.suite = SuiteOf(out_.cases, cases);
    spec.baseline = false;
    ASSIGN_OR_RETURN(const Trial trial, Try(out_.candidates[index].skill, std::move(spec)));
    out_.student_calls += trial.asked;
    return std::pair(PassedInFirstRound(trial, ids), PassedInFirstRound(trials_.at(best), ids));
  }

  std::size_t Best() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < out_.candidates.size(); ++i) {
      if (!out_.candidates[i].measured || out_.candidates[i].lost > 0) continue;
      if (!out_.candidates[best].measured || IsBetter(out_.candidates[i], out_.candidates[best])) best = i;
    }
    return best;
  }

  Status Improve() {
    for (std::size_t i = 0; i < out_.candidates.size(); ++i) {
      out_.full_student_calls += FullCalls();
      RETURN_IF_ERROR(MeasureOnTrain(i));
    }
    if (input_.teacher != nullptr) RETURN_IF_ERROR(Refine());
    return LeaveOut();
  }

  Status Refine() {
    int fruitless = 0;
    for (int attempt = 1; attempt <= options_.attempts && fruitless < kFruitlessAttempts; ++attempt) {
      const std::size_t best = Best();
      const std::vector<std::size_t> failing = CasesBy(best, false);
      if (failing.empty()) {
        Say("refine", "every test passes: nothing to refine");
        return {};
      }
      RETURN_IF_ERROR(MayAskTeacher());
      Say("refine", fmt::format("attempt {} of {}: {} is shown {} failing test{}", attempt, options_.attempts,
                                input_.teacher->info().name, failing.size(), failing.size() == 1 ? "" : "s"));
      RefineOptions refine;
      refine.candidates = options_.candidates;
      refine.target = options_.target;
      refine.context_tokens = options_.context_tokens;
      const Result<ProposalsOutcome> proposed =
          ProposeChanges(*input_.teacher, material_, out_.candidates[best],
                         FailuresText(trials_.at(best), options_.context_tokens / 2), out_.candidates, refine, attempt);
      if (!proposed && proposed.error().kind != ErrorKind::kInput) return proposed.error();
      if (!proposed) Say("refine", "no usable proposal: " + proposed.error().message);
      if (proposed) {
        for (const std::string& reason : proposed->discarded)
          Say("refine", "proposal discarded: " + SafeForTerminalLine(reason));
        for (const Proposal& proposal : proposed->proposals) RETURN_IF_ERROR(TryProposal(proposal, best, failing));
      }
      fruitless = Best() == best ? fruitless + 1 : 0;
    }
    return {};
  }

  Status TryProposal(const Proposal& proposal, std::size_t best, const std::vector<std::size_t>& failing) {
    SkillText skill = out_.candidates[best].skill;
    skill.body = proposal.body;
    const std::size_t index = AddCandidate(proposal.kind, out_.candidates[best].id, proposal.why, std::move(skill));
    out_.full_student_calls += FullCalls();
    ASSIGN_OR_RETURN(const auto passed, Screen(index, best, failing));
    if (passed.first <= passed.second) {
      Candidate& candidate = out_.candidates[index];
      candidate.status =
          fmt::format("screened out: {} answers to the failing cases pass, {} did before", passed.first, passed.second);
      Say("refine", fmt::format("candidate {} ({}) {}", candidate.id, candidate.kind, candidate.status));
      return {};
    }
    return MeasureOnTrain(index);
  }

  // Answers that passed with one candidate and don't with another, the same case and round of the same student.
  static std::size_t LostAnswers(const Trial& before, const Trial& after) {
    const auto passed = [](const Trial& trial) {
      std::set<std::tuple<std::string, std::string, int>> cells;
      for (const Sample* sample : trial.judged.data.samples()) {
        if (sample->ok() && sample->arm == Arm::kSkill && sample->passed())
          cells.emplace(sample->student, sample->case_id, sample->round);
      }
      return cells;
    };
    const auto kept = passed(after);
    std::size_t lost = 0;
    for (const auto& cell : passed(before)) lost += kept.contains(cell) ? 0U : 1U;
    return lost;
  }

  // A shorter skill that loses nothing wins (with few tests an equal rate says little): each of the longest parts is
  // tried to be left out.
  Status LeaveOut() {
    for (std::size_t tried = 0; tried < kMaxShorter; ++tried) {
      const std::size_t best = Best();
      std::vector<BodyPart> parts = PartsOf(out_.candidates[best].skill.body);
      if (parts.size() < 2) return {};
      std::sort(parts.begin(), parts.end(),
                [](const BodyPart& a, const BodyPart& b) { return a.end - a.begin > b.end - b.begin; });
      const auto untried = std::find_if(parts.begin(), parts.end(),
                                        [&](const BodyPart& part) { return !left_out_.contains(part.title); });
      if (untried == parts.end()) return {};
      left_out_.insert(untried->title);
      SkillText skill = out_.candidates[best].skill;
      skill.body = std::string(Trim(skill.body.erase(untried->begin, untried->end - untried->begin)));
      if (skill.body.empty()) continue;
      const std::size_t index = AddCandidate("shorter", out_.candidates[best].id,
                                             fmt::format("without the part \"{}\"", untried->title), std::move(skill));
      out_.full_student_calls += FullCalls();
      const std::vector<std::size_t> passing = CasesBy(best, true);
      if (!passing.empty()) {
        ASSIGN_OR_RETURN(const auto passed, Screen(index, best, passing));
        if (passed.first < passed.second) {
          out_.candidates[index].status =
              fmt::format("screened out: {} of {} answers that passed still do", passed.first, passed.second);
          Say("shorter", fmt::format("candidate {} (without \"{}\") {}", index, SafeForTerminalLine(untried->title),
                                     out_.candidates[index].status));
          continue;
        }
      }
      RETURN_IF_ERROR(MeasureOnTrain(index));
    }
    return {};
  }

  void Choose() {
    out_.chosen = Best();
    if (!out_.candidates[out_.chosen].measured) out_.chosen = out_.candidates.size() - 1;
    for (Candidate& candidate : out_.candidates) {
      if (candidate.measured)
        candidate.status = candidate.lost > 0 ? fmt::format("loses {} answer{} on train", candidate.lost,
                                                            candidate.lost == 1 ? "" : "s")
                                              : "beaten on train";
    }
    out_.candidates[out_.chosen].status = "chosen";
  }

  // Once, on cases that nothing above has looked at.
  Status Measure() {
    const Candidate& chosen = out_.candidates[out_.chosen];
    Say("test", fmt::format("candidate {} ({}) once on the {} held-out test{}{}", chosen.id, chosen.kind,
                            out_.test.size(), out_.test.size() == 1 ? "" : "s", SpentText()));
    TrialSpec spec;
    spec.stage = "test";
    spec.suite = SuiteOf(out_.cases, out_.test);
    spec.rounds = options_.runs;
    if (material_.has_existing() && Trim(chosen.skill.body) != Trim(material_.existing.body))
      spec.previous = &material_.existing;
    spec.stop_when_decided = spec.previous == nullptr;  // else the comparison with the baseline would end the other one
    ASSIGN_OR_RETURN(Trial trial, Try(chosen.skill, std::move(spec)));
    out_.measured = std::move(trial);
    return {};
  }

  const GenerateInput& input_;
  const GenerateOptions& options_;
  const Material& material_;
  GenerateOutcome out_;
  std::vector<std::size_t> train_;
  std::map<std::size_t, Trial> trials_;  // on train, by candidate
  std::set<std::string> left_out_;
  std::vector<double> without_;  // by student: pass rate on train without a skill
  int trains_ = 0;
  double trial_usd_ = input_.spent_usd;
};

}  // namespace

Result<GenerateOutcome> GenerateSkill(const GenerateInput& input) { return Generation(input).Run(); }

}  // namespace upskill
