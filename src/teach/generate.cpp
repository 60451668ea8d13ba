// SPDX-License-Identifier: Apache-2.0
#include "teach/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "skill/case_reader.h"
#include "teach/case_split.h"
#include "teach/choice.h"
#include "teach/critique.h"
#include "teach/draft.h"
#include "teach/evidence.h"
#include "teach/generation_state.h"
#include "teach/improve.h"
#include "teach/one_line.h"
#include "teach/probe.h"
#include "teach/stage_lines.h"
#include "teach/taught_code.h"
#include "teach/weak_teacher.h"
#include "teach/write_cases.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kKnownRequests = 2;  // for cases in place of those that students pass without a skill

// Runs the stages in order. choice.h decides which candidate wins; stage_lines.h words the progress lines.
class Generation {
 public:
  explicit Generation(const GenerateInput& input)
      : state_(input), input_(state_.input), options_(state_.options), material_(state_.material), out_(state_.out) {
    MeterTeachers({[this](const Model& model, const ChatRequest& request) { return MayAsk(model, request); },
                   [this](const Result<ChatResponse>& answer) { return state_.budget.Settle(answer); }});
  }
  ~Generation() { MeterTeachers({}); }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  Result<GenerateOutcome> Run() {
    const Status found = FindCandidates();
    if (!found && (out_.candidates.empty() || !EndEarly(found.error()))) return found.error();
    Choose();
    if (out_.stopped.empty()) {
      const Status finished = FinishChosen();
      if (!finished && !EndEarly(finished.error())) return finished.error();
    }
    if (!out_.stopped.empty() && out_.cases.empty()) KeepEarlierCases();
    out_.spent_usd = state_.budget.spent_usd();
    return std::move(out_);
  }

 private:
  void MeterTeachers(const TeacherMeter& meter) const {
    for (Teacher* teacher : {input_.teacher, input_.test_teacher}) {
      if (teacher != nullptr) teacher->set_meter(meter);
    }
  }

  // A skill that is improved doesn't lose its cases because no others were written.
  void KeepEarlierCases() {
    out_.before_tests = true;
    out_.cases = input_.given ? input_.given->cases : input_.earlier;
  }

  // A request in flight isn't stopped by the user's first stop, so that is checked before each.
  Status MayAsk(const Model& model, const ChatRequest& request) {
    if (input_.trials.stop != nullptr && input_.trials.stop->load() > 0)
      return Error{ErrorKind::kCancelled, "interrupted"};
    return state_.budget.Reserve(model, request);
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
    if (!state_.measures()) return {};
    Split();
    SayWhatIsUnseen();
    RETURN_IF_ERROR(ProbeStudents(state_));
    return state_.train.empty() || !state_.measures() ? Status() : ImproveCandidates(state_);
  }

  // Trials give students the body of SKILL.md.
  void SayWhatIsUnseen() const {
    const std::size_t files = out_.candidates.back().skill.references.size();
    if (files > 0)
      state_.Say("tests", fmt::format("students get SKILL.md alone, without its {}", Counted(files, "reference")));
  }

  DraftOptions OptionsOfDraft() const {
    DraftOptions draft_options;
    draft_options.name = material_.has_existing() ? material_.existing.name : options_.name;
    if (options_.evaluate) draft_options.students = state_.StudentsText();
    draft_options.prompts = options_.prompts;
    draft_options.target = options_.target;
    draft_options.context_tokens = options_.context_tokens;
    return draft_options;
  }

  Result<Draft> MakeDraft() const {
    std::string what = "writes the skill from " +
                       (material_.items.empty() ? "the task alone" : Counted(material_.items.size(), "item"));
    if (material_.items.empty() && material_.has_existing()) what = "rewrites the existing skill";
    state_.Say("draft", fmt::format("{} {}", input_.teacher->info().name, what));
    return WriteDraft(*input_.teacher, material_, OptionsOfDraft());
  }

