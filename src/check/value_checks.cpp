// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "check/answer_files.h"
#include "check/check_makers.h"
#include "check/text_checks.h"
#include "util/json.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShownAtPath = 3;

std::string ShownJson(const Json& value) { return ExcerptLine(DumpJson(value), 80); }

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : DumpJson(value); }

std::string LanguagesOf(DataFormat format) {
  switch (format) {
    case DataFormat::kJson:
      return "json jsonc";
    case DataFormat::kToml:
      return "toml";
    case DataFormat::kYaml:
      return "yaml yml";
  }
  return "";
}

// "line 3, column 5: reason" in parentheses. A text that is wrong from the start isn't meant as data at all.
std::string WhyNoData(const std::string& message) {
  if (!message.starts_with("line ")) return ": " + message;
  const std::string place = message.substr(0, message.find(": "));
  return fmt::format(" ({})", place == "line 1, column 1" ? place : message);
}

// Parses the data that a part of an answer has.
Result<Json> DataOf(DataFormat format, const CheckSubject& subject, const CheckedPart& part) {
  std::string data;
  std::string_view text = *part.text;
  if (subject.file.empty()) text = data = DataInAnswer(text, LanguagesOf(format));
  Result<Json> parsed = ParseData(format, text);
  if (!parsed) {
    return InputError(fmt::format("the {} is not {}{}", subject.file.empty() ? "answer" : "file",
                                  DataFormatName(format), WhyNoData(parsed.error().message)));
  }
  return parsed;
}

struct Condition {
  enum class Kind { kExists, kAbsent, kOneOf, kPattern };
  Kind kind = Kind::kExists;
  std::vector<Json> values;
  std::unique_ptr<RE2> pattern;
  std::string text;  // for display
};

class ValueCheck : public PartCheck {
 public:
  ValueCheck(CheckSubject subject, DataFormat format, DataPath path, Condition condition)
      : PartCheck(std::move(subject)), format_(format), path_(std::move(path)), condition_(std::move(condition)) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    const Result<Json> data = DataOf(format_, subject(), part);
    if (!data) return data.error().message;
    const std::vector<const Json*> values = path_.In(*data);
    if (condition_.kind == Condition::Kind::kAbsent)
      return values.empty() ? "" : fmt::format("there is {}", ShownJson(*values.front()));
    if (values.empty()) return "nothing at this path";
    if (condition_.kind == Condition::Kind::kExists) return "";
    if (std::any_of(values.begin(), values.end(), [&](const Json* value) { return Fits(*value); })) return "";
    if (std::string problem = WrongType(values); !problem.empty()) return problem;
    std::string shown;
    for (std::size_t i = 0; i < std::min(values.size(), kShownAtPath); ++i)
      shown += (i == 0 ? "" : ", ") + ShownJson(*values[i]);
    return fmt::format("it is {}{}", shown, values.size() > kShownAtPath ? ", …" : "");
  }

  // For a value that has the right text and the wrong type; "" if there is none.
  std::string WrongType(const std::vector<const Json*>& values) const {
    for (const Json* const value : values) {
      for (const Json& wanted : condition_.values) {
        if (value->is_string() == wanted.is_string() || TextOf(*value) != TextOf(wanted)) continue;
        return fmt::format("it is the {} {}, not the {} {}", value->type_name(), ShownJson(*value), wanted.type_name(),
                           ShownJson(wanted));
      }
    }
    return "";
  }

  bool Fits(const Json& value) const {
    if (condition_.kind == Condition::Kind::kPattern) {
      return !value.is_structured() && RE2::PartialMatch(TextOf(value), *condition_.pattern);
    }
    return std::any_of(condition_.values.begin(), condition_.values.end(),
                       [&](const Json& wanted) { return SameJson(value, wanted); });
  }

  DataFormat format_;
  DataPath path_;
  Condition condition_;
};

Result<Condition> ConditionOf(const CheckSpec& spec, CaseParts& parts) {
  Condition condition;
  std::size_t stated = 0;
  const auto take = [&](const char* key) {
    const auto found = spec.options.find(key);
    stated += found == spec.options.end() ? 0 : 1;
    return found == spec.options.end() ? nullptr : &*found;
  };
  const Json* const equals = take("equals");
  const Json* const one_of = take("one_of");
  const Json* const pattern = take("pattern");
  const Json* const exists = take("exists");
  if (stated > 1)
    return InputError(spec.type + " takes only one of \"equals\", \"one_of\", \"pattern\" and \"exists\"");
  if (equals != nullptr) {
    condition = {Condition::Kind::kOneOf, {*equals}, nullptr, "= " + ShownJson(*equals)};
  } else if (one_of != nullptr) {
    if (!one_of->is_array() || one_of->empty() || one_of->size() > 1000)
      return InputError(spec.type + ": \"one_of\" must be a list of 1 to 1,000 values");
    condition = {Condition::Kind::kOneOf, {one_of->begin(), one_of->end()}, nullptr, "one of " + ShownJson(*one_of)};
  } else if (pattern != nullptr) {
    if (!pattern->is_string()) return InputError(spec.type + ": \"pattern\" must be a string");
    ASSIGN_OR_RETURN(condition.pattern, CompilePattern(pattern->get<std::string>(), parts));
    condition.kind = Condition::Kind::kPattern;
    condition.text = "matches " + Quoted(pattern->get<std::string>());
  } else if (exists != nullptr) {
    if (!exists->is_boolean()) return InputError(spec.type + ": \"exists\" must be true or false");
    if (!exists->get<bool>()) condition = {Condition::Kind::kAbsent, {}, nullptr, "absent"};
  }
  return condition;
}

