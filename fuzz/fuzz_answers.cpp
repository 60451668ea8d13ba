// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_answers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "check/answer_files.h"
#include "check/check.h"
#include "check/check_makers.h"
#include "check/data_text.h"
#include "check/gap_filler.h"
#include "cuda/checks/ptx_facts.h"
#include "eval/run/judge_labels.h"
#include "eval/run/judge_prompt.h"
#include "fuzz/fuzz_checks.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {
namespace {

// Whatever the answer, the rest of the file stays.
void FillGaps(std::string_view answer) {
  for (const char* pattern : {"", "edition = (\\d+)|\\[[^\\]]*\\]"}) {
    Case test_case;
    test_case.files = {{"build.toml", "[general]\n  <line>\nname = \"a\"\n"}};
    test_case.fill = Fill{"build.toml", "<line>", pattern, {}};
    CaseParts parts;
    const Result<std::optional<GapFiller>> filler = GapFiller::Make(test_case, parts);
    CHECK(filler.ok() && filler->has_value());
    const Result<std::string> file = (*filler)->FileWith(ReplaceInvalidUtf8(answer));
    if (!Parsed(file)) continue;
    CHECK(file->starts_with("[general]\n  ") && file->ends_with("\nname = \"a\"\n"));
  }
}

}  // namespace

// Files stay in their folder, and all together are no larger than the answer.
void FuzzAnswerFiles(std::string_view input) {
  const std::vector<std::string> wanted = {"build.toml", "src/relu.cu"};
  std::size_t bytes = 0;
  const auto files = AnswerFiles(input, wanted);
  CHECK(files.size() <= kMaxAnswerFiles);
  for (const auto& [name, content] : files) {
    CHECK(!name.empty() && ContainedPath("", name).ok());
    bytes += content.size();
  }
  CHECK(bytes <= input.size() + files.size());  // an unclosed last line gets its end
  CHECK(OutputFileContent(input, wanted.front()).size() <= input.size() + 1);
  CHECK(DataInAnswer(input, "json toml").size() <= input.size() + 1);
  FillGaps(input);
  for (const double number : NumbersIn(input, "")) CHECK(number == number);
  CHECK(NumbersIn(input, "ms").size() <= NumbersIn(input, "").size() + input.size());
}

// Values are found in the data, and what is found nowhere isn't found in an empty object either.
void FuzzAnswerData(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const Result<DataPath> path = DataPath::Parse(input.substr(0, end));
  Parsed(path);
  const std::string_view text = input.substr(std::min(end + 1, input.size()));
  for (const DataFormat format : {DataFormat::kJson, DataFormat::kToml, DataFormat::kYaml}) {
    const Result<Json> data = ParseData(format, text);
    if (!Parsed(data)) continue;
    const Result<Json> again = ParseJson(DumpJson(*data), "again");
    CHECK(!again.ok() || SameJson(*data, *again));  // TOML may be nested deeper than JSON
    if (!path) continue;
    for (const Json* value : path->In(*data))
      CHECK(value != nullptr && DumpJson(*value).size() <= DumpJson(*data).size());
    CHECK(path->In(Json::object()).empty());
  }
}

// A verdict that is met quotes something, and what is stored of it is bounded.
void FuzzJudgment(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  Case test_case;
  test_case.input = "request";
  test_case.reference = "reference";
  AskedQuestion asked;
  asked.question.rubric = "rubric";
  asked.text = std::string(input.substr(0, end));
  const std::string_view answer = input.substr(std::min(end + 1, input.size()));
  for (const auto kind : {JudgeQuestion::Kind::kRubric, JudgeQuestion::Kind::kAnswerFirst}) {
    asked.question.kind = kind;
    CHECK(!JudgeRequest(test_case, asked).messages.empty());
    const Result<Judgment> judgment = ReadJudgment(asked, answer);
    if (!Parsed(judgment)) continue;
    CHECK(judgment->word != JudgeWord::kMet || !judgment->quotes.empty());
    CHECK(JudgeWordFromName(JudgeWordName(judgment->word)).ok());
    CHECK(judgment->quotes.size() <= 8 && judgment->reason.size() <= 16'384);
  }
}

// Every answer has a label, and no more of them than there are raters.
void FuzzLabels(std::string_view input) {
  const Result<LabelSet> set = ParseLabels(input, "labels");
  if (!Parsed(set)) return;
  CHECK(!set->answers.empty() && set->answers.size() <= kMaxLabelledAnswers);
  for (const LabelledAnswer& answer : set->answers) {
    CHECK(answer.labels.size() == set->raters.size());
    CHECK(std::any_of(answer.labels.begin(), answer.labels.end(), [](const auto& label) { return label.has_value(); }));
    static_cast<void>(answer.people());
  }
}

// A value doesn't fit a schema and its opposite.
void FuzzJsonSchema(std::string_view input) {
  const Result<Json> both = ParseJson(input, "schema");
  if (!Parsed(both) || !both->is_array() || both->size() != 2) return;
  const Json& schema = (*both)[0];
  const Json& value = (*both)[1];
  IgnoredSchemaKeywords(schema);
  if (!Parsed(CheckSchemaItself(schema))) return;
  const Status fits = CheckJsonSchema(schema, value);
  Parsed(fits);
  if (DumpJson(schema).find("$ref") != std::string::npos) return;  // references would name other places
  CHECK(!fits.ok() || !CheckJsonSchema(Json{{"not", schema}}, value).ok());
}

// Every instruction that is there is used.
void FuzzCompilerOutput(std::string_view input) {
  const PtxFacts facts = FactsOfPtx(input);
  for (const auto& [name, count] : facts.instructions)
    CHECK(count > 0 && (name == "tma" || UsesInstruction(facts, name)));  // which stands for another one
  FactsOfAssembler(input);
}

}  // namespace upskill