  Status WriteFirst() {
    if (material_.has_existing()) state_.AddCandidate("existing", -1, "", material_.existing);
    Result<Draft> draft = MakeDraft();
    if (!draft) {
      if (draft.error().kind != ErrorKind::kInput) return draft.error();
      if (!material_.has_existing()) return TooWeak(*input_.teacher, draft.error().message);
      state_.Say("draft", "no draft: " + draft.error().message);
      return {};
    }
    uncited_ = draft->uncited;
    const std::size_t index = state_.AddCandidate("draft", -1, "", SkillText());
    TakeDraft(*draft, index);
    const bool has_nothing_to_compare = material_.has_existing() && material_.items.empty();
    if (options_.critique && !has_nothing_to_compare) RETURN_IF_ERROR(Criticize(index, *draft));
    out_.unsupported_rules = DropUnsupportedRules(
        material_, PromptCopies(*options_.prompts, {"draft-system", "draft", "critique"}, material_), *draft);
    const std::size_t left_out = out_.unsupported_rules.size() + uncited_;
    const std::size_t rules = left_out + RulesOf(*draft).size();
    if (draft->sections.empty() || IsTooWeak(left_out, rules)) {
      const std::string example =
          out_.unsupported_rules.empty() ? "" : ": " + CutToColumns(OneLine(out_.unsupported_rules.front()), 100);
      return TooWeak(*input_.teacher, fmt::format("of its {}, {} without content or support in the material{}",
                                                  Counted(rules, "rule"), left_out, example));
    }
    if (!out_.unsupported_rules.empty()) TakeDraft(*draft, index);
    SayWhatIsRejected(*draft);
    return {};
  }

  void SayWhatIsRejected(const Draft& draft) const {
    for (const std::string& problem : FindRejectedCode(DraftToSkill(draft), DefaultSandbox()))
      state_.Say("draft", fmt::format("kept, but its code is invalid; correct it by hand: {}",
                                      CutToColumns(OneLine(problem), 200)));
  }

  // The draft as the text of a candidate.
  void TakeDraft(const Draft& draft, std::size_t index) {
    Candidate& candidate = out_.candidates[index];
    candidate.skill = DraftToSkill(draft);
    if (material_.has_existing()) {
      candidate.skill.name = material_.existing.name;
      candidate.skill.other_fields = material_.existing.other_fields;
    }
    candidate.rules = RulesOf(draft);
    candidate.tokens = options_.target.count(candidate.skill.body);
    out_.uncited_rules = draft.uncited;
    out_.contradicted_rules = draft.contradicted;
    state_.Say("draft", DraftLine(candidate, draft, out_.unsupported_rules, material_, options_.target));
  }

  // The draft stays as it is if the critique can't be used.
  Status Criticize(std::size_t index, Draft& draft) {
    state_.Say("critique", fmt::format("{} checks the draft{}", input_.teacher->info().name,
                                       material_.items.empty() ? "" : " against the material"));
    Result<Critique> critique = CritiqueDraft(*input_.teacher, material_, draft, OptionsOfDraft());
    if (!critique) {
      if (critique.error().kind != ErrorKind::kInput) return critique.error();
      state_.Say("critique", "the draft stays as it is: " + critique.error().message);
      return {};
    }
    state_.Say("critique", CritiqueLine(*critique));
    if (!critique->problem.empty())
      state_.Say("critique", "the draft stays as it is; the corrected one can't be used: " + critique->problem);
    out_.critique = std::move(critique->points);
    if (!critique->fixed) return {};
    uncited_ = critique->fixed->uncited;
    critique->fixed->uncited += draft.uncited;
    critique->fixed->contradicted.insert(critique->fixed->contradicted.begin(), draft.contradicted.begin(),
                                         draft.contradicted.end());
    draft = *std::move(critique->fixed);
    TakeDraft(draft, index);
    return {};
  }

