// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_file.h"

#include <fmt/format.h>

#include "cli/generate/generate_plan.h"
#include "eval/journal/journal.h"
#include "teach/material_json.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGenerationFile = "generation.json";
constexpr std::size_t kMaxStudents = 10'000;
constexpr std::size_t kMaxSources = 100'000;

Status CheckSchema(const Json& json, const std::string& file) {
  const int schema = JsonGet<int>(json, "schema", 0);
  if (schema == kGenerationSchema) return {};
  if (schema == 1) {
    return InputError(
        fmt::format("{}: written by an earlier upskill, which kept the command line (schema 1; upskill {} reads schema "
                    "{}): start a new generation with the same command, or resume this one with the version that "
                    "started it",
                    file, UPSKILL_VERSION, kGenerationSchema));
  }
  if (schema > kGenerationSchema) {
    return InputError(fmt::format("{}: written by a newer upskill (schema {}; upskill {} reads schema {})", file,
                                  schema, UPSKILL_VERSION, kGenerationSchema));
  }
  return InputError(fmt::format("{}: not the generation.json of a generation: unknown schema {}", file, schema));
}

Result<std::vector<Student>> StudentsFromJson(const Json& json, const std::string& file) {
  const auto bad = [&] {
    return InputError(
        fmt::format("{}: students: expected a list of objects with the strings model, name and identity", file));
  };
  if (!json.is_array() || json.size() > kMaxStudents) return bad();
  std::vector<Student> students;
  for (const Json& entry : json) {
    for (const char* key : {"model", "name", "identity"}) {
      if (!entry.is_object() || !entry.contains(key) || !entry.at(key).is_string()) return bad();
    }
    students.push_back({entry.at("model"), entry.at("name"), entry.at("identity")});
  }
  return students;
}

Result<std::vector<std::string>> SourcesFromJson(const Json& json, const std::string& file) {
  const bool strings = json.is_array() && json.size() <= kMaxSources &&
                       std::all_of(json.begin(), json.end(), [](const Json& entry) { return entry.is_string(); });
  if (!strings) return InputError(fmt::format("{}: sources: expected a list of strings", file));
  return json.get<std::vector<std::string>>();
}

// The skill to improve: its name becomes a folder's.
Status CheckExisting(const StoredGeneration& generation, const std::string& file) {
  const fs::path& folder = generation.existing_folder;
  if (!folder.empty() && (!folder.is_absolute() || folder.lexically_normal() != folder))
    return InputError(fmt::format("{}: existing_folder: expected an absolute path without '.' and '..'", file));
  if (generation.material.has_existing() == folder.empty())
    return InputError(
        fmt::format("{}: existing_folder and material.existing must both be present or both absent", file));
  if (generation.material.has_existing() && !IsPlainName(generation.material.existing.name))
    return InputError(fmt::format("{}: material.existing.name: expected a name without folders", file));
  return {};
}

}  // namespace

fs::path GenerationFile(const fs::path& folder) { return folder / kGenerationFile; }

Result<fs::path> FindGeneration(const fs::path& generations, const std::string& name) {
  const std::vector<fs::path> all = StampedFolders(generations, kGenerationFile);
  ASSIGN_OR_RETURN(const std::optional<fs::path> found, PickStampedFolder(all, name));
  if (found) return *found;
  if (all.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("no generations in {}; `upskill generate` starts one", generations.string())};
  }
  return Error{ErrorKind::kNotFound, fmt::format("no generation '{}' in {}", name, generations.string())};
}

Status WriteGeneration(const fs::path& folder, const StoredGeneration& generation, Clock::Wall created) {
  Json students = Json::array();
  for (const Student& student : generation.students)
    students.push_back({{"model", student.spec}, {"name", student.name}, {"identity", student.identity}});
  Json json = {{"schema", kGenerationSchema},
               {"version", UPSKILL_VERSION},
               {"created", UtcTimestamp(created)},
               {"options", OptionsToJson(generation.options)},
               {"students", students},
               {"material", MaterialToJson(generation.material)},
               {"sources", generation.sources},
               {"existing_folder", generation.existing_folder.string()}};
  if (generation.prompts) {
    json["prompts_sha256"] = generation.prompts->Hash();
    json["prompts"] = generation.prompts->ToJson();
  }
  return WriteFileAtomically(GenerationFile(folder), DumpJsonIndented(json) + "\n");
}

Result<StoredGeneration> ReadGeneration(const fs::path& folder) {
  const std::string file = GenerationFile(folder).string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(GenerationFile(folder)));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  RETURN_IF_ERROR(CheckSchema(json, file));
  for (const char* key : {"options", "students", "material", "sources", "existing_folder"}) {
    if (!json.contains(key)) return InputError(fmt::format("{}: {}: missing", file, key));
  }
  StoredGeneration generation;
  ASSIGN_OR_RETURN(generation.options, OptionsFromJson(json.at("options"), file));
  ASSIGN_OR_RETURN(generation.students, StudentsFromJson(json.at("students"), file));
  ASSIGN_OR_RETURN(generation.material, MaterialFromJson(json.at("material"), file));
  ASSIGN_OR_RETURN(generation.sources, SourcesFromJson(json.at("sources"), file));
  if (json.contains("prompts")) {
    ASSIGN_OR_RETURN(generation.prompts, Prompts::FromJson(json.at("prompts"), file + ": prompts"));
  }
  if (!json.at("existing_folder").is_string())
    return InputError(fmt::format("{}: existing_folder: expected a string", file));
  generation.existing_folder = json.at("existing_folder").get<std::string>();
  RETURN_IF_ERROR(CheckExisting(generation, file));
  return generation;
}

}  // namespace upskill
