// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_outside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/config.h"
#include "cli/models/agent_config.h"
#include "fuzz/fuzz_checks.h"
#include "model/api_key.h"
#include "model/catalog.h"
#include "model/hub/gguf_name.h"
#include "model/hub/hub_listing.h"
#include "net/message_framing.h"
#include "skill/formats/readers.h"
#include "skill/suite_file.h"
#include "util/env_file.h"
#include "util/json.h"
#include "util/temp_folder.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

void CheckFiles(const std::vector<HubFile>& files, const std::filesystem::path& snapshot) {
  constexpr std::size_t kMaxParts = 4096;
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 44U;
  CHECK(!files.empty() && files.size() <= kMaxParts);
  std::vector<std::string> paths;
  for (const HubFile& file : files) {
    CHECK(file.size > 0 && file.size <= kMaxBytes);
    CHECK(file.hash.size() == (file.lfs ? 64U : 40U));
    CHECK(file.hash.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(!HasControlCharacter(file.path));
    const std::string place = (snapshot / file.path).lexically_normal().string();
    CHECK(place.starts_with(snapshot.string() + "/") && ToLowerAscii(place).ends_with(".gguf"));
    paths.push_back(place);
  }
  std::sort(paths.begin(), paths.end());
  CHECK(std::adjacent_find(paths.begin(), paths.end()) == paths.end());
}

std::vector<std::pair<const char*, std::string>> SettingsOf(const Config& config) {
  return {{"skill_generation_model", config.skill_generation_model},
          {"eval_model", config.eval_model},
          {"test_gen_model", config.test_gen_model},
          {"skills_dir", config.skills_dir.string()},
          {"runs_dir", config.runs_dir.string()}};
}

}  // namespace

void FuzzHubListing(std::string_view input) {
  const Result<HubListing> listing = ParseHubListing(input, "https://huggingface.co");
  CheckNothingRepeated(ParseHubListing(WithPlantedWord(input), "https://huggingface.co"));
  if (!Parsed(listing)) return;
  CHECK(listing->commit.size() == 40);
  std::vector<std::string> paths;
  std::size_t bytes = 0;
  for (const auto& [path, file] : listing->files) {
    CHECK(path == file.path);
    bytes += path.size();
    paths.push_back(path);
  }
  CHECK(bytes <= input.size());
  const std::vector<std::string> backwards(paths.rbegin(), paths.rend());
  const std::filesystem::path snapshot = "/cache/snapshots/" + listing->commit;
  for (const char* quant : {"", "q4_k_m", "Q8_0", "m.gguf"}) {
    const GgufName name{"org/repo", quant};
    const Result<GgufModel> model = ChooseGguf(paths, name);
    const Result<GgufModel> same = ChooseGguf(backwards, name);
    CHECK(model.ok() == same.ok() && (!model || model->parts == same->parts));
    const Result<std::vector<HubFile>> files = ChooseHubFiles(*listing, name, snapshot);
    CHECK(model.ok() || !files.ok());
    if (Parsed(files)) CheckFiles(*files, snapshot);
  }
}

void FuzzConfig(std::string_view input) {
  const std::string file = "upskill.config.yaml";
  CheckNothingRepeated(ParseConfig(WithPlantedWord(input), file));
  const Result<Config> config = ParseConfig(std::string(input), file);
  if (!Parsed(config)) return;
  CHECK(!config->skills_dir.empty() && !config->runs_dir.empty());
  CHECK(!config->max_refine_attempts || (*config->max_refine_attempts >= 1 && *config->max_refine_attempts <= 50));
  std::string written;
  for (const auto& [key, value] : SettingsOf(*config)) {
    CHECK(!HasControlCharacter(value));
    if (FindInvalidUtf8(value)) return;
    written += std::string(key) + ": " + DumpJson(Json(value)) + "\n";
  }
  const Result<Config> again = ParseConfig(written, file);
  CHECK(again.ok() && SettingsOf(*again) == SettingsOf(*config));
}

void FuzzKeys(std::string_view input) {
  const std::string provider = "openai";
  CheckNothingRepeated(KeyInFile(WithPlantedWord(input), provider, "keys.toml"));
  const Result<std::optional<std::string>> key = KeyInFile(input, provider, "keys.toml");
  if (!Parsed(key) || !*key) return;
  CHECK(!(*key)->empty());
  CHECK(IsVisibleAscii(**key));
  const Result<std::optional<std::string>> again =
      KeyInFile(provider + " = " + DumpJson(Json(**key)), provider, "keys.toml");
  CHECK(again.ok() && *again == *key);
}