// Objects and arrays of JSON in a text, one after the other.
std::vector<Json> JsonWithin(std::string_view text) {
  constexpr std::size_t kMostRead = 20'000'000;  // bytes, over all places where JSON may begin
  std::vector<Json> found;
  std::size_t at = text.find_first_of("{[");
  for (std::size_t read = 0; read < kMostRead && at != std::string_view::npos;) {
    std::size_t end = at;
    int depth = 0;
    bool in_string = false;
    do {
      const char c = text[end];
      if (in_string && c == '\\') {
        ++end;
      } else if (c == '"') {
        in_string = !in_string;
      } else if (!in_string && (c == '{' || c == '[')) {
        ++depth;
      } else if (!in_string && (c == '}' || c == ']')) {
        --depth;
      }
      ++end;
    } while (depth > 0 && end < text.size());
    read += end - at;
    Result<Json> json = ParseJson(text.substr(at, end - at), "answer");
    at = text.find_first_of("{[", json ? end : at + 1);
    if (json) found.push_back(*std::move(json));
  }
  return found;
}

// Where the JSON of an answer is: in its last block or all of it, all of it, or anywhere in it.
enum class JsonPlace { kBlock, kWhole, kAnywhere };

class SchemaCheck : public PartCheck {
 public:
  SchemaCheck(CheckSubject subject, Json schema, JsonPlace place)
      : PartCheck(std::move(subject)), schema_(std::move(schema)), place_(place) {}

 private:
  std::string FindProblem(const CheckedPart& part) const override {
    if (place_ == JsonPlace::kAnywhere) {
      const std::vector<Json> all = JsonWithin(*part.text);
      if (all.empty()) return "no valid JSON object or array was found in it";
      if (std::any_of(all.begin(), all.end(), [&](const Json& one) { return CheckJsonSchema(schema_, one).ok(); }))
        return "";
      return CheckJsonSchema(schema_, all.back()).error().message;
    }
    const Result<Json> data =
        place_ == JsonPlace::kWhole ? ParseJson(*part.text, "answer") : DataOf(DataFormat::kJson, subject(), part);
    if (!data) return data.error().message;
    const Status fits = CheckJsonSchema(schema_, *data);
    return fits ? "" : fits.error().message;
  }

  Json schema_;
  JsonPlace place_;
};

}  // namespace

Result<std::unique_ptr<Check>> MakeValueCheck(DataFormat format, const CheckSpec& spec, CaseParts& parts) {
  const std::string at = StringAt(spec.options, "at");
  if (at.empty()) return InputError(spec.type + " needs \"at\": the path of the value, such as general.name");
  ASSIGN_OR_RETURN(DataPath path, DataPath::Parse(at).With(fmt::format("{}: \"at\" {}", spec.type, Quoted(at))));
  ASSIGN_OR_RETURN(Condition condition, ConditionOf(spec, parts));
  const std::string expected = ExcerptLine(at, 60) + (condition.text.empty() ? "" : " " + condition.text);
  return std::unique_ptr<Check>(
      std::make_unique<ValueCheck>(SubjectOf(spec, expected, parts), format, std::move(path), std::move(condition)));
}

Result<std::unique_ptr<Check>> MakeJsonSchema(const CheckSpec& spec, CaseParts& parts) {
  const Json* const schema = FindMember(spec.options, "schema");
  if (schema == nullptr || (!schema->is_object() && !schema->is_boolean()))
    return InputError("json_schema needs a \"schema\": an object");
  RETURN_IF_ERROR(CheckSchemaItself(*schema).With("json_schema"));
  const std::string in = StringAt(spec.options, "in");
  if (!in.empty() && in != "whole" && in != "anywhere")
    return InputError(fmt::format("json_schema: \"in\" is {}; whole and anywhere are possible", Quoted(in)));
  const JsonPlace place = in.empty() ? JsonPlace::kBlock : in == "whole" ? JsonPlace::kWhole : JsonPlace::kAnywhere;
  return std::unique_ptr<Check>(std::make_unique<SchemaCheck>(SubjectOf(spec, "", parts), *schema, place));
}

}  // namespace upskill