  // Adds cases to those that exist already.
  Result<VettedCases> MoreCases(VettedCases had) const {
    state_.Say("tests", fmt::format("{} writes {} without seeing the skill", input_.test_teacher->info().name,
                                    Counted(options_.cases - had.cases.size(), "test")));
    CaseOptions options;
    options.cases = options_.cases;
    options.had = std::move(had);
    options.prompts = options_.prompts;
    options.context_tokens = options_.context_tokens;
    options.reader = input_.teacher;  // its notes, which are paid for
    return WriteCases(*input_.test_teacher, material_, options);
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

  // The user's cases as they are; otherwise examples, then written cases.
  Status CollectCases() {
    if (input_.given) {
      out_.cases = input_.given->cases;
      return {};
    }
    VettedCases vetted;
    TakeExamples(vetted);
    const std::size_t own = vetted.cases.size();
    Result<VettedCases> result = own >= options_.cases ? vetted : MoreCases(vetted);
    if (!result) {
      if (result.error().kind != ErrorKind::kInput) return result.error();
      out_.tests_problem = result.error().message;
      state_.Say("tests", "none written: " + out_.tests_problem);
    }
    TakeCases(result ? *std::move(result) : std::move(vetted));
    const std::vector<std::string>& rejected = out_.rejected_cases;
    if (out_.cases.empty() && IsTooWeak(rejected.size(), rejected.size()))
      return TooWeak(*input_.test_teacher, fmt::format("none of its {} can be used, for example {}",
                                                       Counted(rejected.size(), "test"), rejected.front()));
    if (!out_.tests_problem.empty() && out_.cases.empty()) out_.stopped = out_.tests_problem;
    if (out_.tests_problem.empty()) RETURN_IF_ERROR(ReplaceKnownCases(own));
    return AddBlindCases();
  }

  void TakeCases(VettedCases vetted) {
    out_.cases = std::move(vetted.cases);
    out_.rejected_cases = std::move(vetted.rejected);
    state_.Say("tests", CasesLine(out_.cases, out_.rejected_cases));
  }

  // Asks for others in place of cases that all students pass without the skill; where none come, these stay. The first
  // `own` cases are the user's.
  Status ReplaceKnownCases(std::size_t own) {
    for (int request = 0; request < kKnownRequests && state_.measures(); ++request) {
      std::vector<std::size_t> tried(out_.cases.size() - std::min(own, out_.cases.size()));
      std::iota(tried.begin(), tried.end(), own);
      ASSIGN_OR_RETURN(const std::vector<std::size_t> known, PassedWithoutSkill(state_, tried));
      if (known.empty()) return {};
      state_.Say("tests", fmt::format("every student passes {} without a skill: asking for others",
                                      Counted(known.size(), "test")));
      VettedCases had{{}, out_.rejected_cases};
      std::vector<Case> passed;
      for (std::size_t i = 0; i < out_.cases.size(); ++i)
        (std::binary_search(known.begin(), known.end(), i) ? passed : had.cases).push_back(out_.cases[i]);
      for (const Case& one : passed)
        had.rejected.push_back(fmt::format("{}: models pass it without the skill; ask for what only the {} tells",
                                           CutToColumns(OneLine(one.input), 60),
                                           material_.items.empty() ? "task" : "material"));
      own = had.cases.size();  // the others were tried
      Result<VettedCases> more = MoreCases(std::move(had));
      if (!more) return more.error().kind == ErrorKind::kInput ? Status() : more.error();
      for (Case& one : passed) {
        if (more->cases.size() < options_.cases) more->cases.push_back(std::move(one));
      }
      TakeCases(*std::move(more));
    }
    return {};
  }

  // What is known without the recordings: documents, tools and what was asked for.
  Material WithoutRecordings() const {
    Material material;
    material.task = material_.task;
    if (material_.task.empty())
      for (const std::string& request : material_.requests) material.task += request + "\n\n";
    for (const MaterialItem& item : material_.items) {
      if (item.kind == MaterialKind::kDocument || item.kind == MaterialKind::kTool) material.items.push_back(item);
    }
    return material;
  }

  // Written by a request that doesn't see the recordings, and held out: they show whether the skill helps with the work
  // or only with what the recordings say. A generation without them goes on.
  Status AddBlindCases() {
    const Material material = WithoutRecordings();
    if (!options_.evaluate || material.items.size() == material_.items.size() || Trim(material.task).empty() ||
        out_.cases.empty())
      return {};
    CaseOptions options;
    options.cases = options_.cases / 4;
    options.prompts = options_.prompts;
    options.context_tokens = options_.context_tokens;
    options.tries = 1;
    options.blind = true;
    options.about_code = SharesOf(out_.cases).executed > 0;
    if (options.cases == 0) return {};
    state_.Say("tests", fmt::format("{} writes {} blind, from the task without the recording",
                                    input_.test_teacher->info().name, Counted(options.cases, "test")));
    Result<VettedCases> blind = WriteCases(*input_.test_teacher, material, options);
    if (!blind && blind.error().kind != ErrorKind::kInput) return blind.error();
    VettedCases all{std::move(out_.cases), {}};
    const std::size_t recorded = all.cases.size();
    for (Case& one : blind ? blind->cases : std::vector<Case>()) {
      one.tags.emplace_back(kBlindTag);
      one.split = Split::kTest;
      TakeCase(std::move(one), all);
    }
    out_.cases = std::move(all.cases);
    state_.Say("tests", fmt::format("{} blind, all held out", out_.cases.size() - recorded));
    for (std::size_t i = 0; i < recorded && recorded < out_.cases.size(); ++i)
      out_.cases[i].tags.emplace_back(kRecordedTag);
    return {};
  }

  void Split() {
    TakeSplits(input_.earlier, out_.cases);
    out_.test = TestCases(out_.cases, options_.holdout, options_.seed);
    for (std::size_t i = 0; i < out_.cases.size(); ++i) {
      const bool held_out = std::binary_search(out_.test.begin(), out_.test.end(), i);
      out_.cases[i].split = held_out ? Split::kTest : Split::kTrain;
      if (!held_out) state_.train.push_back(i);
    }
    state_.Say("tests", SplitLine(state_.train.size(), out_.test.size()));
  }

  void Choose() {
    out_.chosen = ChosenCandidate(out_.candidates);
    for (std::size_t i = 0; i < out_.candidates.size(); ++i)
      out_.candidates[i].status = StatusAfterChoice(out_.candidates[i], i == out_.chosen);
    const Candidate& chosen = out_.candidates[out_.chosen];
    for (std::vector<std::string>* left_out : {&out_.contradicted_rules, &out_.unsupported_rules})
      std::erase_if(*left_out, [&](const std::string& rule) { return Has(chosen.skill, rule); });
    for (const Rule& rule : chosen.rules) out_.provenance.push_back(ProvenanceLine(rule, material_));
    if (material_.has_existing()) out_.lost_facts = LostFacts(material_.existing, chosen.skill);
    if (!material_.items.empty()) out_.coverage = CoverageOf(material_, chosen.rules, out_.cases);
  }

  // Whether the skill has a rule "RULE (IDS)" that was left out of a draft: a refinement may have brought it back.
  static bool Has(const SkillText& skill, const std::string& rule) {
    return OneLine(skill.body).find(OneLine(rule.substr(0, rule.rfind(" (")))) != std::string::npos;
  }

  // The description still speaks of what was left out.
  Status Describe() {
    Candidate& chosen = out_.candidates[out_.chosen];
    bool is_shorter = false;
    for (const Candidate* at = &chosen; at->parent >= 0 && !is_shorter; at = &out_.candidates[ParentOf(*at)])
      is_shorter = at->kind == "shorter";
    if (!is_shorter) return {};
    const Result<std::string> description = DescribeSkill(*input_.teacher, material_, chosen.skill, OptionsOfDraft());
    if (description) {
      chosen.skill.description = *description;
    } else if (description.error().kind == ErrorKind::kInput) {
      state_.Say("shorter", "the description stays as it is: " + description.error().message);
    } else {
      return description.error();
    }
    return {};
  }

  Status FinishChosen() {
    RETURN_IF_ERROR(Describe());
    return state_.measures() && !out_.nothing_to_learn ? Measure() : Status();
  }

  static std::size_t ParentOf(const Candidate& candidate) { return static_cast<std::size_t>(candidate.parent); }

  // Once, on the held-out cases, which no earlier stage has seen.
  Status Measure() {
    if (out_.test.empty()) {
      state_.Say("test",
                 "not measured: every test was used to write the skill; add some, or name a model that writes new ones "
                 "(--test-gen-model)");
      return {};
    }
    const Candidate& chosen = out_.candidates[out_.chosen];
    state_.Say("test", VerdictLine(chosen, out_.test.size()) + state_.budget.Text());
    TrialSpec spec;
    spec.stage = "test";
    spec.suite = SuiteOf(out_.cases, out_.test);
    spec.rounds = options_.runs;
    if (material_.has_existing() && Trim(chosen.skill.body) != Trim(material_.existing.body))
      spec.previous = &material_.existing;
    // A verdict against the baseline must not end the comparison with the previous version.
    spec.stop_when_decided = spec.previous == nullptr;
    ASSIGN_OR_RETURN(Trial trial, state_.Try(chosen.skill, std::move(spec)));
    out_.measured = std::move(trial);
    return {};
  }

  GenerationState state_;
  std::size_t uncited_ = 0;  // rules that the last draft lost because they cite nothing
  const GenerateInput& input_;
  const GenerateOptions& options_;
  const Material& material_;
  GenerateOutcome& out_;
};

}  // namespace

Result<GenerateOutcome> GenerateSkill(const GenerateInput& input) { return Generation(input).Run(); }

}  // namespace upskill
