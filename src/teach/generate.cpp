// SPDX-License-Identifier: Apache-2.0
#include "teach/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "skill/case_reader.h"
#include "teach/case_split.h"
#include "teach/choice.h"
#include "teach/draft.h"
#include "teach/extract.h"
#include "teach/generation_budget.h"
#include "teach/refine.h"
#include "teach/stage_lines.h"
#include "teach/trial_answers.h"
#include "teach/write_cases.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kFruitlessAttempts = 2;   // in a row, before the refinement ends
constexpr std::size_t kMaxShorter = 4;  // attempts at leaving out a part

// Runs the stages in order. choice.h decides which candidate wins; stage_lines.h words the progress lines.
class Generation {
 public:
  explicit Generation(const GenerateInput& input)
      : input_(input),
        options_(input.options),
        material_(*input.material),
        budget_(input.options.max_cost_usd, input.spent_usd + SpentByTeachers(input)) {
    MeterTeachers({[this](const Model& model, const ChatRequest& request) { return MayAsk(model, request); },
                   [this](const Result<ChatResponse>& answer) { return budget_.Settle(answer); }});
  }
  ~Generation() { MeterTeachers({}); }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  Result<GenerateOutcome> Run() {
    const Status found = FindCandidates();
    if (!found && (out_.candidates.empty() || !EndEarly(found.error()))) return found.error();
    Choose();
    if (measures() && out_.stopped.empty()) {
      const Status measured = Measure();
      if (!measured && !EndEarly(measured.error())) return measured.error();
    }
    return std::move(out_);
  }

 private:
  // A line of progress under the stage's label.
  void Say(std::string_view stage, const std::string& line) const {
    if (input_.say) input_.say(fmt::format("{:<8} {}", stage, line));
  }

  bool measures() const { return options_.evaluate && !input_.trials.models.empty() && !out_.cases.empty(); }

  static double SpentByTeachers(const GenerateInput& input) {
    double spent = input.teacher == nullptr ? 0.0 : input.teacher->cost_usd();
    if (input.test_teacher != nullptr && input.test_teacher != input.teacher) spent += input.test_teacher->cost_usd();
    return spent;
  }

  void MeterTeachers(const TeacherMeter& meter) const {
    for (Teacher* teacher : {input_.teacher, input_.test_teacher}) {
      if (teacher != nullptr) teacher->set_meter(meter);
    }
  }

  // A request in flight isn't stopped by the user's first stop, so that is checked before each.
  Status MayAsk(const Model& model, const ChatRequest& request) {
    if (input_.trials.stop != nullptr && input_.trials.stop->load() > 0)
      return Error{ErrorKind::kCancelled, "interrupted"};
    return budget_.Reserve(model, request);
  }

  // Whether a limit, the user, a model or a file that can't be written ended the generation; then the best candidate so
  // far is the outcome.
  bool EndEarly(const Error& error) {
    if (error.kind != ErrorKind::kCancelled && error.kind != ErrorKind::kPermanent &&
        error.kind != ErrorKind::kUnavailable && error.kind != ErrorKind::kIo)
      return false;
    out_.stopped = error.kind == ErrorKind::kCancelled ? "interrupted" : error.message;
    out_.interrupted = error.kind == ErrorKind::kCancelled;
    out_.resumable = true;
    return true;
  }

