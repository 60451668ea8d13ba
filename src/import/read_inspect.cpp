// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "import/readers.h"
#include "trace/read/archive.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr ArchiveLimits kLimits = {std::size_t{64} << 20U, std::size_t{1} << 30U};
constexpr std::size_t kMaxDetail = 1000;

// The text of a message, which is a string or a list of parts.
std::string TextOf(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    const std::string piece = StringAt(part, "text");
    if (!piece.empty()) text += (text.empty() ? "" : "\n") + piece;
  }
  return text;
}

// A sample's question: its input, or the last message of a user in it.
std::string InputOf(const Json& sample) {
  const Json& input = Member(sample, "input");
  if (input.is_string()) return input.get<std::string>();
  std::string question;
  if (!input.is_array()) return question;
  for (const Json& message : input)
    if (StringAt(message, "role") == "user") question = TextOf(Member(message, "content"));
  return question;
}

std::string CompletionOf(const Json& sample) {
  const Json& output = Member(sample, "output");
  if (const std::string text = StringAt(output, "completion"); !text.empty()) return text;
  const Json& choices = Member(output, "choices");
  return choices.is_array() && !choices.empty() ? TextOf(Member(Member(choices[0], "message"), "content")) : "";
}

CheckResult CheckOfScore(const std::string& scorer, const Json& score, const ImportOptions& options) {
  const Json& value = Member(score, "value");
  if (value.is_number()) {
    CheckResult check = ScoreCheck(value.get<double>(), options.pass_at);
    check.name = scorer + ": " + check.name;
    return check;
  }
  const bool passed = value.is_boolean() ? value.get<bool>() : value == "C" || value == "1.0" || value == "1";
  std::string detail;
  if (!passed) {
    detail = value.is_string() ? value.get<std::string>() : "";
    if (const std::string why = StringAt(score, "explanation"); !why.empty())
      detail += (detail.empty() ? "" : ": ") + ExcerptLine(why, kMaxDetail);
  }
  return {scorer, passed ? Outcome::kPass : Outcome::kFail, detail};
}

bool IsScore(const Json& score) {
  const Json& value = Member(score, "value");
  return value.is_number() || value.is_boolean() || value.is_string();
}

// Whether one of the scores is NaN, as of a sample that its scorer couldn't judge.
bool HasNoValue(const Json& sample) {
  const auto is_null = [](const Json& value) { return value.is_null(); };
  const Json& scores = Member(sample, "scores");
  return scores.is_object() && std::any_of(scores.begin(), scores.end(), [&](const Json& score) {
           const Json& value = Member(score, "value");
           return score.contains("value") &&
                  (value.is_null() || (value.is_object() && std::any_of(value.begin(), value.end(), is_null)));
         });
}

// The labels that an object of metadata or arguments may have.
void AddLabels(const Json& object, std::vector<std::string>& labels) {
  for (const char* key : {"arm", "condition", "configuration", "variant", "skill"}) {
    const std::string label = StringAt(object, key);
    if (!label.empty()) labels.push_back(label);
  }
}

class LogReader {
 public:
  LogReader(const std::string& source, const ImportOptions& options) : source_(source), options_(options) {}

  void TakeHeader(const Json& eval) {
    if (!eval.is_object()) return;
    model_ = StringAt(eval, "model");
    results_.time = StringAt(eval, "created");
    results_.skill = StringAt(Member(eval, "metadata"), "skill");
    labels_.clear();
    AddLabels(Member(eval, "metadata"), labels_);
    AddLabels(Member(eval, "task_args"), labels_);
    const Json& tags = Member(eval, "tags");
    if (tags.is_array()) {
      for (const Json& tag : tags)
        if (tag.is_string()) labels_.push_back(tag.get<std::string>());
    }
    const std::string task = StringAt(eval, "task");
    if (!task.empty()) labels_.push_back(task);
    if (results_.skill.empty()) results_.skill = task;
    labels_.push_back(std::filesystem::path(source_).stem().string());
  }

  void TakeSample(const Json& sample) {
    const std::optional<Arm> arm = ArmOf(sample);
    ImportedAnswer answer;
    answer.case_id = StringAt(Member(sample, "metadata"), "case");
    if (answer.case_id.empty()) answer.case_id = IdText(Member(sample, "id"));
    if (!arm || answer.case_id.empty()) return;
    const Json& error = Member(sample, "error");
    if (error.is_object()) answer.error = StringAt(error, "message").empty() ? "error" : StringAt(error, "message");
    if (answer.error.empty() && !TakeScores(sample, answer)) {
      ++unscored_;
      return;
    }
    if (answer.error.empty() && HasNoValue(sample) && (answer.checks.empty() || AllPass(answer.checks)))
      answer.error = "no score";
    answer.arm = *arm;
    answer.model = model_;
    answer.text = CompletionOf(sample);
    if (const Json& epoch = Member(sample, "epoch"); epoch.is_number_integer())
      answer.number = NumberAs<std::int64_t>(epoch);
    answer.seconds = NonNegativeAt(sample, "total_time").value_or(0.0);
    TakeUsage(Member(sample, "model_usage"), answer);
    results_.AddCase(answer.case_id, InputOf(sample));
    results_.answers.push_back(std::move(answer));
  }

