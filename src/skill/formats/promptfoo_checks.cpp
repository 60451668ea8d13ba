// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/promptfoo_checks.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/formats/promptfoo_prompts.h"
#include "skill/formats/text_template.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxSetDepth = 4;
constexpr std::string_view kNoCounterpart = "it has no counterpart here";

struct Reason {
  std::string_view type;
  std::string_view reason;
};
constexpr std::array<Reason, 10> kReasons = {{
    {"javascript", "code of a suite is run by checks of the type \"command\" only, in the sandbox"},
    {"python", "code of a suite is run by checks of the type \"command\" only, in the sandbox"},
    {"ruby", "code of a suite is run by checks of the type \"command\" only, in the sandbox"},
    {"webhook", "no answer is sent to other servers"},
    {"latency", "reports give the seconds of every answer; `--gate` compares them"},
    {"cost", "reports give the cost of every answer; `--gate` compares it"},
    {"similar", "embeddings are not computed here; a check of the type \"judge\" can compare with the reference"},
    {"select-best", "answers are compared with each other by the verdict"},
    {"max-score", "answers are compared with each other by the verdict"},
    {"is-refusal", "refusals are recorded with every answer, not checked"},
}};

Json Skipped(std::string_view type, std::string_view reason) {
  return SkippedCheck(fmt::format("promptfoo's {}", type), reason);
}

std::string_view ReasonFor(std::string_view type) {
  for (const Reason& one : kReasons) {
    if (one.type == type) return one.reason;
  }
  return kNoCounterpart;
}

Json Pattern(const char* type, std::string pattern) { return {{"type", type}, {"pattern", std::move(pattern)}}; }
Json Group(const char* type, Json checks) { return {{"type", type}, {"checks", std::move(checks)}}; }

// A list, or a text with commas between its values.
std::vector<std::string> ValuesOf(const Json& value) {
  std::vector<std::string> values;
  if (value.is_array()) {
    for (const Json& one : value) values.push_back(TextOf(one));
    return values;
  }
  const std::string text = value.is_null() ? "" : TextOf(value);
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    values.emplace_back(Trim(std::string_view(text).substr(from, end - from)));
    from = end + 1;
  }
  return values;
}

std::string Alternatives(const std::vector<std::string>& values) {
  std::string pattern;
  for (const std::string& value : values) pattern += (pattern.empty() ? "" : "|") + RE2::QuoteMeta(value);
  return pattern;
}

// An assertion on texts. promptfoo's distinguish upper and lower case unless their name begins with an i, so that the
// others become patterns.
struct TextAssertion {
  bool negated = false;
  std::string type;
  Json value;
};

std::optional<Json> ContainsFor(const TextAssertion& one) {
  const bool folds = one.type.starts_with('i');
  const std::string type = folds ? one.type.substr(1) : one.type;
  const bool is_any = type == "contains-any";
  const bool is_all = type == "contains-all";
  if (type != "contains" && !is_any && !is_all) return std::nullopt;
  std::vector<std::string> values;
  if (is_any || is_all) {
    values = ValuesOf(one.value);
  } else {
    values.push_back(one.value.is_null() ? "" : TextOf(one.value));
  }
  for (const std::string& value : values) {
    if (value.empty()) return Skipped(one.type, "a value is empty, which every answer contains");
  }
  if (values.empty()) return Skipped(one.type, "it has no values");
  if (is_all) {
    const char* const each = one.negated ? (folds ? "not_contains" : "not_regex") : (folds ? "contains" : "regex");
    Json checks = Json::array();
    for (const std::string& value : values)
      checks.push_back(folds ? Json{{"type", each}, {"values", value}} : Pattern(each, RE2::QuoteMeta(value)));
    return Group(one.negated ? "any" : "all", std::move(checks));
  }
  if (folds) return Json{{"type", one.negated ? "not_contains" : is_any ? "any_of" : "contains"}, {"values", values}};
  return Pattern(one.negated ? "not_regex" : "regex", Alternatives(values));
}

Json EqualsFor(const TextAssertion& one) {
  if (one.value.is_structured()) {
    if (one.negated) return Skipped("not-equals", "an object can't be excluded here");
    return {{"type", "json_schema"}, {"schema", {{"const", one.value}}}, {"in", "whole"}};
  }
  const std::string text(Trim(one.value.is_null() ? "" : TextOf(one.value)));
  if (text.empty()) return Skipped(one.type, "it has no value");
  if (one.negated) return Pattern("not_regex", R"(\A\s*)" + RE2::QuoteMeta(text) + R"(\s*\z)");
  return {{"type", "equals"}, {"values", text}};
}

