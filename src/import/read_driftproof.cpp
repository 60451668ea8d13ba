// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "import/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// The score of one generation: the mean of what the judge gave it each time.
std::optional<double> ScoreOf(const Json& generation) {
  const std::optional<double> mean = NonNegativeAt(generation, "mean");
  return mean ? mean : NonNegativeAt(generation, "score");
}

void TakeUsage(const Json& usage, ImportedAnswer& answer) {
  answer.usage.input = TokensAt(usage, "input_tokens");
  answer.usage.output = TokensAt(usage, "output_tokens");
  answer.seconds = NonNegativeAt(usage, "wall_ms").value_or(0.0) / 1000.0;
}

class ReceiptReader {
 public:
  ReceiptReader(const Json& receipt, const ImportOptions& options)
      : model_(StringAt(Member(receipt, "run"), "model_id")), options_(options) {}

  void Take(const Json& entry) {
    const std::string label = StringAt(entry, "mode");
    const std::optional<Arm> arm = ArmOfLabel(label, options_);
    const std::string id = IdText(Member(entry, "id"));
    if (!arm || id.empty()) {
      if (!label.empty() && seen_.insert(label).second) labels_.push_back(label);
      return;
    }
    const std::optional<double> threshold = NonNegativeAt(entry, "threshold");
    if (!threshold) has_no_threshold_ = true;
    const double pass_at = threshold.value_or(options_.pass_at);
    const std::string status = StringAt(entry, "case_status");
    if (!status.empty() && status != "ok") {
      Add(id, *arm, {}).error = status;
      return;
    }
    const Json& draws = Member(Member(entry, "generation"), "draws");
    if (!draws.is_array() || draws.empty()) {
      TakeGeneration(id, *arm, pass_at, entry, Member(entry, "usage"));
      is_single_ = true;
      return;
    }
    for (const Json& draw : draws) TakeDraw(id, *arm, pass_at, draw);
  }

  Result<ImportedResults> Finish(const std::string& source) {
    if (results_.answers.empty())
      return InputError(
          fmt::format("{}: no case was measured with or without the skill; {}", source, LabelsHint(labels_)));
    results_.AddNote(
        "Each generation counts once, however often its judge scored it: it passes if the mean score reaches the "
        "case's threshold.");
    if (has_no_threshold_)
      results_.AddNote(
          fmt::format("Cases without a threshold pass at {:.4g} % (--pass-at).", options_.pass_at * 100.0));
    if (is_single_)
      results_.AddNote("The receipt has one generation for each case and mode; the spread it reports is the judge's.");
    results_.AddNote("A receipt has hashes of answers and prompts, not their texts.");
    if (unmeasured_ > 0)
      results_.AddNote(fmt::format("{} without a score left out.", Counted(unmeasured_, "generation")));
    return std::move(results_);
  }

  ImportedResults& results() { return results_; }

 private:
  ImportedAnswer& Add(const std::string& id, Arm arm, ImportedAnswer answer) {
    answer.case_id = id;
    answer.arm = arm;
    answer.model = model_;
    results_.AddCase(id, "");
    return results_.answers.emplace_back(std::move(answer));
  }

  void TakeDraw(const std::string& id, Arm arm, double pass_at, const Json& draw) {
    const std::string status = StringAt(draw, "status");
    if (status.empty() || status == "measured") return TakeGeneration(id, arm, pass_at, draw, Member(draw, "usage"));
    ImportedAnswer answer;
    answer.error = status;
    if (const Json& index = Member(draw, "draw_index"); index.is_number_integer())
      answer.number = NumberAs<std::int64_t>(index);
    Add(id, arm, std::move(answer));
  }

  void TakeGeneration(const std::string& id, Arm arm, double pass_at, const Json& generation, const Json& usage) {
    const std::optional<double> score = ScoreOf(generation);
    if (!score) {
      ++unmeasured_;
      return;
    }
    ImportedAnswer answer;
    answer.checks.push_back(ScoreCheck(*score, pass_at));
    if (const Json& index = Member(generation, "draw_index"); index.is_number_integer())
      answer.number = NumberAs<std::int64_t>(index);
    TakeUsage(usage, answer);
    Add(id, arm, std::move(answer));
  }

  std::string model_;
  const ImportOptions& options_;
  ImportedResults results_;
  std::set<std::string> seen_;
  std::vector<std::string> labels_;
  std::size_t unmeasured_ = 0;
  bool has_no_threshold_ = false;
  bool is_single_ = false;
};

}  // namespace

bool IsDriftproofReceipt(const Json& json) {
  return Member(json, "schema_version").is_string() && Member(Member(json, "results"), "cases").is_array() &&
         Member(json, "suite").is_object();
}

Result<ImportedResults> ResultsOfDriftproof(const Json& json, const std::string& source, const ImportOptions& options) {
  ReceiptReader reader(json, options);
  for (const Json& entry : Member(Member(json, "results"), "cases")) reader.Take(entry);
  reader.results().format = "Driftproof";
  reader.results().skill = StringAt(Member(json, "skill"), "name");
  reader.results().time = StringAt(Member(json, "run"), "date_utc");
  return reader.Finish(source);
}

}  // namespace upskill
