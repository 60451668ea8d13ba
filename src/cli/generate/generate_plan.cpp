// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_plan.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "cli/eval/eval_session.h"
#include "teach/choice.h"
#include "trace/redact/redact.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using GivenOptions = GenerateCommandOptions;

constexpr std::size_t kMaxWords = 2U << 20U;  // bytes of a text that a person types
constexpr std::size_t kMaxName = 4096;        // bytes of a path, an address or a model string
constexpr std::size_t kMaxEntries = 10'000;

enum class OnResume { kFixed, kMayChange };

// An option that a generation keeps.
struct StoredOption {
  const char* key;
  const char* flag;  // as the command line knows it; empty: none
  OnResume on_resume;
  std::function<Json(const GivenOptions&)> get;
  std::function<Status(const Json&, GivenOptions&)> set;  // the error says what is expected
  Json missing = nullptr;                                 // the value where the file has none; null: it must have one
};

Status ExpectedHere(const std::string& what) { return InputError("expected " + what); }

std::string AsItIs(const std::string& text) { return text; }

// A trace, a folder or a pattern; "latest" is none of them.
std::string AbsoluteSource(const std::string& source) { return source == "latest" ? source : AbsolutePath(source); }

// FILE#NAME, or the command of a server.
std::string AbsoluteTool(const std::string& tool) { return tool.starts_with("mcp:") ? tool : AbsolutePath(tool); }

std::string WithoutSecrets(const std::string& text, const GivenOptions& options) {
  return options.no_redact ? text : Redactor({}).Apply(text);
}

Status CheckText(const Json& json, std::size_t max_bytes) {
  if (!json.is_string()) return ExpectedHere("a string");
  const std::string& text = json.get_ref<const std::string&>();
  if (text.size() > max_bytes) return ExpectedHere(fmt::format("a text of at most {} bytes", max_bytes));
  if (text.find('\0') != std::string::npos) return ExpectedHere("a text without NUL");
  return {};
}

// `at` finds the value in const and other options.
template <typename At>
StoredOption TextOption(const char* key, const char* flag, At at, std::string (*form)(const std::string&) = AsItIs,
                        std::size_t max_bytes = kMaxName) {
  return {key, flag, OnResume::kFixed,
          [=](const GivenOptions& options) { return Json(WithoutSecrets(form(at(options)), options)); },
          [=](const Json& json, GivenOptions& options) -> Status {
            RETURN_IF_ERROR(CheckText(json, max_bytes));
            at(options) = json.get<std::string>();
            return {};
          }};
}

template <typename At>
StoredOption TextsOption(const char* key, const char* flag, At at, std::string (*form)(const std::string&) = AsItIs,
                         std::size_t max_bytes = kMaxName) {
  return {key, flag, OnResume::kFixed,
          [=](const GivenOptions& options) {
            Json list = Json::array();
            for (const std::string& text : at(options)) list.push_back(WithoutSecrets(form(text), options));
            return list;
          },
          [=](const Json& json, GivenOptions& options) -> Status {
            if (!json.is_array() || json.size() > kMaxEntries)
              return ExpectedHere(fmt::format("a list of at most {} strings", kMaxEntries));
            for (const Json& entry : json) {
              RETURN_IF_ERROR(CheckText(entry, max_bytes));
              at(options).push_back(entry.get<std::string>());
            }
            return {};
          }};
}

// Kept as an absolute path; may be empty.
template <typename At>
StoredOption PathOption(const char* key, const char* flag, At at) {
  StoredOption option = TextOption(key, flag, at);
  option.get = [=](const GivenOptions& options) { return Json(at(options).empty() ? "" : AbsolutePath(at(options))); };
  option.set = [=](const Json& json, GivenOptions& options) -> Status {
    RETURN_IF_ERROR(CheckText(json, kMaxName));
    const std::string& path = json.get_ref<const std::string&>();
    if (!path.empty() && (!fs::path(path).is_absolute() || AbsolutePath(path) != path))
      return ExpectedHere("an absolute path without '.' and '..'");
    at(options) = path;
    return {};
  };
  return option;
}

template <typename At>
StoredOption WholeOption(const char* key, const char* flag, At at, std::uint64_t low, std::uint64_t high,
                         OnResume on_resume = OnResume::kFixed) {
  return {key, flag, on_resume, [=](const GivenOptions& options) { return Json(at(options)); },
          [=](const Json& json, GivenOptions& options) -> Status {
            const bool whole = json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
            if (!whole || json.get<std::uint64_t>() < low || json.get<std::uint64_t>() > high)
              return ExpectedHere(fmt::format("a whole number from {} to {}", low, high));
            at(options) = json.get<std::remove_reference_t<decltype(at(options))>>();
            return {};
          }};
}