Json RegexFor(const TextAssertion& one) {
  const std::string pattern = one.value.is_null() ? "" : TextOf(one.value);
  if (pattern.empty()) return Skipped(one.type, "it has no pattern");
  if (const Status valid = CheckRe2Syntax(pattern); !valid) return Skipped("regex", valid.error().message);
  return Pattern(one.negated ? "not_regex" : "regex", pattern);
}

Json JsonFor(const TextAssertion& one) {
  if (one.negated) return Skipped("not-" + one.type, kNoCounterpart);
  const auto check = [&](const Json& schema) -> Json {
    return {{"type", "json_schema"}, {"schema", schema}, {"in", one.type == "is-json" ? "whole" : "anywhere"}};
  };
  if (one.value.is_null()) return check(Json::object());
  if (one.value.is_object() || one.value.is_boolean()) return check(one.value);
  if (one.value.is_string()) {
    const Result<Json> schema = ParseYaml(one.value.get_ref<const std::string&>(), "schema", YamlNumbers::kNumbers);
    if (schema && schema->is_object()) return check(*schema);
  }
  return Skipped(one.type, "its value is not a JSON schema");
}

// What a model grades. Its rubric is a text, a list of criteria, or an object for a prompt of one's own.
Json JudgeFor(const TextAssertion& one) {
  if (one.negated) return Skipped("not-" + one.type, "write what must hold instead");
  std::string rubric;
  if (one.value.is_array()) {
    for (const Json& criterion : one.value) rubric += (rubric.empty() ? "- " : "\n- ") + TextOf(criterion);
  } else {
    rubric = one.value.is_null() ? "" : TextOf(one.value);
  }
  if (Trim(rubric).empty()) return Skipped(one.type, "it has no rubric");
  if (one.type == "factuality") rubric = "The answer agrees in its facts with this text: " + rubric;
  return JudgeCheck(rubric);
}

// trajectory:tool-used: a name, several that must all be called, or {"name", "min", "max"}.
Json ToolUsedFor(const TextAssertion& one) {
  const auto called = [&](const std::string& tool) {
    Json check = {{"type", "tool_call"}, {"tool", tool}};
    if (one.negated) check["maximum"] = 0;
    return check;
  };
  if (one.value.is_string() && !one.value.get_ref<const std::string&>().empty()) return called(TextOf(one.value));
  if (one.value.is_array() && !one.value.empty() && !one.negated) {
    Json checks = Json::array();
    for (const Json& tool : one.value) {
      if (!tool.is_string() || tool.get_ref<const std::string&>().empty())
        return Skipped(one.type, "it lists something other than names of tools");
      checks.push_back(called(TextOf(tool)));
    }
    return Group("all", std::move(checks));
  }
  const std::string name = StringAt(one.value, "name");
  if (name.empty() || one.negated || FindMember(one.value, "pattern") != nullptr)
    return Skipped((one.negated ? "not-" : "") + one.type, "it names no tool in a way that is known here");
  const Json* const min = FindMember(one.value, "min");
  const Json* const max = FindMember(one.value, "max");
  if ((min != nullptr && !min->is_number_unsigned()) || (max != nullptr && !max->is_number_unsigned()))
    return Skipped(one.type, "its \"min\" or \"max\" isn't a whole number");
  if (max == nullptr && min != nullptr && *min == 0) return Skipped(one.type, "any number of calls passes");
  Json check = called(name);
  if (min != nullptr) check["minimum"] = *min;
  if (max != nullptr) check["maximum"] = *max;
  return check;
}

// trajectory:tool-args-match: {"name", "args", "mode"}.
Json ToolArgumentsFor(const TextAssertion& one) {
  const std::string name = StringAt(one.value, "name");
  const Json& arguments = Member(one.value, FindMember(one.value, "args") != nullptr ? "args" : "arguments");
  if (name.empty() || !arguments.is_object())
    return Skipped(one.type, "it doesn't have the name of a tool and an object of arguments");
  if (StringAt(one.value, "mode") == "exact")
    return Skipped(one.type, "arguments may always have other members besides the expected ones");
  Json check = {{"type", "tool_call"}, {"tool", name}, {"arguments", arguments}};
  if (one.negated) check["maximum"] = 0;
  return check;
}

Json CheckFor(const TextAssertion& one) {
  if (one.type == "trajectory:tool-used") return ToolUsedFor(one);
  if (one.type == "trajectory:tool-args-match") return ToolArgumentsFor(one);
  if (std::optional<Json> contains = ContainsFor(one)) return *std::move(contains);
  if (one.type == "equals") return EqualsFor(one);
  if (one.type == "regex") return RegexFor(one);
  if (one.type == "starts-with") {
    const std::string text = one.value.is_null() ? "" : TextOf(one.value);
    if (text.empty()) return Skipped(one.type, "it has no value");
    return Pattern(one.negated ? "not_regex" : "regex", R"(\A)" + RE2::QuoteMeta(text));
  }
  if (one.type == "is-json" || one.type == "contains-json") return JsonFor(one);
  if (one.type == "llm-rubric" || one.type == "model-graded-closedqa" || one.type == "factuality" ||
      one.type == "g-eval")
    return JudgeFor(one);
  return Skipped((one.negated ? "not-" : "") + one.type, ReasonFor(one.type));
}