  Status FindCandidates() {
    RETURN_IF_ERROR(WriteFirst());
    RETURN_IF_ERROR(CollectCases());
    if (!measures()) return {};
    Split();
    return train_.empty() ? Status() : Improve();
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

  Result<Draft> MakeDraft() const {
    if (input_.teacher == nullptr) {
      Say("draft", "extracted from the trace without a model");
      return ExtractDraft(material_, options_.name, options_.target);
    }
    Say("draft", fmt::format("{} writes the skill from {}", input_.teacher->info().name,
                             material_.items.empty() ? "the task alone" : Counted(material_.items.size(), "item")));
    DraftOptions draft_options;
    draft_options.name = material_.has_existing() ? material_.existing.name : options_.name;
    draft_options.prompts = options_.prompts;
    draft_options.target = options_.target;
    draft_options.context_tokens = options_.context_tokens;
    return WriteDraft(*input_.teacher, material_, draft_options);
  }

  Status WriteFirst() {
    if (material_.has_existing()) AddCandidate("existing", -1, "", material_.existing);
    const Result<Draft> draft = MakeDraft();
    if (!draft) {
      if (!material_.has_existing() || draft.error().kind != ErrorKind::kInput) return draft.error();
      Say("draft", "no draft: " + draft.error().message);
      return {};
    }
    out_.uncited_rules = draft->uncited;
    out_.contradicted_rules = draft->contradicted;
    for (const Section& section : draft->sections) {
      for (const Rule& rule : section.rules) out_.provenance.push_back(ProvenanceLine(rule, material_));
    }
    SkillText skill = DraftToSkill(*draft);
    if (material_.has_existing()) {
      skill.name = material_.existing.name;
      skill.other_fields = material_.existing.other_fields;
    }
    const std::size_t index = AddCandidate("draft", -1, "", std::move(skill));
    Say("draft", DraftLine(out_.candidates[index], *draft, material_, options_.target));
    return {};
  }

  Result<VettedCases> MoreCases(std::size_t count) const {
    Teacher* teacher = input_.test_teacher;
    if (teacher == nullptr) return ExtractCases(material_, count);
    Say("tests", fmt::format("{} writes {} without seeing the skill", teacher->info().name, Counted(count, "test")));
    CaseOptions options;
    options.cases = count;
    options.prompts = options_.prompts;
    options.context_tokens = options_.context_tokens;
    return WriteCases(*teacher, material_, options);
  }

  void TakeExamples(VettedCases& vetted) const {
    for (const Example& example : material_.examples) {
      if (example.output.empty()) continue;
      const Json raw = {{"id", SkillNameFrom(example.input)},
                        {"input", example.input},
                        {"expected", {{"contains", {example.output}}}},
                        {"reference", example.output}};
      Result<CaseReading> reading = ReadCase(raw, 1);
      if (reading) TakeCase(std::move(reading->test_case), vetted);
    }
  }

  // The user's cases as they are; otherwise examples, then written or extracted cases.
  Status CollectCases() {
    if (input_.given) {
      out_.cases = input_.given->cases;
      return {};
    }
    VettedCases vetted;
    TakeExamples(vetted);
    const std::size_t missing = options_.cases - std::min(options_.cases, vetted.cases.size());
    Result<VettedCases> result = missing == 0 ? VettedCases{} : MoreCases(missing);
    if (!result) {
      if (result.error().kind != ErrorKind::kInput) return result.error();
      out_.tests_problem = result.error().message;
      Say("tests", "none written: " + out_.tests_problem);
    }
    VettedCases written = result ? result.value() : VettedCases{};
    for (Case& test_case : written.cases) {
      if (vetted.cases.size() < options_.cases) TakeCase(std::move(test_case), vetted);
    }
    out_.cases = std::move(vetted.cases);
    out_.rejected_cases = std::move(vetted.rejected);
    out_.rejected_cases.insert(out_.rejected_cases.end(), written.rejected.begin(), written.rejected.end());
    Say("tests", CasesLine(out_.cases.size(), out_.rejected_cases));
    if (!result && out_.cases.empty()) out_.stopped = result.error().message;
    return {};
  }

  void Split() {
    TakeSplits(input_.earlier, out_.cases);
    out_.test = TestCases(out_.cases, options_.holdout, options_.seed);
    for (std::size_t i = 0; i < out_.cases.size(); ++i) {
      const bool held_out = std::binary_search(out_.test.begin(), out_.test.end(), i);
      out_.cases[i].split = held_out ? Split::kTest : Split::kTrain;
      if (!held_out) train_.push_back(i);
    }
    Say("tests", SplitLine(train_.size(), out_.test.size()));
  }

  Result<Trial> Try(const SkillText& skill, TrialSpec spec) {
    spec.skill = &skill;
    spec.system_prompt = options_.prompts->Render("student");
    spec.budget = &budget_.trials();
    return RunTrial(input_.trials, std::move(spec));
  }

  std::size_t FullCalls() const {
    return 2 * train_.size() * static_cast<std::size_t>(options_.train_rounds) * input_.trials.students.size();
  }

  // On all of train; with the baseline the first time only, since nothing needs it later.
  Status MeasureOnTrain(std::size_t index) {
    TrialSpec spec;
    spec.stage = "train";
    spec.suite = SuiteOf(out_.cases, train_);
    spec.rounds = options_.train_rounds;
    spec.baseline = trials_.empty();
    ASSIGN_OR_RETURN(Trial trial, Try(out_.candidates[index].skill, std::move(spec)));
    out_.student_calls += trial.asked;
    Candidate& candidate = out_.candidates[index];
    candidate.train = PassRates(trial);
    candidate.measured = true;
    candidate.run = trial.run;
    candidate.status = "measured";
    if (without_.empty()) without_ = PassRates(trial, Arm::kBaseline);
    trials_[index] = std::move(trial);
    if (candidate.kind == "shorter")
      candidate.lost = LostAnswers(trials_.at(static_cast<std::size_t>(candidate.parent)), trials_.at(index));
    std::vector<std::string> students;
    students.reserve(input_.trials.students.size());
    for (const Student& student : input_.trials.students) students.push_back(student.name);
    Say("train", TrainLine(candidate, students, without_, BestOnTrain(out_.candidates) == index, options_.target) +
                     budget_.Text());
    return {};
  }

  // Cases of train that some answer with candidate `index` failed, or, with `passing`, that all answers passed.
  std::vector<std::size_t> CasesBy(std::size_t index, bool passing) const {
    const std::set<std::string> failing = FailedCases(trials_.at(index));
    std::vector<std::size_t> found;
    for (const std::size_t i : train_) {
      if (failing.contains(out_.cases[i].id) != passing) found.push_back(i);
    }
    return found;
  }

  // One round on some cases of train.
  Result<Screening> Screen(std::size_t index, std::size_t best, const std::vector<std::size_t>& cases) {
    std::set<std::string> ids;
    for (const std::size_t i : cases) ids.insert(out_.cases[i].id);
    TrialSpec spec;
    spec.stage = "screen";
    spec.suite = SuiteOf(out_.cases, cases);
    spec.baseline = false;
    ASSIGN_OR_RETURN(const Trial trial, Try(out_.candidates[index].skill, std::move(spec)));
    out_.student_calls += trial.asked;
    return Screening{PassedInFirstRound(trial, ids), PassedInFirstRound(trials_.at(best), ids)};
  }

  void ScreenOut(std::size_t index, const Screening& screening, std::string_view stage) {
    Candidate& candidate = out_.candidates[index];
    candidate.status = ScreenedOutStatus(candidate, screening);
    Say(stage, ScreenedOutLine(candidate));
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
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::vector<std::size_t> failing = CasesBy(best, false);
      if (failing.empty()) {
        Say("refine", "every test passes: nothing to refine");
        return {};
      }
      RETURN_IF_ERROR(Attempt(attempt, best, failing));
      fruitless = BestOnTrain(out_.candidates) == best ? fruitless + 1 : 0;
    }
    return {};
  }