void FuzzCatalog(std::string_view input) {
  const Result<Catalog> catalog = LoadCatalog(CatalogText{std::string(input), "models.toml"});
  if (!Parsed(catalog)) return;
  for (const auto& [name, provider] : catalog->providers) CHECK(name == provider.name && !provider.base_url.empty());
  for (const auto& [name, alias] : catalog->aliases) CHECK(!alias.model.empty());
  for (const PriceEntry& entry : catalog->prices) {
    for (const double price : {entry.price.input, entry.price.output, entry.price.cache_read, entry.price.cache_write})
      CHECK(std::isfinite(price) && price >= 0.0);
  }
  // What the user's own file doesn't name stays as it is built in.
  static const Catalog built_in = *LoadCatalog();
  CHECK(catalog->prices.size() >= built_in.prices.size() && catalog->names.size() >= built_in.names.size());
}

// Headers that contradict each other do so in any order.
void FuzzMessageFraming(std::string_view input) {
  std::vector<std::pair<std::string, std::string_view>> headers;
  for (const std::string_view line : SplitLines(input)) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    headers.emplace_back(ToLowerAscii(line.substr(0, colon)), line.substr(std::min(colon + 1, line.size())));
  }
  const auto accepted = [&headers] {
    MessageFraming framing;
    for (const auto& [name, value] : headers) {
      if (const std::optional<std::string> problem = framing.Add(name, value)) {
        CheckError({ErrorKind::kInput, *problem});
        return false;
      }
    }
    return true;
  };
  const bool forwards = accepted();
  std::reverse(headers.begin(), headers.end());
  CHECK(accepted() == forwards);
}

void FuzzAgentConfig(std::string_view input) {
  const Result<Json> document = ParseYaml(std::string(input), "fastagent.config.yaml");
  if (!Parsed(document)) return;
  static const Catalog catalog = *LoadCatalog();
  const AgentConfig found = ReadAgentConfig({*document, *document}, catalog);
  for (const auto* const list : {&found.keys, &found.base_urls}) {
    for (const AgentConfig::ProviderSetting& setting : *list) {
      CHECK(catalog.FindProvider(setting.provider) != nullptr && !setting.value.empty());
      CHECK(IsVisibleAscii(setting.value));
      CHECK(setting.value.find('"') == std::string::npos);  // it is written between quotes
    }
  }
  CHECK(!HasControlCharacter(found.default_model) && found.servers.size() <= 100);
}

void FuzzEnvFile(std::string_view input) {
  const EnvFileText text = ParseEnvFile(input);
  std::size_t bytes = 0;
  std::size_t line = 0;
  for (const EnvLine& found : text.lines) {
    CHECK(!found.name.empty() && found.line >= line);
    line = found.line;
    bytes += found.name.size() + found.value.size();
  }
  CHECK(bytes <= input.size());
}

namespace {

void Convert(SuiteFile file) {
  const Result<std::optional<ConvertedSuite>> converted = ConvertSuiteFile(file, "/nowhere/evals.json", "/nowhere");
  if (!Parsed(converted) || !*converted) return;
  CHECK(IsForeign(file));
  for (const ConvertedCase& one : (*converted)->cases) CHECK(one.json.is_object() && !one.place.empty());
}

}  // namespace

void FuzzEvaluationFile(std::string_view input) {
  const std::string text(input);
  if (Result<Json> json = ParseJson(text, "evals.json"); Parsed(json)) Convert({text, *std::move(json), false, {}});
  if (Result<Json> yaml = ParseYaml(text, "tests.yaml"); Parsed(yaml)) Convert({text, *std::move(yaml), true, {}});
  SuiteFile lines{text, Json::array(), false, {}};
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    Result<Json> record = ParseJson(line, "samples.jsonl");
    if (!record) continue;
    lines.document.push_back(*std::move(record));
    lines.record_lines.push_back(number);
  }
  Convert(std::move(lines));
  // As each of the files of a case of `claude plugin eval`.
  static const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  for (const char* name : {"a/case.yaml", "a/prompt.md", "a/graders/g.md"}) folder.Write(name, text);
  const Result<ConvertedSuite> plugin = ConvertPluginCases(folder.path(), {});
  if (!Parsed(plugin)) return;
  for (const ConvertedCase& one : plugin->cases) CHECK(!one.json.at("checks").empty());
}

}  // namespace upskill
