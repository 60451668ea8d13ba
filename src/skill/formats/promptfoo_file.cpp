// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "skill/formats/promptfoo_checks.h"
#include "skill/formats/promptfoo_prompts.h"
#include "skill/formats/readers.h"
#include "skill/formats/text_template.h"
#include "util/files.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCases = 10'000;

struct Test {
  Json json;
  std::string place;
};

bool IsTest(const Json& one) { return FindMember(one, "vars") != nullptr || FindMember(one, "assert") != nullptr; }

// The second object's members over the first one's.
Json Merged(const Json& first, const Json& second) {
  Json merged = first.is_object() ? first : Json::object();
  if (!second.is_object()) return merged;
  for (const auto& [key, value] : second.items()) merged[key] = value;
  return merged;
}

Json Joined(const Json& first, const Json& second) {
  Json joined = Json::array();
  for (const Json* list : {&first, &second}) {
    if (list->is_null()) continue;
    for (const Json& one : list->is_array() ? *list : Json::array({*list})) joined.push_back(one);
  }
  return joined;
}

// Each combination of one value of each listed variable.
Result<std::vector<Json>> Combinations(const Json& variables) {
  std::vector<Json> all = {variables};
  if (!variables.is_object()) return std::vector<Json>{Json::object()};
  for (const auto& [name, value] : variables.items()) {
    if (!value.is_array() || value.empty()) continue;
    if (all.size() * value.size() > kMaxCases)
      return InputError(fmt::format("its variables make more than {} cases", WithThousands(kMaxCases)));
    std::vector<Json> more;
    more.reserve(all.size() * value.size());
    for (const Json& one : all) {
      for (const Json& choice : value) {
        more.push_back(one);
        more.back()[name] = choice;
      }
    }
    all = std::move(more);
  }
  return all;
}

class PromptfooReader {
 public:
  PromptfooReader(const Json& document, const fs::path& file)
      : document_(document), file_(file), folder_(FolderOf(file)) {}

  Result<ConvertedSuite> Read(const std::vector<std::size_t>& lines) {
    const Json& tests = document_.is_array() ? document_ : Member(document_, "tests");
    if (FindMember(document_, "scenarios") != nullptr)
      Warn("\"scenarios\" are not read; write their tests under \"tests\"");
    prompts_ = PromptfooPrompts(Member(document_, "prompts"), folder_, prompt_warnings_);
    for (const std::string& warning : prompt_warnings_) Warn(warning);
    default_ = Member(document_, "defaultTest");
    if (default_.is_string()) {
      ASSIGN_OR_RETURN(default_, DataFrom(default_.get<std::string>()));
    }
    std::size_t number = 0;
    for (const Json& test : tests.is_array() ? tests : Json::array({tests})) {
      const std::size_t line = number < lines.size() ? lines[number] : 0;
      ++number;
      const std::string place = line == 0 ? file_.string() : fmt::format("{}:{}", file_.string(), line);
      RETURN_IF_ERROR(AddEntry(test, place));
    }
    AddSharedTags(suite_.cases);
    return std::move(suite_);
  }

 private:
  void Warn(const std::string& warning) { suite_.warnings.push_back(fmt::format("{}: {}", file_.string(), warning)); }

  Result<Json> DataFrom(const std::string& entry) {
    const std::string name = entry.starts_with(kFileScheme) ? entry.substr(kFileScheme.size()) : entry;
    const std::string extension = ToLowerAscii(fs::path(name).extension().string());
    ASSIGN_OR_RETURN(const std::string text, ReadTextBelow(folder_, name).With(file_.string()));
    const std::string source = (folder_ / name).string();
    suite_.files.cases.push_back(folder_ / name);
    return extension == ".json" ? ParseJson(text, source) : ParseYaml(text, source, YamlNumbers::kNumbers);
  }

  // A test, or the file of some.
  Status AddEntry(const Json& entry, const std::string& place) {
    if (!entry.is_string()) return AddTest({entry, place});
    const std::string& name = entry.get_ref<const std::string&>();
    const std::string extension = ToLowerAscii(fs::path(name).extension().string());
    const bool has_pattern = name.find('*') != std::string::npos;
    if (has_pattern || (extension != ".yaml" && extension != ".yml" && extension != ".json")) {
      Warn(fmt::format("the tests in {} are left out: name files of YAML or JSON", ExcerptLine(name, 60)));
      return {};
    }
    ASSIGN_OR_RETURN(const Json tests, DataFrom(name));
    const std::string path =
        (folder_ / (name.starts_with(kFileScheme) ? name.substr(kFileScheme.size()) : name)).string();
    for (const Json& test : tests.is_array() ? tests : Json::array({tests})) RETURN_IF_ERROR(AddTest({test, path}));
    return {};
  }