bool IsNumberIn(const Json& json, double low, double high) {
  return json.is_number() && std::isfinite(json.get<double>()) && json.get<double>() >= low &&
         json.get<double>() <= high;
}

// A number that may be absent.
template <typename At>
StoredOption NumberOption(const char* key, const char* flag, At at, double low, double high,
                          OnResume on_resume = OnResume::kFixed) {
  return {key, flag, on_resume, [=](const GivenOptions& options) { return JsonOrNull(at(options)); },
          [=](const Json& json, GivenOptions& options) -> Status {
            if (!json.is_null() && !IsNumberIn(json, low, high))
              return ExpectedHere(fmt::format("a number from {} to {}, or null", low, high));
            at(options) = json.is_null() ? std::nullopt : std::optional(json.get<double>());
            return {};
          }};
}

template <typename At>
StoredOption SwitchOption(const char* key, const char* flag, At at) {
  return {key, flag, OnResume::kFixed, [=](const GivenOptions& options) { return Json(at(options)); },
          [=](const Json& json, GivenOptions& options) -> Status {
            if (!json.is_boolean()) return ExpectedHere("true or false");
            at(options) = json.get<bool>();
            return {};
          }};
}

// One that older generations don't have: they were made as with this value.
template <typename At>
StoredOption LaterSwitchOption(const char* key, const char* flag, At at, bool before) {
  StoredOption option = SwitchOption(key, flag, at);
  option.missing = before;
  return option;
}

StoredOption HoldoutOption() {
  return {"holdout", "--holdout", OnResume::kFixed,
          [](const GivenOptions& options) { return Json(options.how.holdout); },
          [](const Json& json, GivenOptions& options) -> Status {
            if (!IsNumberIn(json, 0.1, 0.9)) return ExpectedHere("a number from 0.1 to 0.9");
            options.how.holdout = json.get<double>();
            return {};
          }};
}

StoredOption NameOption() {
  StoredOption option = TextOption("name", "--name", [](auto& o) -> auto& { return o.how.name; });
  option.set = [](const Json& json, GivenOptions& options) -> Status {
    RETURN_IF_ERROR(CheckText(json, kMaxName));
    options.how.name = json.get<std::string>();
    return options.how.name.empty() || IsPlainName(options.how.name) ? Status()
                                                                     : ExpectedHere("a name without folders");
  };
  return option;
}

StoredOption AcceptOption() {
  StoredOption option = TextOption("accept", "--accept", [](auto& o) -> auto& { return o.accept; });
  option.on_resume = OnResume::kMayChange;
  option.set = [](const Json& json, GivenOptions& options) -> Status {
    if (!json.is_string() || !AcceptRuleFromName(json.get<std::string>()))
      return ExpectedHere("helps, not-worse or any");
    options.accept = json.get<std::string>();
    return {};
  };
  return option;
}

StoredOption AcceptMarginOption() {
  StoredOption option{"accept_margin", "--accept-margin", OnResume::kMayChange,
                      [](const GivenOptions& options) { return Json(options.accept_margin_points); },
                      [](const Json& json, GivenOptions& options) -> Status {
                        if (!IsNumberIn(json, 0.1, 99.0)) return ExpectedHere("a number from 0.1 to 99");
                        options.accept_margin_points = json.get<double>();
                        return {};
                      }};
  option.missing = 100.0 * kAcceptMargin;  // in generations from before this option
  return option;
}

StoredOption MaxPartsOption() {
  StoredOption option = WholeOption("max_parts", "--max-parts", [](auto& o) -> auto& { return o.max_parts; }, 1, 1000);
  option.missing = 1;
  return option;
}

std::vector<StoredOption> LaterOptions() {
  return {
      MaxPartsOption(),
      LaterSwitchOption(
          "redact_home", "--redact-home", [](auto& o) -> auto& { return o.hide_home; }, false),
      LaterSwitchOption(
          "keep_emails", "--keep-emails", [](auto& o) -> auto& { return o.keep_emails; }, true),
      LaterSwitchOption(
          "no_ledger", "--no-ledger", [](auto& o) -> auto& { return o.no_ledger; }, false),
      LaterSwitchOption(
          "no_critique", "--no-critique", [](auto& o) -> auto& { return o.no_critique; }, true),
      LaterSwitchOption(
          "overwrite", "--overwrite", [](auto& o) -> auto& { return o.overwrite; }, false),
  };
}