  Status Attempt(int attempt, std::size_t best, const std::vector<std::size_t>& failing) {
    Say("refine", AttemptLine(attempt, options_.attempts, input_.teacher->info().name, failing.size()));
    RefineOptions refine;
    refine.candidates = options_.candidates;
    refine.prompts = options_.prompts;
    refine.target = options_.target;
    refine.context_tokens = options_.context_tokens;
    const Result<ProposalsOutcome> proposed =
        ProposeChanges(*input_.teacher, material_, out_.candidates[best],
                       FailuresText(trials_.at(best), options_.context_tokens / 2), out_.candidates, refine, attempt);
    if (!proposed) {
      if (proposed.error().kind != ErrorKind::kInput) return proposed.error();
      Say("refine", "no usable proposal: " + proposed.error().message);
      return {};
    }
    for (const std::string& reason : proposed->discarded) Say("refine", "proposal discarded: " + reason);
    for (const Proposal& proposal : proposed->proposals) RETURN_IF_ERROR(TryProposal(proposal, best, failing));
    return {};
  }

  Status TryProposal(const Proposal& proposal, std::size_t best, const std::vector<std::size_t>& failing) {
    SkillText skill = out_.candidates[best].skill;
    skill.body = proposal.body;
    const std::size_t index = AddCandidate(proposal.kind, out_.candidates[best].id, proposal.why, std::move(skill));
    out_.full_student_calls += FullCalls();
    ASSIGN_OR_RETURN(const Screening screening, Screen(index, best, failing));
    if (IsWorthMeasuring(screening)) return MeasureOnTrain(index);
    ScreenOut(index, screening, "refine");
    return {};
  }