  Status AddTest(const Test& test) {
    ++tests_;
    if (!test.json.is_object()) {
      Warn(fmt::format("test {} is left out: it must be a mapping with \"vars\" and \"assert\"", tests_));
      return {};
    }
    const Json variables = Merged(Member(default_, "vars"), Member(test.json, "vars"));
    ASSIGN_OR_RETURN(const std::vector<Json> combinations, Combinations(variables).With(test.place));
    std::vector<PromptfooPrompt> prompts = prompts_;
    if (prompts.empty()) {
      const std::optional<std::string> prompt = PromptAmongVariables(variables);
      if (!prompt) {
        return InputError(
            fmt::format("{}: no prompt for test {}; write some under \"prompts\", or name the variable "
                        "that has it \"prompt\"",
                        test.place, tests_));
      }
      prompts.push_back({*prompt, ""});
    }
    for (std::size_t i = 0; i < combinations.size(); ++i) {
      for (std::size_t k = 0; k < prompts.size(); ++k) {
        if (suite_.cases.size() == kMaxCases)
          return InputError(fmt::format("{}: more than {} cases; divide it", file_.string(), WithThousands(kMaxCases)));
        std::string part;
        if (combinations.size() > 1) part += fmt::format(" {}", i + 1);
        if (prompts.size() > 1)
          part += prompts[k].label.empty() ? fmt::format(", prompt {}", k + 1) : ", " + prompts[k].label;
        AddCase(test, prompts[k], combinations[i], part);
      }
    }
    return {};
  }

  void AddCase(const Test& test, const PromptfooPrompt& prompt, const Json& stated, const std::string& part) {
    Json checks = Json::array();
    const Json variables = WithFiles(stated, checks);
    const Json options = Merged(Member(default_, "options"), Member(test.json, "options"));
    for (const char* key : {"transform", "postprocess"}) {
      if (FindMember(options, key) != nullptr)
        checks.push_back(SkippedCheck(fmt::format("promptfoo's {}", key), "it is code, which is not run here"));
    }
    const std::string description = StringAt(test.json, "description");
    const std::string id = description.empty() ? fmt::format("test-{}", tests_) : description;
    Json made = {{"id", ids_.Take(RenderedOr(id, variables) + part)}};
    const std::string text = StringAt(options, "prefix") + prompt.text + StringAt(options, "suffix");
    Result<std::string> input = RenderTemplate(text, variables);
    if (input) input = MessageOfPrompt(*std::move(input));
    if (input && Trim(*input).empty()) input = InputError("it is empty");
    if (!input) checks.push_back(SkippedCheck("the prompt", input.error().message));
    made["input"] = input ? *input : text;
    const Json* threshold = FindMember(test.json, "threshold");
    if (threshold == nullptr) threshold = &Member(default_, "threshold");
    const Json asserts = Joined(Member(default_, "assert"), Member(test.json, "assert"));
    for (Json& check : PromptfooChecks(asserts, *threshold, variables, Member(document_, "assertionTemplates"), folder_,
                                       suite_.files.values))
      checks.push_back(std::move(check));
    made["checks"] = std::move(checks);
    const Json metadata = Merged(Member(default_, "metadata"), Member(test.json, "metadata"));
    suite_.cases.push_back({std::move(made), test.place, FactsIn(metadata)});
  }

  static std::string RenderedOr(const std::string& text, const Json& variables) {
    Result<std::string> rendered = RenderTemplate(text, variables);
    return rendered && !Trim(*rendered).empty() ? ExcerptLine(*rendered, 120) : text;
  }

  // Variables whose value is in a file.
  Json WithFiles(const Json& variables, Json& checks) {
    Json read = variables;
    for (const auto& [name, value] : read.items()) {
      if (!value.is_string() || !value.get_ref<const std::string&>().starts_with(kFileScheme)) continue;
      const std::string path = value.get_ref<const std::string&>().substr(kFileScheme.size());
      const std::string extension = ToLowerAscii(fs::path(path).extension().string());
      const bool is_data = extension == ".json" || extension == ".yaml" || extension == ".yml";
      Result<Json> content = Json();
      if (is_data) {
        content = DataFrom(path);
      } else if (extension == ".js" || extension == ".py" || extension == ".ts") {
        content = InputError("it is code, which is not run here");
      } else if (Result<std::string> text = ReadTextBelow(folder_, path)) {
        content = Json(*std::move(text));
      } else {
        content = text.error();
      }
      if (content) {
        value = *content;
      } else {
        checks.push_back(
            SkippedCheck(fmt::format("the variable \"{}\"", ExcerptLine(name, 60)), content.error().message));
      }
    }
    return read;
  }

  const Json& document_;
  const fs::path& file_;
  fs::path folder_;
  std::vector<PromptfooPrompt> prompts_;
  std::vector<std::string> prompt_warnings_;
  Json default_;
  ConvertedSuite suite_;
  UniqueIds ids_;
  std::size_t tests_ = 0;
};

}  // namespace

bool IsPromptfoo(const Json& document) {
  if (document.is_array()) return !document.empty() && std::all_of(document.begin(), document.end(), IsTest);
  const Json* const tests = FindMember(document, "tests");
  if (tests == nullptr) return false;
  if (FindMember(document, "prompts") != nullptr) return true;
  if (tests->is_string()) return true;
  return tests->is_array() && !tests->empty() &&
         std::all_of(tests->begin(), tests->end(), [](const Json& one) { return IsTest(one) || one.is_string(); });
}

Result<ConvertedSuite> ConvertPromptfoo(const Json& document, const std::vector<std::size_t>& lines,
                                        const fs::path& file) {
  return PromptfooReader(document, file).Read(lines);
}

}  // namespace upskill
