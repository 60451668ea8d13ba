// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "eval/plan/cell.h"
#include "eval/plan/prompts.h"
#include "eval/run/judge_answers.h"
#include "eval/run/judge_prompt.h"
#include "util/hash.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

// Nothing: no label. Errors: another value.
Result<std::optional<bool>> ReadLabel(const Json& value) {
  if (value.is_null()) return std::optional<bool>();
  if (value.is_boolean()) return std::optional(value.get<bool>());
  if (value == "pass" || value == "fail") return std::optional(value == "pass");
  return InputError("a label must be true, false, \"pass\", \"fail\" or null");
}

Result<std::string> NeededText(const Json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_string() || Trim(found->get_ref<const std::string&>()).empty())
    return InputError(fmt::format("no \"{}\": a text that isn't empty", key));
  return found->get<std::string>();
}

// The keys of a line; "case" and "run" are on label sheets.
constexpr std::array<std::string_view, 8> kLineKeys = {"input", "answer", "rubric", "reference",
                                                       "label", "labels", "case",   "run"};

// What makes two lines be about one answer.
std::string AnswerHash(const std::string& input, const std::string& reference, const AskedQuestion& asked) {
  return Sha256Hex(DumpJson({input, reference, asked.question.rubric, asked.text}));
}

// What the judge was asked by a rubric about an answer of a run.
struct AskedInRun {
  const Case& test_case;
  Arm arm;
  const AskedQuestion& asked;
};

void VisitAsked(const RunData& data, const std::function<void(const AskedInRun&)>& visit) {
  const Plan& plan = data.plan();
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    const Case& test_case = plan.suite.cases[i];
    const Result<CaseChecks> checks = CaseChecks::Make(test_case, DefaultSandbox(), true);
    if (!checks || !checks->asks_judge()) continue;
    for (std::size_t student = 0; student < plan.students.size(); ++student) {
      for (const Arm arm : plan.arms) {
        for (const SamplePtr& sample : data.samples(student, arm, i)) {
          if (!sample->ok() || sample->judgments.empty()) continue;
          for (const AskedQuestion& asked : checks->QuestionsAbout(sample->response.text, checks->Waiting())) {
            if (asked.question.kind == JudgeQuestion::Kind::kRubric) visit({test_case, arm, asked});
          }
        }
      }
    }
  }
}

class LabelReader {
 public:
  Status Take(const Json& line, const std::string& place) {
    if (!line.is_object()) return InputError("expected an object");
    LabelledAnswer answer;
    ASSIGN_OR_RETURN(answer.test_case.input, NeededText(line, "input"));
    ASSIGN_OR_RETURN(answer.asked.text, NeededText(line, "answer"));
    ASSIGN_OR_RETURN(answer.asked.question.rubric, NeededText(line, "rubric"));
    answer.test_case.reference = StringAt(line, "reference");
    answer.run = StringAt(line, "run");
    if (answer.asked.text.size() > kMaxJudgedBytes)
      return InputError(fmt::format("the answer is longer than {}", BytesText(kMaxJudgedBytes)));
    WarnOfMisspeltKeys(line, place);
    RETURN_IF_ERROR(TakeLabels(line, answer));
    if (std::none_of(answer.labels.begin(), answer.labels.end(), [](const auto& label) { return label.has_value(); })) {
      ++set_.unlabelled;
      return {};
    }
    const auto known = places_.try_emplace(AnswerHash(answer.test_case.input, answer.test_case.reference, answer.asked),
                                           set_.answers.size(), place);
    if (!known.second) return Merge(answer, known.first->second);
    set_.answers.push_back(std::move(answer));
    return {};
  }

  LabelSet Finish() {
    for (LabelledAnswer& answer : set_.answers) answer.labels.resize(set_.raters.size());
    if (repeated_ > 0) {
      set_.warnings.push_back(fmt::format("{} about an answer that was labelled before: each answer counts once",
                                          repeated_ == 1 ? "1 line is" : fmt::format("{} lines are", repeated_)));
    }
    return std::move(set_);
  }

 private:
  // The labels of a line about an answer that an earlier line is about, too.
  Status Merge(const LabelledAnswer& line, const std::pair<std::size_t, std::string>& earlier) {
    ++repeated_;
    std::vector<std::optional<bool>>& labels = set_.answers[earlier.first].labels;
    labels.resize(std::max(labels.size(), line.labels.size()));
    for (std::size_t rater = 0; rater < line.labels.size(); ++rater) {
      if (!line.labels[rater]) continue;
      if (labels[rater] && labels[rater] != line.labels[rater])
        return InputError(fmt::format("{} labels the same answer differently; keep one of the labels", earlier.second));
      labels[rater] = line.labels[rater];
    }
    return {};
  }

  void WarnOfMisspeltKeys(const Json& line, const std::string& place) {
    constexpr std::size_t kMostWarnings = 5;
    for (const auto& item : line.items()) {
      if (set_.warnings.size() >= kMostWarnings) return;
      if (std::find(kLineKeys.begin(), kLineKeys.end(), item.key()) != kLineKeys.end()) continue;
      const std::optional<std::string> near = NearestKey(item.key(), kLineKeys);
      if (near) {
        set_.warnings.push_back(
            fmt::format("{}: unknown key '{}'; did you mean '{}'?", place, ExcerptLine(item.key(), 40), *near));
      }
    }
  }

