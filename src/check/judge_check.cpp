// SPDX-License-Identifier: Apache-2.0
#include "check/judge_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "check/check.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::array<JudgeWord, 5> kWords = {JudgeWord::kMet, JudgeWord::kNotMet, JudgeWord::kAnswerBetter,
                                             JudgeWord::kReferenceBetter, JudgeWord::kEqual};
constexpr std::size_t kMaxRubricBytes = 16U << 10U;

// 1: the answer is better, -1: the reference.
int Favour(JudgeWord word) {
  if (word == JudgeWord::kAnswerBetter) return 1;
  return word == JudgeWord::kReferenceBetter ? -1 : 0;
}

std::string Detail(const Judgment& judgment) {
  std::string text = judgment.reason;
  for (const std::string& quote : judgment.quotes) text += fmt::format("; quotes \"{}\"", ExcerptLine(quote, 120));
  return text;
}

class JudgeCheck : public Check {
 public:
  JudgeCheck(std::string name, std::size_t part, std::string file, std::vector<std::size_t> questions, bool has_judge)
      : name_(std::move(name)),
        part_(part),
        file_(std::move(file)),
        questions_(std::move(questions)),
        has_judge_(has_judge) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    const std::optional<std::string_view>& text = answer.parts[part_].text;
    if (!text) return {name_, Outcome::kFail, fmt::format("the answer has no file {}", file_)};
    if (Trim(*text).empty()) return {name_, Outcome::kFail, "there is nothing to judge"};
    if (text->size() > kMaxJudgedBytes)
      return {name_, Outcome::kFail, fmt::format("longer than {}, too long to judge", BytesText(kMaxJudgedBytes))};
    if (!has_judge_) return {name_, Outcome::kSkip, std::string(kNoJudge)};
    std::vector<const Judgment*> words;
    for (const std::size_t question : questions_) {
      const Judgments* const judgments = answer.judgments;
      if (judgments == nullptr || question >= judgments->size() || !(*judgments)[question])
        return {name_, Outcome::kSkip, "not judged"};
      words.push_back(&*(*judgments)[question]);
    }
    return words.size() == 1 ? Single(*words[0]) : Pair(*words[0], *words[1]);
  }

  std::string WhyItCannotPass() const override { return has_judge_ ? "" : CannotRun("judge", kNoJudge); }
  bool AsksJudge() const override { return true; }

 private:
  static constexpr std::string_view kNoJudge = "no judge is named (--judge-model)";

  CheckResult Single(const Judgment& judgment) const {
    return {name_, judgment.word == JudgeWord::kMet ? Outcome::kPass : Outcome::kFail, Detail(judgment)};
  }

  CheckResult Pair(const Judgment& answer_first, const Judgment& reference_first) const {
    if (Favour(answer_first.word) + Favour(reference_first.word) >= 0)
      return {name_, Outcome::kPass, "at least as good as the reference: " + Detail(answer_first)};
    const Judgment& against = Favour(answer_first.word) < 0 ? answer_first : reference_first;
    return {name_, Outcome::kFail, "the reference is better: " + Detail(against)};
  }

  std::string name_;
  std::size_t part_;
  std::string file_;
  std::vector<std::size_t> questions_;
  bool has_judge_;
};

}  // namespace

const char* JudgeWordName(JudgeWord word) {
  switch (word) {
    case JudgeWord::kMet:
      return "met";
    case JudgeWord::kNotMet:
      return "not met";
    case JudgeWord::kAnswerBetter:
      return "answer";
    case JudgeWord::kReferenceBetter:
      return "reference";
    case JudgeWord::kEqual:
      return "equal";
  }
  return "not met";
}

Result<JudgeWord> JudgeWordFromName(std::string_view name) {
  const auto* const found =
      std::find_if(kWords.begin(), kWords.end(), [&](JudgeWord word) { return JudgeWordName(word) == name; });
  if (found != kWords.end()) return *found;
  return InputError(fmt::format("unknown word of a judge \"{}\"", ExcerptLine(name, 40)));
}

Result<std::unique_ptr<Check>> MakeJudge(const CheckSpec& spec, CaseParts& parts) {
  const Json* const rubric = FindMember(spec.options, "rubric");
  if (rubric == nullptr || !rubric->is_string() || Trim(rubric->get_ref<const std::string&>()).empty())
    return InputError("judge needs a \"rubric\": what the answer must fulfil, in one or a few sentences");
  JudgeQuestion question;
  question.rubric = rubric->get<std::string>();
  question.file = spec.file;
  if (question.rubric.size() > kMaxRubricBytes)
    return InputError(fmt::format("judge: the rubric is longer than {}", BytesText(kMaxRubricBytes)));
  const std::string name = fmt::format("judge \"{}\"", ExcerptLine(question.rubric, 60));
  const Json* const against = FindMember(spec.options, "against");
  std::vector<std::size_t> questions;
  if (against == nullptr) {
    questions.push_back(parts.AddQuestion(question));
  } else if (*against != "reference") {
    return InputError("judge: \"against\" must be \"reference\"");
  } else if (!parts.has_reference()) {
    return InputError("judge: there is nothing to compare with: the case has no \"reference\"");
  } else {
    for (const auto kind : {JudgeQuestion::Kind::kAnswerFirst, JudgeQuestion::Kind::kReferenceFirst}) {
      question.kind = kind;
      questions.push_back(parts.AddQuestion(question));
    }
  }
  return std::unique_ptr<Check>(
      std::make_unique<JudgeCheck>(name, parts.Number(spec.file), spec.file, std::move(questions), parts.has_judge()));
}

}  // namespace upskill