class Assertions {
 public:
  Assertions(const Json& variables, const Json& templates, const fs::path& folder, std::vector<fs::path>& files)
      : variables_(variables), templates_(templates), folder_(folder), files_(files) {}

  // With a threshold, the weights of those that pass must reach that share of all weights.
  Json Checks(const Json& asserts, const Json& threshold, int depth) const {
    Json checks = Json::array();
    double weights = 0.0;
    for (const Json& listed : asserts.is_array() ? asserts : Json::array({asserts})) {
      const Json assertion = Resolved(listed);
      const auto weight = JsonGet(assertion, "weight", 1.0);
      if (weight == 0.0) continue;  // a metric, which decides nothing
      Json check = CheckOf(assertion, depth);
      weights += weight;
      if (weight != 1.0 && threshold.is_number()) check["weight"] = weight;
      checks.push_back(std::move(check));
    }
    if (!threshold.is_number() || checks.empty()) return checks;
    Json group = Group("at_least", std::move(checks));
    group["count"] = threshold.get<double>() * weights;
    return Json::array({std::move(group)});
  }

 private:
  // {"$ref": "#/assertionTemplates/name"}
  Json Resolved(const Json& assertion) const {
    constexpr std::string_view kPrefix = "#/assertionTemplates/";
    const std::string ref = StringAt(assertion, "$ref");
    if (!ref.starts_with(kPrefix)) return assertion;
    const Json* const named = FindMember(templates_, ref.substr(kPrefix.size()).c_str());
    return named == nullptr ? assertion : *named;
  }

  Json CheckOf(const Json& assertion, int depth) const {
    TextAssertion one;
    one.type = StringAt(assertion, "type");
    if (one.type.empty()) return Skipped("assertion", "it has no \"type\"");
    if (one.type == "assert-set") {
      if (depth == kMaxSetDepth) return Skipped("assert-set", "sets are nested too deep");
      Json members = Checks(Member(assertion, "assert"), Member(assertion, "threshold"), depth + 1);
      if (members.empty()) return Skipped("assert-set", "it has no assertions");
      return members.size() == 1 ? members.front() : Group("all", std::move(members));
    }
    if (FindMember(assertion, "transform") != nullptr)
      return Skipped(one.type, "its \"transform\" is code, which is not run here");
    if (one.type.starts_with("not-")) {
      one.negated = true;
      one.type.erase(0, 4);
    }
    const Result<Json> value = ValueOf(Member(assertion, "value"));
    if (!value) return Skipped(one.type, value.error().message);
    one.value = *value;
    return CheckFor(one);
  }

  // The value with its variables, from the file that it names.
  Result<Json> ValueOf(const Json& stated) const {
    ASSIGN_OR_RETURN(Json value, RenderStrings(stated, variables_));
    if (!value.is_string() || !value.get_ref<const std::string&>().starts_with(kFileScheme)) return value;
    const std::string name = value.get_ref<const std::string&>().substr(kFileScheme.size());
    const std::string extension = ToLowerAscii(fs::path(name).extension().string());
    if (extension != ".json" && extension != ".yaml" && extension != ".yml" && extension != ".txt" &&
        extension != ".md")
      return InputError(fmt::format("its value is in {}, which is not a file of text or data", ExcerptLine(name, 60)));
    ASSIGN_OR_RETURN(std::string text, ReadTextBelow(folder_, name));
    files_.push_back(folder_ / name);
    if (extension == ".txt" || extension == ".md") return Json(std::move(text));
    return extension == ".json" ? ParseJson(text, name) : ParseYaml(text, name, YamlNumbers::kNumbers);
  }

  const Json& variables_;
  const Json& templates_;
  const fs::path& folder_;
  std::vector<fs::path>& files_;
};

}  // namespace

Json PromptfooChecks(const Json& asserts, const Json& threshold, const Json& variables, const Json& templates,
                     const fs::path& folder, std::vector<fs::path>& files) {
  Json checks = Assertions(variables, templates, folder, files).Checks(asserts, threshold, 0);
  if (checks.empty()) checks.push_back(SkippedCheck("a test without assertions", "add some under \"assert\""));
  return checks;
}

}  // namespace upskill
