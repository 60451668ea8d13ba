// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "import/readers.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kErrorFailure = 2;  // ResultFailureReason.ERROR

// The list of results: of version 3 and later, { results: { results: […] } }, or of earlier ones.
const Json& EntriesIn(const Json& json) {
  const Json& outer = Member(json, "results");
  return outer.is_array() ? outer : Member(outer, "results");
}

struct EntryLabels {
  std::string prompt;
  std::string provider;     // its label, if it has one
  std::string provider_id;  // "openai:gpt-5"
};

EntryLabels LabelsOf(const Json& entry) {
  EntryLabels labels;
  const Json& prompt = Member(entry, "prompt");
  labels.prompt = StringAt(prompt, "label").empty() ? StringAt(prompt, "display") : StringAt(prompt, "label");
  const Json& provider = Member(entry, "provider");
  labels.provider_id = provider.is_string() ? provider.get<std::string>() : StringAt(provider, "id");
  labels.provider = StringAt(provider, "label").empty() ? labels.provider_id : StringAt(provider, "label");
  return labels;
}

// What the entry's arm is, and the model that answered. Nothing: neither of its labels is an arm.
struct PromptfooArm {
  Arm arm = Arm::kBaseline;
  std::string model;
};

std::optional<PromptfooArm> ArmOfEntry(const EntryLabels& labels, const ImportOptions& options) {
  if (const std::optional<Arm> arm = ArmOfLabel(labels.prompt, options)) return PromptfooArm{*arm, labels.provider};
  for (const std::string& label : {labels.provider, labels.provider_id}) {
    // Two providers of one id differ in the skill only; otherwise the model isn't known.
    if (const std::optional<Arm> arm = ArmOfLabel(label, options))
      return PromptfooArm{*arm, label == labels.provider_id ? "" : labels.provider_id};
  }
  return std::nullopt;
}

// The variables and assertions of a test, without what promptfoo adds for each repetition: equal for all of them.
std::string TestKey(const Json& entry) {
  const Json& test = Member(entry, "testCase");
  Json key = Json::object();
  key["vars"] = Member(entry, "vars").is_object() ? Member(entry, "vars") : Member(test, "vars");
  key["assert"] = Member(test, "assert");
  key["description"] = Member(test, "description");
  if (key["vars"].is_null() && key["assert"].is_null()) key["index"] = Member(entry, "testIdx");
  return Sha256Hex(CanonicalJson(key));
}

// The input of a test as far as its arms share it: its variables. (Prompts of arms differ by the skill.)
std::string TestInput(const Json& entry) {
  const Json& test = Member(entry, "testCase");
  const Json& vars = Member(entry, "vars").is_object() ? Member(entry, "vars") : Member(test, "vars");
  if (!vars.is_object() || vars.empty()) return "";
  std::string input;
  for (const auto& [name, value] : vars.items())
    input += name + ": " + (value.is_string() ? value.get<std::string>() : DumpJson(value)) + "\n";
  return input;
}

// The name of an assertion: "icontains", "not-icontains hello", …
std::string AssertionName(const Json& component, std::size_t position) {
  const Json& assertion = Member(component, "assertion");
  const std::string type = StringAt(assertion, "type");
  if (type.empty()) return fmt::format("assertion {}", position);
  const std::string value = StringAt(assertion, "value");
  return value.empty() ? type : type + " " + ExcerptLine(value, 80);
}

// The checks of an entry: its assertions if they agree with promptfoo's own word, else that word.
std::vector<CheckResult> ChecksOfEntry(const Json& entry, bool success) {
  std::vector<CheckResult> checks;
  const Json& components = Member(Member(entry, "gradingResult"), "componentResults");
  if (components.is_array()) {
    for (const Json& component : components) {
      const Json& pass = Member(component, "pass");
      if (!pass.is_boolean()) continue;
      checks.push_back({AssertionName(component, checks.size() + 1), pass.get<bool>() ? Outcome::kPass : Outcome::kFail,
                        pass.get<bool>() ? "" : StringAt(component, "reason")});
    }
  }
  if (!checks.empty() && AllPass(checks) == success) return checks;
  return {{"promptfoo's verdict", success ? Outcome::kPass : Outcome::kFail,
           success ? "" : StringAt(Member(entry, "gradingResult"), "reason")}};
}

std::string OutputOf(const Json& entry) {
  const Json& response = Member(entry, "response");
  const Json& output = Member(response, "output");
  return output.is_string() ? output.get<std::string>() : output.is_null() ? "" : DumpJson(output);
}

