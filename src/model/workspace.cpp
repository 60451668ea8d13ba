// SPDX-License-Identifier: Apache-2.0
#include "model/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "util/base64.h"
#include "util/files.h"
#include "util/json_builder.h"
#include "util/stored_json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMostCounted = 1'000'000;  // of turns and calls in a stored record

// Around the number of bytes that WithoutMiddle has left out.
constexpr std::string_view kLeftOutFrom = "\n[… ";
constexpr std::string_view kLeftOutTo = " bytes left out …]\n";

Json ContentToJson(const std::string& content) {
  if (!FindInvalidUtf8(content)) return content;
  return {{"base64", EncodeBase64(content)}};
}

// Errors: a name that isn't one of a workspace.
Status CheckName(const std::string& name) {
  RETURN_IF_ERROR(ContainedPath("", name));
  if (PlainFileName(name) == name) return {};
  return InputError(fmt::format("{} isn't the plain name of a file", ExcerptLine(name, 60)));
}

Result<FileChanges> ReadChanges(const StoredJson& stored) {
  FileChanges changes;
  std::size_t bytes = 0;
  const Json& written = stored.at("written").json();
  if (!written.is_object()) return InputError("\"written\" isn't an object");
  for (const auto& [name, content] : written.items()) {
    RETURN_IF_ERROR(CheckName(name));
    std::string text = content.is_string() ? content.get<std::string>() : DecodeBase64(StringAt(content, "base64"));
    bytes += text.size();
    changes.written.emplace(name, std::move(text));
  }
  changes.removed = stored.at("removed").texts();
  for (const std::string& name : changes.removed) RETURN_IF_ERROR(CheckName(name));
  if (bytes > kMaxWorkspaceBytes || changes.written.size() + changes.removed.size() > 2 * kMaxWorkspaceFiles)
    return InputError("more files than are stored of a workspace");
  return changes;
}

int CountFrom(const Json& json) {
  if (!json.is_number_integer()) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(json.get<std::int64_t>(), 0, kMostCounted));
}

int CountAt(const Json& json, const char* key) { return CountFrom(Member(json, key)); }

Json SkillUseToJson(const SkillUse& use) {
  Json json = {{"always_tokens", use.always_tokens},
               {"loaded_tokens", use.loaded_tokens},
               {"unread_tokens", use.unread_tokens},
               {"read", use.read},
               {"run", use.run}};
  if (!use.others.empty()) json["others"] = use.others;
  if (use.left) json["left"] = true;
  return json;
}

SkillUse ReadSkillUse(const StoredJson& stored) {
  constexpr std::int64_t kMostTokens = 1'000'000'000;
  const auto tokens = [&](const char* key) {
    return std::clamp<std::int64_t>(JsonGet<std::int64_t>(stored.json(), key, 0), 0, kMostTokens);
  };
  SkillUse use{tokens("always_tokens"),
               tokens("loaded_tokens"),
               tokens("unread_tokens"),
               stored.at("read").texts(),
               stored.at("run").texts(),
               {},
               JsonGet(stored.json(), "left", false)};
  if (stored.has("others")) use.others = stored.at("others").texts();
  return use;
}

Result<WorkRecord> ReadWork(const StoredJson& stored) {
  const Json& json = stored.json();
  WorkRecord work;
  work.turns = CountAt(json, "turns");
  work.tool_calls = CountAt(json, "tool_calls");
  work.tool_errors = CountAt(json, "tool_errors");
  const Json& tools = Member(json, "tools");
  if (tools.is_object()) {
    for (const auto& [name, count] : tools.items()) work.tools[name] = CountFrom(count);  // a name may contain NUL
  }
  work.limit = StringAt(json, "limit");
  ASSIGN_OR_RETURN(work.changes, ReadChanges(stored));
  if (stored.has("skill")) work.skill = ReadSkillUse(stored.at("skill"));
  if (const Json& transcript = Member(json, "transcript"); transcript.is_array()) work.transcript = transcript;
  return work;
}

}  // namespace

const char* SkillLoadName(SkillLoad load) { return load == SkillLoad::kBody ? "body" : "on-demand"; }

Result<SkillLoad> SkillLoadFromName(std::string_view name) {
  for (const SkillLoad load : {SkillLoad::kBody, SkillLoad::kOnDemand}) {
    if (name == SkillLoadName(load)) return load;
  }
  return InputError(fmt::format("unknown way to load a skill '{}'; expected body or on-demand", name));
}

FileChanges ChangesBetween(const WorkspaceFiles& before, const WorkspaceFiles& after) {
  FileChanges changes;
  for (const auto& [name, content] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != content) changes.written.emplace(name, content);
  }
  for (const auto& [name, content] : before) {
    if (!after.contains(name)) changes.removed.push_back(name);
  }
  return changes;
}

WorkspaceFiles WithChanges(WorkspaceFiles files, const FileChanges& changes) {
  for (const std::string& name : changes.removed) files.erase(name);
  for (const auto& [name, content] : changes.written) files[name] = content;
  return files;
}

Json FileChangesToJson(const FileChanges& changes) {
  JsonObjectBuilder written;
  for (const auto& [name, content] : changes.written) written.Add(name) = ContentToJson(content);
  return {{"written", written.Take()}, {"removed", changes.removed}};
}

Result<FileChanges> FileChangesFromJson(const Json& json) {
  try {
    return ReadChanges(StoredJson(json));
  } catch (const StoredJsonFault& fault) {
    return InputError(fault.what());
  }
}

Json WorkRecordToJson(const WorkRecord& work) {
  Json json = FileChangesToJson(work.changes);
  json["turns"] = work.turns;
  json["tool_calls"] = work.tool_calls;
  json["tool_errors"] = work.tool_errors;
  json["tools"] = work.tools;
  if (!work.limit.empty()) json["limit"] = work.limit;
  if (work.skill) json["skill"] = SkillUseToJson(*work.skill);
  json["transcript"] = work.transcript;
  return json;
}

Result<WorkRecord> WorkRecordFromJson(const Json& json) {
  try {
    return ReadWork(StoredJson(json));
  } catch (const StoredJsonFault& fault) {
    return InputError(fault.what());
  }
}

std::string WithoutMiddle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto starts_character = [&](std::size_t at) {
    return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
  };
  std::size_t head = most / 2;
  while (head > 0 && !starts_character(head)) --head;
  std::size_t tail = text.size() - most / 2;
  while (!starts_character(tail)) ++tail;
  return fmt::format("{}{}{}{}{}", text.substr(0, head), kLeftOutFrom,
                     WithThousands(static_cast<long long>(tail - head)), kLeftOutTo, text.substr(tail));
}

bool IsWithoutMiddle(std::string_view text) {
  const std::size_t from = text.find(kLeftOutFrom);
  return from != std::string_view::npos && text.find(kLeftOutTo, from) != std::string_view::npos;
}

}  // namespace upskill
