// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_record.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "eval/journal/runs_folder.h"
#include "eval/run/judge_labels.h"
#include "eval/run/judge_prompt.h"
#include "skill/check_types.h"
#include "util/append_file.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kRecordSchema = 1;

void AddRubrics(const std::vector<CheckSpec>& checks, std::vector<std::string>& rubrics) {
  for (const CheckSpec& check : checks) {
    AddRubrics(check.members, rubrics);
    const CheckType* const type = FindCheckType(check.type);
    const std::string rubric = StringAt(check.options, "rubric");
    if (type == nullptr || !type->asks_judge() || rubric.empty()) continue;
    if (std::find(rubrics.begin(), rubrics.end(), rubric) == rubrics.end()) rubrics.push_back(rubric);
  }
}

Json ToJson(const RubricRecord& record) {
  Json json = {{"schema", kRecordSchema}, {"time", record.time}, {"judge", record.judge}, {"rubric", record.rubric}};
  PutCounts(record.counts, json);
  json["effective"] = EffectiveToJson(record.effective);
  PutCounts(record.with_skill, json["with_skill"]);
  PutCounts(record.without_skill, json["without_skill"]);
  return json;
}

std::optional<RubricRecord> FromLine(std::string_view line) {
  const Result<Json> json = ParseJson(line, kJudgesFile);
  if (!json || !json->is_object() || JsonGet(*json, "schema", 0) != kRecordSchema) return std::nullopt;
  for (const char* key : {"both_pass", "judge_only", "people_only", "both_fail"}) {
    const Json& count = Member(*json, key);
    if (!count.is_number_unsigned() || count.get<std::uint64_t>() > kMaxLabelledAnswers) return std::nullopt;
  }
  const ConfusionCounts counts = CountsFromJson(*json);
  return RubricRecord{StringAt(*json, "judge"),
                      StringAt(*json, "rubric"),
                      counts,
                      StringAt(*json, "time"),
                      EffectiveFromJson(Member(*json, "effective"), counts),
                      CountsFromJson(Member(*json, "with_skill")),
                      CountsFromJson(Member(*json, "without_skill"))};
}

}  // namespace

std::string RubricHash(const std::string& rubric) {
  return Sha256Hex(JudgePromptsHash() + "\n" + std::string(Trim(rubric)));
}

std::vector<std::string> RubricsOf(const Suite& suite) {
  std::vector<std::string> rubrics;
  for (const Case& test_case : suite.cases) AddRubrics(test_case.checks, rubrics);
  return rubrics;
}

Status AppendJudgeRecords(const std::filesystem::path& runs_dir, const std::vector<RubricRecord>& records) {
  RETURN_IF_ERROR(MakeRunsFolder(runs_dir));
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(runs_dir / kJudgesFile, true));
  for (const RubricRecord& record : records) RETURN_IF_ERROR(file.Append(DumpJson(ToJson(record)) + "\n"));
  return file.Sync();
}

Result<std::optional<JudgeRecord>> FindJudgeRecord(const std::filesystem::path& runs_dir, const std::string& judge,
                                                   const std::vector<std::string>& rubrics) {
  const Result<std::string> text = ReadFile(runs_dir / kJudgesFile);
  if (!text && text.error().kind == ErrorKind::kNotFound) return std::optional<JudgeRecord>();
  if (!text) return text.error();
  std::map<std::string, RubricRecord> largest;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::optional<RubricRecord> record = FromLine(rest.substr(0, end));
    if (record && record->judge == judge) {
      RubricRecord& kept = largest.try_emplace(record->rubric, *record).first->second;
      if (record->counts.total() >= kept.counts.total()) kept = *record;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::optional<JudgeRecord> sum;
  ConfusionCounts with_skill;
  ConfusionCounts without_skill;
  for (const std::string& rubric : rubrics) {
    const auto found = largest.find(RubricHash(rubric));
    if (found == largest.end()) continue;
    if (!sum) sum.emplace();
    sum->counts.Add(found->second.counts);
    sum->effective.Add(found->second.effective);
    with_skill.Add(found->second.with_skill);
    without_skill.Add(found->second.without_skill);
    sum->time = std::max(sum->time, found->second.time);
    ++sum->rubrics_checked;
  }
  if (sum) sum->arms_differ = ErrsDifferently(with_skill, without_skill);
  return sum;
}

}  // namespace upskill