  Status TakeLabels(const Json& line, LabelledAnswer& answer) {
    if (const auto labels = line.find("labels"); labels != line.end()) {
      if (!labels->is_object()) return InputError("\"labels\" must be an object: the label of each rater by name");
      for (const auto& label : labels->items()) RETURN_IF_ERROR(TakeLabel(label.key(), label.value(), answer));
    }
    if (const auto label = line.find("label"); label != line.end()) return TakeLabel("people", *label, answer);
    return {};
  }

  Status TakeLabel(const std::string& rater, const Json& value, LabelledAnswer& answer) {
    ASSIGN_OR_RETURN(const std::optional<bool> label, ReadLabel(value));
    const auto known = numbers_.try_emplace(rater, set_.raters.size());
    if (known.second) set_.raters.push_back(rater);
    const std::size_t number = known.first->second;
    if (answer.labels.size() <= number) answer.labels.resize(number + 1);
    answer.labels[number] = label;
    return {};
  }

  LabelSet set_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, std::pair<std::size_t, std::string>> places_;  // of each answer: its number, its first line
  std::size_t repeated_ = 0;
};

}  // namespace

std::optional<bool> LabelledAnswer::people() const {
  int balance = 0;
  for (const std::optional<bool>& label : labels) balance += !label ? 0 : (*label ? 1 : -1);
  return balance == 0 ? std::nullopt : std::optional(balance > 0);
}

Result<LabelSet> ParseLabels(std::string_view text, const std::string& source) {
  LabelReader reader;
  std::size_t number = 0;
  std::size_t taken = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (Trim(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", source, number);
    if (++taken > kMaxLabelledAnswers) {
      return InputError(
          fmt::format("{}: more than {} answers", source, WithThousands(static_cast<long long>(kMaxLabelledAnswers))));
    }
    ASSIGN_OR_RETURN(const Json json, ParseJson(line, place));
    RETURN_IF_ERROR(reader.Take(json, place).With(place));
  }
  LabelSet set = reader.Finish();
  if (set.answers.empty()) {
    return InputError(
        fmt::format("{}: no labelled answers; each line needs \"input\", \"answer\", \"rubric\" and "
                    "\"label\" (upskill judge-check --help)",
                    source));
  }
  return set;
}

std::vector<Json> LabelSheet(const RunData& data) {
  std::map<std::string, Json> by_hash;  // in an order that depends on the texts alone
  VisitAsked(data, [&](const AskedInRun& one) {
    Json line = {{"case", one.test_case.id}, {"input", UserMessage(one.test_case)}};
    if (!one.test_case.reference.empty()) line["reference"] = one.test_case.reference;
    line["rubric"] = one.asked.question.rubric;
    line["answer"] = one.asked.text;
    line["label"] = nullptr;
    line["run"] = data.plan().run;
    by_hash.emplace(Sha256Hex(DumpJson(line)), std::move(line));
  });
  std::vector<Json> lines;
  lines.reserve(by_hash.size());
  for (auto& [hash, line] : by_hash) lines.push_back(std::move(line));
  return lines;
}

void CountOccurrences(const RunData& data, LabelSet& set) {
  std::map<std::string, LabelledAnswer*> by_hash;
  for (LabelledAnswer& answer : set.answers) {
    if (answer.run == data.plan().run)
      by_hash.emplace(AnswerHash(answer.test_case.input, answer.test_case.reference, answer.asked), &answer);
  }
  VisitAsked(data, [&](const AskedInRun& one) {
    const auto found = by_hash.find(AnswerHash(UserMessage(one.test_case), one.test_case.reference, one.asked));
    if (found != by_hash.end()) ++(one.arm == Arm::kSkill ? found->second->with_skill : found->second->without_skill);
  });
}

JudgedLabels JudgeLabels(Model& judge, const LabelSet& set, const RunLimits& limits, const Clock& clock,
                         const StopFlag* stop, JudgmentStore* store,
                         const std::function<void(std::size_t done)>& progress) {
  std::vector<AnswerToJudge> questions;
  questions.reserve(set.answers.size());
  for (const LabelledAnswer& answer : set.answers) questions.push_back({&answer.test_case, {answer.asked}});
  JudgedAnswers judged = JudgeAnswers(judge, questions, limits, clock, stop, store, progress);
  JudgedLabels out;
  out.judgments.resize(set.answers.size());
  out.errors.resize(set.answers.size());
  for (std::size_t i = 0; i < judged.answers.size(); ++i) {
    out.errors[i] = std::move(judged.answers[i].error);
    if (!out.errors[i] && !judged.answers[i].stored.empty())
      out.judgments[i] = std::move(judged.answers[i].stored.front());
  }
  out.exhausted = std::move(judged.exhausted);
  out.unsaved = std::move(judged.unsaved);
  out.cost_usd = judged.cost_usd;
  out.known = judged.known;
  out.interrupted = judged.interrupted;
  return out;
}

}  // namespace upskill