// Options that all generations have; limits as AddGenerateCommand sets them.
std::vector<StoredOption> FirstOptions() {
  return {
      TextOption(
          "task", "TASK", [](auto& o) -> auto& { return o.task; }, AsItIs, kMaxWords),
      TextsOption(
          "from", "--from", [](auto& o) -> auto& { return o.from; }, AbsoluteSource),
      TextsOption(
          "examples", "--example", [](auto& o) -> auto& { return o.examples; }, AsItIs, kMaxWords),
      TextsOption(
          "tools", "--tool", [](auto& o) -> auto& { return o.tools; }, AbsoluteTool, kMaxWords),
      TextsOption(
          "docs", "--docs", [](auto& o) -> auto& { return o.docs; }, AbsolutePath),
      TextOption("model", "--model", [](auto& o) -> auto& { return o.model; }),
      TextOption("test_gen_model", "--test-gen-model", [](auto& o) -> auto& { return o.test_gen_model; }),
      TextsOption("eval_models", "--eval-model", [](auto& o) -> auto& { return o.eval_models; }),
      TextsOption("base_urls", "--base-url", [](auto& o) -> auto& { return o.base_urls; }),
      TextsOption("eval_base_urls", "--eval-base-url", [](auto& o) -> auto& { return o.eval_base_urls; }),
      PathOption("tests", "--tests", [](auto& o) -> auto& { return o.tests; }),
      PathOption("output", "--output", [](auto& o) -> auto& { return o.output; }),
      PathOption("skills_dir", "", [](auto& o) -> auto& { return o.skills_dir; }),
      NameOption(),
      SwitchOption("no_eval", "--no-eval", [](auto& o) -> auto& { return o.no_eval; }),
      WholeOption(
          "skill_tokens", "--skill-tokens", [](auto& o) -> auto& { return o.how.target.tokens; }, 50, 20'000),
      WholeOption(
          "cases", "--cases", [](auto& o) -> auto& { return o.how.cases; }, 2, 200),
      HoldoutOption(),
      WholeOption(
          "candidates", "--candidates", [](auto& o) -> auto& { return o.how.candidates; }, 1, 20),
      WholeOption(
          "max_attempts", "--max-attempts", [](auto& o) -> auto& { return o.how.attempts; }, 0, 50),
      WholeOption(
          "train_runs", "--train-runs", [](auto& o) -> auto& { return o.how.train_rounds; }, 1, 100),
      WholeOption(
          "runs", "--runs", [](auto& o) -> auto& { return o.how.runs; }, 1, 1000),
      WholeOption(
          "max_tokens", "--max-tokens", [](auto& o) -> auto& { return o.max_tokens; }, 1, 1'000'000),
      NumberOption(
          "temperature", "--temperature", [](auto& o) -> auto& { return o.temperature; }, 0.0, 2.0),
      WholeOption(
          "budget", "--budget", [](auto& o) -> auto& { return o.how.context_tokens; }, 500, 1'000'000),
      AcceptOption(),
      AcceptMarginOption(),
      NumberOption(
          "max_cost", "--max-cost", [](auto& o) -> auto& { return o.how.max_cost_usd; }, 0.0, 1e12,
          OnResume::kMayChange),
      WholeOption(
          "seed", "--seed", [](auto& o) -> auto& { return o.how.seed; }, 0, std::numeric_limits<std::uint64_t>::max()),
      WholeOption(
          "parallel", "--jobs", [](auto& o) -> auto& { return o.parallel; }, 0, 100'000, OnResume::kMayChange),
      SwitchOption("strict", "--strict", [](auto& o) -> auto& { return o.strict; }),
      SwitchOption("no_redact", "--no-redact", [](auto& o) -> auto& { return o.no_redact; }),
  };
}

const std::vector<StoredOption>& StoredOptions() {
  static const std::vector<StoredOption> all = [] {
    std::vector<StoredOption> options = FirstOptions();
    for (const StoredOption& option : LaterOptions()) options.push_back(option);
    return options;
  }();
  return all;
}

// "with --max-tokens 512", "without --no-eval".
std::string StartedWith(const std::string& flag, const Json& value) {
  if (value.is_boolean()) return (value.get<bool>() ? "with " : "without ") + flag;
  if (value.is_null() || (value.is_string() && value.get<std::string>().empty()) || (value.is_array() && value.empty()))
    return "without " + flag;
  std::string text;
  if (value.is_array()) {
    for (const Json& entry : value) text += (text.empty() ? "" : ", ") + entry.get<std::string>();
  } else {
    text = value.is_string() ? value.get<std::string>() : DumpJson(value);
  }
  return fmt::format("with {} {}", flag, CutToColumns(text, 200));
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code).lexically_normal();
  if (code) return path;
  return absolute.has_filename() || !absolute.has_relative_path() ? absolute.string() : absolute.parent_path().string();
}

bool IsPlainName(const std::string& name) {
  return name.find('/') == std::string::npos && name != "." && ContainedPath("", name).ok();
}

GivenOptions ResolveOptions(GivenOptions options, const Config& config) {
  if (options.model.empty()) options.model = config.skill_generation_model;
  if (options.test_gen_model.empty()) options.test_gen_model = config.test_gen_model;
  if (options.test_gen_model.empty()) options.test_gen_model = options.model;
  Config students = config;
  students.skill_generation_model.clear();  // a teacher is not a student
  options.eval_models = ChooseModels(options.eval_models, students);
  options.how.attempts = options.max_attempts.value_or(config.max_refine_attempts.value_or(options.how.attempts));
  options.skills_dir = config.skills_dir.string();
  return options;
}

std::string CommandWithoutTeacher(const GivenOptions& options) {
  const std::set<std::string_view> models = {"--test-gen-model", "--eval-model", "--eval-base-url"};
  const GivenOptions defaults;
  std::string command = "upskill generate";
  for (const StoredOption& option : StoredOptions()) {
    const Json value = option.get(options);
    const std::string flag = option.flag;
    // A resumed generation was given sources and a place, too.
    const bool is_words = (value.is_string() || value.is_array()) && !models.contains(flag);
    if (flag.empty() || flag == "--model" || flag == "--base-url") continue;
    if (!options.given.contains(flag) && !(is_words && value != option.get(defaults))) continue;
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      if (flag != "TASK") command += " " + flag;
      if (!one.is_boolean()) command += " " + ShellWord(one.is_string() ? one.get<std::string>() : DumpJson(one));
    }
  }
  for (const auto& [flag, folder] : {std::pair{" --prompts ", &options.prompts}, {" --runs-dir ", &options.runs_dir}})
    if (!folder->empty()) command += flag + ShellWord(*folder);
  return command;
}