  Result<ImportedResults> Finish() {
    if (results_.answers.empty()) {
      return InputError(fmt::format("{}: no scored sample with or without the skill; {}", source_,
                                    LabelsHint({seen_.begin(), seen_.end()})));
    }
    results_.format = "Inspect";
    results_.is_part = true;
    results_.AddNote("A sample passes if all its scores do: C, true, or a number that reaches --pass-at.");
    if (unscored_ > 0) results_.AddNote(fmt::format("{} without a score left out.", Counted(unscored_, "sample")));
    return std::move(results_);
  }

 private:
  std::optional<Arm> ArmOf(const Json& sample) {
    std::vector<std::string> own;
    AddLabels(Member(sample, "metadata"), own);
    for (const std::vector<std::string>* labels : {&own, &labels_}) {
      for (const std::string& label : *labels) {
        if (const std::optional<Arm> arm = ArmOfLabel(label, options_)) return arm;
        if (seen_.size() < kMaxLabels) seen_.insert(label);
      }
    }
    return std::nullopt;
  }

  bool TakeScores(const Json& sample, ImportedAnswer& answer) {
    const Json& scores = Member(sample, "scores");
    if (!scores.is_object()) return false;
    for (const auto& [scorer, score] : scores.items()) {
      if (IsScore(score)) answer.checks.push_back(CheckOfScore(scorer, score, options_));
      if (!Member(score, "value").is_object()) continue;
      for (const auto& [name, value] : Member(score, "value").items()) {
        const Json one = {{"value", value}, {"explanation", Member(score, "explanation")}};
        if (IsScore(one)) answer.checks.push_back(CheckOfScore(fmt::format("{}/{}", scorer, name), one, options_));
      }
    }
    return !answer.checks.empty() || HasNoValue(sample);
  }

  // Of the model that is evaluated; a scorer may use others.
  void TakeUsage(const Json& usage, ImportedAnswer& answer) const {
    const Json& own = Member(usage, model_.c_str());
    answer.usage.input = TokensAt(own, "input_tokens");
    answer.usage.output = TokensAt(own, "output_tokens");
    answer.usage.cache_read = TokensAt(own, "input_tokens_cache_read");
    answer.usage.cache_write = TokensAt(own, "input_tokens_cache_write");
  }

  static constexpr std::size_t kMaxLabels = 100;
  std::string source_;
  const ImportOptions& options_;
  ImportedResults results_;
  std::string model_;
  std::vector<std::string> labels_;
  std::set<std::string> seen_;
  std::size_t unscored_ = 0;
};

}  // namespace

bool IsInspectLog(const Json& json) {
  const Json& eval = Member(json, "eval");
  return eval.is_object() && Member(eval, "task").is_string() && Member(json, "samples").is_array();
}

Result<ImportedResults> ResultsOfInspect(const Json& json, const std::string& source, const ImportOptions& options) {
  LogReader reader(source, options);
  reader.TakeHeader(Member(json, "eval"));
  for (const Json& sample : Member(json, "samples")) reader.TakeSample(sample);
  return reader.Finish();
}

Result<ImportedResults> ResultsOfInspectArchive(std::string_view bytes, const std::string& source,
                                                const ImportOptions& options) {
  RETURN_IF_ERROR(CheckZipDirectory(bytes, source));
  LogReader reader(source, options);
  // The header names the model and the arm, and comes after the samples.
  for (const bool header : {true, false}) {
    const auto wanted = [header](const std::string& name) {
      return header ? name == "header.json" : name.starts_with("samples/") && name.ends_with(".json");
    };
    const auto use = [&](const std::string& name, const std::string& text) -> Status {
      ASSIGN_OR_RETURN(const Json json, ParseForeignJson(text, fmt::format("{}:{}", source, name)));
      if (header) {
        reader.TakeHeader(Member(json, "eval"));
      } else {
        reader.TakeSample(json);
      }
      return {};
    };
    ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t skipped, ReadZipEntries(bytes, source, kLimits, wanted, use));
  }
  return reader.Finish();
}

}  // namespace upskill