ImportedAnswer AnswerOfEntry(const Json& entry, bool success) {
  ImportedAnswer answer;
  if (JsonGet(entry, "failureReason", 0) == kErrorFailure) {
    answer.error = StringAt(entry, "error").empty() ? "error" : StringAt(entry, "error");
  } else {
    answer.checks = ChecksOfEntry(entry, success);
  }
  answer.text = OutputOf(entry);
  answer.seconds = NonNegativeAt(entry, "latencyMs").value_or(0.0) / 1000.0;
  answer.cost_usd = NonNegativeAt(entry, "cost");
  const Json& response = Member(entry, "response");
  const Json& usage =
      Member(response, "tokenUsage").is_object() ? Member(response, "tokenUsage") : Member(entry, "tokenUsage");
  answer.usage.input = TokensAt(usage, "prompt");
  answer.usage.output = TokensAt(usage, "completion");
  return answer;
}

// Reads the entries one after another.
class PromptfooReader {
 public:
  explicit PromptfooReader(const ImportOptions& options) : options_(options) {}

  void Take(const Json& entry) {
    const EntryLabels labels = LabelsOf(entry);
    const std::optional<PromptfooArm> arm = ArmOfEntry(labels, options_);
    const Json& success = Member(entry, "success");
    if (!arm || !success.is_boolean()) {
      ++(arm ? undecided_ : other_);
      for (const std::string& label : {labels.prompt, labels.provider})
        if (!arm && !label.empty() && seen_.insert(label).second) labels_.push_back(label);
      return;
    }
    ImportedAnswer answer = AnswerOfEntry(entry, success.get<bool>());
    answer.case_id = CaseIdOf(entry);
    answer.arm = arm->arm;
    answer.model = arm->model;
    // An answer from promptfoo's cache is the one that it gave before, not another one.
    const std::string draw = answer.case_id + '\n' + answer.model + '\n' + ArmName(answer.arm) + '\n' + answer.text;
    const bool is_cached = JsonGet(Member(entry, "response"), "cached", false);
    if (!drawn_.insert(Sha256Hex(draw)).second && is_cached) {
      ++cached_;
      return;
    }
    results_.AddCase(answer.case_id, TestInput(entry));
    results_.answers.push_back(std::move(answer));
  }

  Result<ImportedResults> Finish(const std::string& source) {
    if (results_.answers.empty())
      return InputError(fmt::format("{}: no answer with or without the skill; {}", source, LabelsHint(labels_)));
    results_.AddNote("An answer passes if promptfoo says so, by the thresholds of its assertions.");
    if (other_ > 0)
      results_.AddNote(fmt::format("{} of other prompts and providers left out: {}.", Counted(other_, "result"),
                                   ExcerptLine(LabelList(), 200)));
    if (undecided_ > 0) results_.AddNote(fmt::format("{} without a verdict left out.", Counted(undecided_, "result")));
    if (cached_ > 0) {
      results_.AddNote(
          fmt::format("{} left out: promptfoo took the same answer from its cache again, so it isn't another one.",
                      Counted(cached_, "result")));
    }
    return std::move(results_);
  }

  ImportedResults& results() { return results_; }

 private:
  // The description of a test, else "test N". Each test has its own.
  std::string CaseIdOf(const Json& entry) {
    const std::string key = TestKey(entry);
    if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
    const std::string described = StringAt(Member(entry, "testCase"), "description");
    std::string id = described.empty() ? fmt::format("test {}", ids_.size() + 1) : described;
    if (!used_.insert(id).second) {
      id = fmt::format("{} ({})", id, ids_.size() + 1);
      used_.insert(id);
    }
    ids_.emplace(key, id);
    return id;
  }

  std::string LabelList() const {
    std::string list;
    for (const std::string& label : labels_) {
      if (list.size() > 1000) break;
      list += (list.empty() ? "" : ", ") + label;
    }
    return list;
  }

  const ImportOptions& options_;
  ImportedResults results_;
  std::unordered_map<std::string, std::string> ids_;  // of cases, by TestKey
  std::set<std::string> used_;
  std::set<std::string> drawn_;
  std::set<std::string> seen_;
  std::vector<std::string> labels_;
  std::size_t other_ = 0;
  std::size_t undecided_ = 0;
  std::size_t cached_ = 0;
};

}  // namespace

bool IsPromptfooResults(const Json& json) {
  const Json& entries = EntriesIn(json);
  if (FindMember(json, "evalId") != nullptr) return true;
  return entries.is_array() && std::any_of(entries.begin(), entries.end(), [](const Json& entry) {
           return FindMember(entry, "promptIdx") != nullptr || FindMember(entry, "gradingResult") != nullptr;
         });
}

Result<ImportedResults> ResultsOfPromptfoo(const Json& json, const std::string& source, const ImportOptions& options) {
  const Json& entries = EntriesIn(json);
  if (!entries.is_array() || entries.empty()) {
    return InputError(
        fmt::format("{}: no results; counts alone don't say which answers passed. Write the file with "
                    "`promptfoo eval -o out.json`",
                    source));
  }
  PromptfooReader reader(options);
  for (const Json& entry : entries) reader.Take(entry);
  reader.results().format = "promptfoo";
  reader.results().skill = StringAt(Member(json, "config"), "description");
  reader.results().time = StringAt(Member(json, "results"), "timestamp");
  return reader.Finish(source);
}

}  // namespace upskill
