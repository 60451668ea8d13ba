// SPDX-License-Identifier: Apache-2.0
#include "skill/case_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "skill/case_reader.h"
#include "skill/check_reader.h"
#include "util/json.h"
#include "util/json_builder.h"

namespace upskill {
namespace {

bool Has(const Json& object, const char* key) { return FindMember(object, key) != nullptr; }

// Writes under `other` if the case used that spelling when it was read.
void PutText(Json& out, const std::string& key, const std::string& other, const std::string& value) {
  const bool use_other = !Has(out, key.c_str()) && Has(out, other.c_str());
  if (value.empty()) {
    out.erase(key);
    out.erase(other);
  } else {
    out[use_other ? other : key] = value;
  }
}

Json FilesJson(const std::vector<std::pair<std::string, std::string>>& files) {
  JsonObjectBuilder listed;
  for (const auto& [name, text] : files) listed.Add(name) = text;
  return listed.Take();
}

void PutFiles(Json& out, const std::vector<std::pair<std::string, std::string>>& files) {
  if (files.empty()) {
    if (Has(out, "context")) out["context"].erase("files");
    return;
  }
  if (!out.contains("context") || !out["context"].is_object()) out["context"] = Json::object();
  out["context"]["files"] = FilesJson(files);
}

void PutFill(Json& out, const std::optional<Fill>& fill) {
  if (!fill) {
    out.erase("fill");
    return;
  }
  out["fill"] = {{"file", fill->file}, {"gap", fill->gap}};
  if (!fill->pattern.empty()) out["fill"]["pattern"] = fill->pattern;
  if (!fill->files.empty()) out["fill"]["files"] = FilesJson(fill->files);
}

void PutTags(Json& out, const std::vector<std::string>& tags) {
  if (tags.empty()) {
    out.erase("tags");
  } else {
    out["tags"] = tags;
  }
}

void PutSplit(Json& out, Split split) {
  if (split == Split::kUnknown) {
    out.erase("split");
  } else {
    out["split"] = split == Split::kTrain ? "train" : "test";
  }
}

// Leading `contains` checks go to `expected`, where every tool finds them; the order of checks is kept.
void PutChecks(Json& out, const std::vector<CheckSpec>& checks) {
  Json contains = Json::array();
  Json others = Json::array();
  for (const CheckSpec& check : checks) {
    if (others.empty() && check == CheckSpec("contains", check.values) && check.values.size() == 1) {
      contains.push_back(check.values.front());
    } else {
      others.push_back(CheckToJson(check));
    }
  }
  if (!out.contains("expected") || !out["expected"].is_object()) out["expected"] = Json::object();
  if (contains.empty()) {
    out["expected"].erase("contains");
  } else {
    out["expected"]["contains"] = std::move(contains);
  }
  if (out["expected"].empty()) out.erase("expected");
  out.erase("verifiers");
  if (others.empty()) {
    out.erase("checks");
  } else {
    out["checks"] = std::move(others);
  }
}

}  // namespace

Json WriteCase(const Case& test_case, std::size_t number) {
  Json out = test_case.raw.is_object() ? test_case.raw : Json::object();
  // A case made by the program has nothing to compare with: every field counts as changed.
  std::optional<Case> read;
  if (Result<CaseReading> reading = ReadCase(out, number)) read = std::move(reading->test_case);
  if (!test_case.id.empty() && (!read || read->id != test_case.id)) out["id"] = test_case.id;
  if (!read || read->input != test_case.input) PutText(out, "input", "prompt", test_case.input);
  if (!read || read->files != test_case.files) PutFiles(out, test_case.files);
  if (!read || read->checks != test_case.checks) PutChecks(out, test_case.checks);
  if (!read || read->output_file != test_case.output_file) {
    PutText(out, "output_file", "output_file", test_case.output_file);
  }
  if (!read || read->fill != test_case.fill) PutFill(out, test_case.fill);
  if (!read || read->reference != test_case.reference) {
    PutText(out, "reference", "expected_output", test_case.reference);
  }
  // What isn't understood under these keys stays as long as nothing else is to be written there.
  if (read ? read->tags != test_case.tags : !test_case.tags.empty()) PutTags(out, test_case.tags);
  if (read ? read->source != test_case.source : !test_case.source.empty())
    PutText(out, "source", "source", test_case.source);
  if (read ? read->mode != test_case.mode : test_case.mode != CaseMode::kUnset)
    PutText(out, "mode", "mode", CaseModeName(test_case.mode));
  if (read ? read->split != test_case.split : test_case.split != Split::kUnknown) PutSplit(out, test_case.split);
  return out;
}

}  // namespace upskill
