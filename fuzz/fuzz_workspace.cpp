// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_workspace.h"

#include <unistd.h>

#include <array>

#include "fuzz/fuzz_checks.h"
#include "model/workspace.h"
#include "sandbox/file_bundle.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {

void FuzzWorkspaceTar(std::string_view input) {
  const CollectLimits limits{10'000, 20};
  const FileBundle bundle = FilesOfTar(input, limits);
  std::size_t bytes = 0;
  for (const auto& [name, content] : bundle.files) {
    bytes += content.size();
    const std::string plain = name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
    CHECK(ContainedPath("", plain).ok() && PlainFileName(plain) == plain && !FindInvalidUtf8(name));
    CHECK(!name.ends_with('/') || content.empty());
  }
  CHECK(bytes <= limits.bytes && bundle.files.size() <= limits.files);
}

std::vector<std::string> WorkspaceTarSeeds() {
  const Result<Fd> tar = TarOfFiles({{"a.txt", "one\n"}, {"empty/", ""}, {"src/b.sh", "#!/bin/sh\n"}});
  CHECK(tar.ok());
  std::string bytes;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(tar->get(), buffer.data(), buffer.size())) > 0;)
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  return {bytes};
}

void FuzzWorkRecord(std::string_view input) {
  const Result<Json> json = ParseJson(input, "samples.jsonl");
  if (!json.ok()) return;
  const Result<WorkRecord> work = WorkRecordFromJson(*json);
  if (!Parsed(work)) return;
  for (const auto& [name, content] : work->changes.written) CHECK(ContainedPath("", name).ok());
  const Result<WorkRecord> again = WorkRecordFromJson(WorkRecordToJson(*work));
  CHECK(again.ok() && *again == *work);
}

std::vector<std::string> WorkRecordSeeds() {
  WorkRecord work;
  work.changes = {{{"a", "text"}, {"b", "\xff"}}, {"c"}};
  work.turns = 2;
  work.tools = {{"bash", 1}};
  work.limit = "turns";
  work.skill = SkillUse{1, 2, 3, {"SKILL.md"}, {"scripts/a"}, {"other"}, true};
  work.transcript = Json::array({{{"text", "x"}, {"calls", Json::array()}}});
  return {DumpJson(WorkRecordToJson(work))};
}

}  // namespace upskill