  // The longest part of the body that hasn't been left out yet; nothing if there are too few parts or all were tried.
  std::optional<BodyPart> NextToLeaveOut(const std::string& body) const {
    std::vector<BodyPart> parts = PartsOf(body);
    if (parts.size() < 2) return std::nullopt;
    std::sort(parts.begin(), parts.end(),
              [](const BodyPart& a, const BodyPart& b) { return a.end - a.begin > b.end - b.begin; });
    const auto untried =
        std::find_if(parts.begin(), parts.end(), [&](const BodyPart& part) { return !left_out_.contains(part.title); });
    return untried == parts.end() ? std::nullopt : std::optional(*untried);
  }

  // Tries to leave out each of the longest parts. A shorter skill wins only if it loses no answer, because with few
  // tests an equal pass rate says little.
  Status LeaveOut() {
    for (std::size_t tried = 0; tried < kMaxShorter; ++tried) {
      const std::size_t best = BestOnTrain(out_.candidates);
      const std::optional<BodyPart> part = NextToLeaveOut(out_.candidates[best].skill.body);
      if (!part) return {};
      left_out_.insert(part->title);
      SkillText skill = out_.candidates[best].skill;
      skill.body = std::string(Trim(skill.body.erase(part->begin, part->end - part->begin)));
      if (skill.body.empty()) continue;
      const std::size_t index = AddCandidate("shorter", out_.candidates[best].id,
                                             fmt::format("without \"{}\"", part->title), std::move(skill));
      out_.full_student_calls += FullCalls();
      const std::vector<std::size_t> passing = CasesBy(best, true);
      if (!passing.empty()) {
        ASSIGN_OR_RETURN(const Screening screening, Screen(index, best, passing));
        if (!LosesNothing(screening)) {
          ScreenOut(index, screening, "shorter");
          continue;
        }
      }
      RETURN_IF_ERROR(MeasureOnTrain(index));
    }
    return {};
  }

  void Choose() {
    out_.chosen = ChosenCandidate(out_.candidates);
    for (std::size_t i = 0; i < out_.candidates.size(); ++i)
      out_.candidates[i].status = StatusAfterChoice(out_.candidates[i], i == out_.chosen);
  }

  // Once, on the held-out cases, which no earlier stage has seen.
  Status Measure() {
    if (out_.test.empty()) {
      Say("test",
          "not measured: every test was used to write the skill; add some, or name a model that writes new ones "
          "(--test-gen-model)");
      return {};
    }
    const Candidate& chosen = out_.candidates[out_.chosen];
    Say("test", VerdictLine(chosen, out_.test.size()) + budget_.Text());
    TrialSpec spec;
    spec.stage = "test";
    spec.suite = SuiteOf(out_.cases, out_.test);
    spec.rounds = options_.runs;
    if (material_.has_existing() && Trim(chosen.skill.body) != Trim(material_.existing.body))
      spec.previous = &material_.existing;
    // A verdict against the baseline must not end the comparison with the previous version.
    spec.stop_when_decided = spec.previous == nullptr;
    ASSIGN_OR_RETURN(Trial trial, Try(chosen.skill, std::move(spec)));
    out_.measured = std::move(trial);
    return {};
  }

  const GenerateInput& input_;
  const GenerateOptions& options_;
  const Material& material_;
  GenerationBudget budget_;
  GenerateOutcome out_;
  std::vector<std::size_t> train_;
  std::map<std::size_t, Trial> trials_;  // on train, by candidate
  std::set<std::string> left_out_;
  std::vector<double> without_;  // by student: pass rate on train without a skill
};

}  // namespace

Result<GenerateOutcome> GenerateSkill(const GenerateInput& input) { return Generation(input).Run(); }

}  // namespace upskill