Json OptionsToJson(const GivenOptions& options) {
  Json json = Json::object();
  for (const StoredOption& option : StoredOptions()) json[option.key] = option.get(options);
  return json;
}

Result<GivenOptions> OptionsFromJson(const Json& json, const std::string& source) {
  if (!json.is_object()) return InputError(fmt::format("{}: options: expected an object", source));
  GivenOptions options;
  for (const StoredOption& option : StoredOptions()) {
    const auto found = json.find(option.key);
    const Status status = found != json.end()         ? option.set(*found, options)
                          : !option.missing.is_null() ? option.set(option.missing, options)
                                                      : Status(InputError("missing"));
    if (!status) return status.error().With(fmt::format("{}: options.{}", source, option.key));
  }
  if (options.eval_models.empty() || options.model.empty() || options.test_gen_model.empty() ||
      options.skills_dir.empty())
    return InputError(
        fmt::format("{}: options: model, test_gen_model, eval_models and skills_dir can't be empty", source));
  return options;
}

Result<GivenOptions> OptionsToResume(const GivenOptions& now, const GivenOptions& stored) {
  GivenOptions options = stored;
  for (const StoredOption& option : StoredOptions()) {
    if (!now.given.contains(option.flag)) continue;
    const Json before = option.get(stored);
    const Json value = option.get(now);
    const bool is_new_output = std::string_view(option.key) == "output" && before.get<std::string>().empty();
    if (option.on_resume == OnResume::kMayChange || is_new_output) {
      RETURN_IF_ERROR(option.set(value, options).With(option.flag));
    } else if (value != before) {
      // A teacher that writes the tests, too, wasn't named for that.
      const bool is_teacher = std::string_view(option.key) == "test_gen_model" && before == stored.model;
      return InputError(fmt::format("the generation was started {}: leave the option out, or start a new generation",
                                    StartedWith(option.flag, is_teacher ? Json() : before)));
    }
  }
  if (now.given.contains("--base-url")) options.base_urls = now.base_urls;  // with a password, which isn't stored
  if (now.given.contains("--eval-base-url")) options.eval_base_urls = now.eval_base_urls;
  options.given = now.given;
  options.prompts = now.prompts;
  options.runs_dir = now.runs_dir;
  options.resume = now.resume;
  options.dry_run = now.dry_run;
  options.json = now.json;
  options.quiet = now.quiet;
  options.color = now.color;
  return options;
}

}  // namespace upskill
