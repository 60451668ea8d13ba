// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "util/files.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kRecordVersion = 1;
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{4} << 20U;
constexpr std::size_t kMaxSubmissions = 10'000;

Error Damaged(const std::string& source, std::string_view what) {
  return InputError(fmt::format(
      "{}: {}. The run's jobs can't be followed with it: restore the file, or start another run", source, what));
}

Result<std::vector<std::string>> Strings(const Json& json, const char* key, const std::string& source) {
  const Json& list = Member(json, key);
  std::vector<std::string> strings;
  if (!list.is_array()) return Damaged(source, fmt::format("'{}' is not a list of strings", key));
  for (const Json& item : list) {
    if (!item.is_string()) return Damaged(source, fmt::format("'{}' is not a list of strings", key));
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

// Of any engine; null is an id that isn't known yet.
bool IsPossibleId(const Json& id) {
  if (id.is_null()) return true;
  if (!id.is_string()) return false;
  const auto& text = id.get_ref<const std::string&>();
  return !text.empty() && text.size() <= 64 && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsAsciiAlphanumeric(c) || c == '-'; });
}

Result<JobSubmission> SubmissionFromJson(const Json& json, int shards, const std::string& source) {
  JobSubmission submission;
  submission.name = StringAt(json, "name");
  submission.id = StringAt(json, "id");
  if (!IsArrayName(submission.name)) return Damaged(source, "a submission without its name");
  if (!json.contains("id") || !IsPossibleId(json["id"]))
    return Damaged(source, fmt::format("submission {} has an 'id' that can't be one", submission.name));
  const Json& numbers = Member(json, "shards");
  if (!numbers.is_array() || numbers.empty()) return Damaged(source, "a submission without its shards");
  for (const Json& number : numbers) {
    const int shard = number.is_number_integer() ? NumberAs<int>(number).value_or(0) : 0;
    const bool ascending = submission.shards.empty() || shard > submission.shards.back();
    if (shard < 1 || shard > shards || !ascending) return Damaged(source, "a submission with impossible shards");
    submission.shards.push_back(shard);
  }
  return submission;
}

}  // namespace

Json JobRecordToJson(const JobRecord& record) {
  Json json;
  json["created"] = record.created;
  json["version"] = kRecordVersion;
  json["engine"] = record.engine;
  json["shards"] = record.shards;
  json["job_options"] = record.job_options;
  json["arguments"] = record.arguments;
  json["max_cost_usd"] = JsonOrNull(record.max_cost_usd);
  json["max_tokens"] = JsonOrNull(record.max_tokens);
  json["gate"] = record.gate;
  json["counted"] = record.counted;
  json["submissions"] = Json::array();
  for (const JobSubmission& submission : record.submissions)
    json["submissions"].push_back({{"name", submission.name},
                                   {"id", submission.id.empty() ? Json(nullptr) : Json(submission.id)},
                                   {"shards", submission.shards}});
  return json;
}

Result<JobRecord> JobRecordFromJson(const Json& json, const std::string& source) {
  if (!json.is_object() || JsonGet(json, "version", 0) != kRecordVersion)
    return Damaged(source, fmt::format("not a record of version {}", kRecordVersion));
  for (const char* key : {"created", "engine", "gate"}) {
    if (!Member(json, key).is_string()) return Damaged(source, fmt::format("'{}' is not a string", key));
  }
  if (!Member(json, "counted").is_boolean()) return Damaged(source, "'counted' is neither true nor false");
  JobRecord record;
  record.created = StringAt(json, "created");
  record.engine = StringAt(json, "engine");
  const Json& shards = Member(json, "shards");
  record.shards = shards.is_number_integer() ? NumberAs<int>(shards).value_or(0) : 0;
  record.gate = StringAt(json, "gate");
  record.counted = JsonGet(json, "counted", false);
  if (record.engine.empty()) return Damaged(source, "no engine");
  if (record.shards < 1 || record.shards > kMaxShards) return Damaged(source, "an impossible number of shards");
  if (const Json* cost = FindMember(json, "max_cost_usd")) {
    record.max_cost_usd = cost->is_number() ? cost->get<double>() : 0.0;
    if (!(*record.max_cost_usd > 0.0) || !std::isfinite(*record.max_cost_usd))
      return Damaged(source, "an impossible limit of cost");
  }
  if (const Json* tokens = FindMember(json, "max_tokens")) {
    record.max_tokens = tokens->is_number_integer() ? NumberAs<std::int64_t>(*tokens).value_or(0) : 0;
    if (*record.max_tokens < 1) return Damaged(source, "an impossible limit of tokens");
  }
  ASSIGN_OR_RETURN(record.job_options, Strings(json, "job_options", source));
  ASSIGN_OR_RETURN(record.arguments, Strings(json, "arguments", source));
  const Json& submissions = Member(json, "submissions");
  if (!submissions.is_array() || submissions.size() > kMaxSubmissions)
    return Damaged(source, "'submissions' is not a list of them");
  for (const Json& submission : submissions) {
    ASSIGN_OR_RETURN(JobSubmission read, SubmissionFromJson(submission, record.shards, source));
    record.submissions.push_back(std::move(read));
  }
  return record;
}

Result<JobRecord> LoadJobRecord(const std::filesystem::path& run_folder) {
  const std::filesystem::path file = run_folder / kJobsFile;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxRecordBytes));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file.string()));
  return JobRecordFromJson(json, file.string());
}

Status StoreJobRecord(const std::filesystem::path& run_folder, const JobRecord& record) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(run_folder));
  return folder.WriteFile(kJobsFile, DumpJsonIndented(JobRecordToJson(record)) + "\n");
}

}  // namespace upskill
