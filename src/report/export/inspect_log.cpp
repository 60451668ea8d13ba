// SPDX-License-Identifier: Apache-2.0
#include "report/export/inspect_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "report/export/benchmark_json.h"
#include "report/export/derived_file.h"
#include "report/export/inspect_sample.h"
#include "report/terminal/figures.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/known_secrets.h"
#include "util/text.h"
#include "util/zip_writer.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kLogVersion = 2;
constexpr const char* kUnknownTime = "1970-01-01T00:00:00Z";

// Case by case, the arms of a case next to each other.
void ForEachSample(const JudgedRun& run, std::size_t student, const std::function<void(Json)>& use) {
  const std::vector<std::string> ids = InspectIds(run.plan().suite);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const Arm arm : run.plan().arms) {
      for (const SamplePtr& sample : run.data.samples(student, arm, i))
        use(InspectSample(run.plan(), *sample, i, ids[i]));
    }
  }
}

Json GenerateConfig(const Sampling& sampling) {
  Json config = {{"max_tokens", sampling.max_tokens}};
  if (sampling.temperature) config["temperature"] = *sampling.temperature;
  return config;
}

Json EvalSpec(const JudgedRun& run, std::size_t student, const std::string& version) {
  const Plan& plan = run.plan();
  Json ids = Json::array();
  for (const std::string& id : InspectIds(plan.suite)) {
    for (const Arm arm : plan.arms) ids.push_back(InspectSampleId(id, arm));
  }
  Json arms = Json::array();
  for (const Arm arm : plan.arms) arms.push_back(ArmName(arm));
  const std::string log_id = Sha256Hex(fmt::format("{}\n{}", plan.run, plan.students[student].spec)).substr(0, 22);
  Json metadata = {{"run", plan.run}, {"skill", plan.skill.name}, {"skill_sha256", plan.skill.sha256}, {"arms", arms}};
  if (plan.judge) metadata["judge"] = plan.judge->spec;
  if (const std::optional<Verdict> word = WordOf(run, student)) metadata["verdict"] = VerdictName(*word);
  return {{"eval_id", log_id},
          {"run_id", plan.run},
          {"created", InspectTime(plan.created, kUnknownTime)},
          {"task", plan.skill.name.empty() ? "skill" : plan.skill.name},
          {"task_id", log_id},
          {"task_version", 0},
          {"task_args", {{"arms", std::move(arms)}}},
          {"tags", Json::array({"upskill"})},
          {"dataset",
           {{"name", plan.suite.source.filename().string()},
            {"samples", ids.size()},
            {"sample_ids", std::move(ids)},
            {"shuffled", false}}},
          {"model", plan.students[student].spec},
          {"model_generate_config", GenerateConfig(plan.sampling)},
          {"config", {{"epochs", std::max(1, run.summary.students[student].rounds)}}},
          {"packages", {{"upskill", version}}},
          {"metadata", std::move(metadata)}};
}

// Pass rates by arm, and their difference.
Json Results(const JudgedRun& run, std::size_t student) {
  std::size_t cells = 0;
  std::size_t answered = 0;
  Json metrics = Json::object();
  const auto add = [&](const std::string& name, double value) {
    metrics[name] = {{"name", name}, {"value", value}, {"params", Json::object()}};
  };
  const StudentSummary& summary = run.summary.students[student];
  for (const Arm arm : {Arm::kSkill, Arm::kBaseline, Arm::kPrevious, Arm::kPlacebo}) {
    const ArmSummary* counts = ArmOf(summary, arm);
    if (counts == nullptr) continue;
    cells += counts->cells;
    answered += counts->answered;
    if (const std::optional<double> rate = counts->rate()) add(fmt::format("accuracy ({})", ArmName(arm)), *rate);
  }
  if (const std::optional<double> lift = LiftOf(run, student)) add("lift", *lift);
  return {{"total_samples", cells},
          {"completed_samples", answered},
          {"scores", Json::array({Json{{"name", "passed"},
                                       {"scorer", "passed"},
                                       {"scored_samples", answered},
                                       {"unscored_samples", cells - answered},
                                       {"params", Json::object()},
                                       {"metrics", std::move(metrics)}}})}};
}

Json Stats(const JudgedRun& run, std::size_t student) {
  const std::string started = InspectTime(run.plan().created, kUnknownTime);
  std::string completed = started;
  Json usage = Json::object();
  for (const Arm arm : run.plan().arms) {
    for (const SamplePtr& sample : run.data.samples(student, arm)) {
      completed = std::max(completed, InspectTime(sample->time, ""));
      AddInspectUsage(InspectModelUsage(run.plan(), *sample), usage);
    }
  }
  return {{"started_at", started}, {"completed_at", completed}, {"model_usage", std::move(usage)}};
}

// A cell without a final sample: the run was interrupted, or is still in progress.
bool HasOpenCells(const StudentSummary& summary) {
  return std::any_of(summary.arms.begin(), summary.arms.end(),
                     [](const auto& arm) { return arm.second.answered + arm.second.errors < arm.second.cells; });
}

Json EvalPlan(const Plan& plan) {
  return {{"name", "plan"},
          {"steps", Json::array({Json{{"solver", "generate"}, {"params", Json::object()}}})},
          {"config", GenerateConfig(plan.sampling)}};
}

// As it may be stored: what comes later can't be masked without breaking the archive's checksums.
std::string Text(const Json& json) { return MaskSecrets(DumpJson(json)); }

Result<std::string> LogText(const JudgedRun& run, std::size_t student, const std::string& version, bool as_json) {
  if (as_json) return InspectJson(run, student, version);
  return InspectArchive(run, student, version);
}

std::size_t SamplesOf(const JudgedRun& run, std::size_t student) {
  std::size_t samples = 0;
  for (const Arm arm : run.plan().arms) samples += run.data.samples(student, arm).size();
  return samples;
}

Result<InspectLogs> WriteLogs(std::span<const JudgedRun> runs, const Folder& folder, const std::string& version) {
  InspectLogs logs;
  for (const JudgedRun& run : runs) {
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
      ASSIGN_OR_RETURN(const std::string text, InspectArchive(run, i, version));
      const std::string name = FileNamePart(run.plan().skill.name + "-" + run.plan().students[i].name);
      RETURN_IF_ERROR(WriteDerivedFile(folder, fmt::format("{}-{}.eval", ++logs.files, name), text));
      logs.samples += SamplesOf(run, i);
    }
  }
  return logs;
}

}  // namespace

Json InspectHeader(const JudgedRun& run, std::size_t student, const std::string& version) {
  return {{"version", kLogVersion},
          {"status", HasOpenCells(run.summary.students[student]) ? "cancelled" : "success"},
          {"eval", EvalSpec(run, student, version)},
          {"plan", EvalPlan(run.plan())},
          {"results", Results(run, student)},
          {"stats", Stats(run, student)}};
}

Result<std::string> InspectArchive(const JudgedRun& run, std::size_t student, const std::string& version) {
  const Json header = InspectHeader(run, student, version);
  ZipWriter zip;
  const Json start = {{"version", kLogVersion}, {"eval", header["eval"]}, {"plan", header["plan"]}};
  Status added = zip.Add("_journal/start.json", Text(start));
  Json summaries = Json::array();
  ForEachSample(run, student, [&](const Json& sample) {
    if (!added) return;
    const std::string name =
        fmt::format("samples/{}_epoch_{}.json", StringAt(sample, "id"), JsonGet(sample, "epoch", 1));
    added = zip.Add(name, Text(sample));
    summaries.push_back(InspectSummary(sample));
  });
  if (added) added = zip.Add("summaries.json", Text(summaries));
  if (added) added = zip.Add("header.json", Text(header));
  if (!added) return added.error().With("the log is too large; name a file ending in .json instead");
  return std::move(zip).Finish();
}

std::string InspectJson(const JudgedRun& run, std::size_t student, const std::string& version) {
  Json log = InspectHeader(run, student, version);
  Json samples = Json::array();
  ForEachSample(run, student, [&](Json sample) { samples.push_back(std::move(sample)); });
  log["samples"] = std::move(samples);
  return Text(log) + "\n";
}

Result<InspectLogs> ExportToInspect(std::span<const JudgedRun> runs, const fs::path& output,
                                    const std::string& version) {
  std::size_t logs = 0;
  for (const JudgedRun& run : runs) logs += run.plan().students.size();
  const std::string extension = ToLowerAscii(output.extension().string());
  if (extension == ".eval" || extension == ".json") {
    if (logs != 1) {
      return InputError(fmt::format("{}: a log is of one model in one run, and these are {}; name a folder for them",
                                    output.string(), logs));
    }
    ASSIGN_OR_RETURN(const std::string text, LogText(runs.front(), 0, version, extension == ".json"));
    RETURN_IF_ERROR(WriteOutputFile(output, text));
    return InspectLogs{1, SamplesOf(runs.front(), 0)};
  }
  std::error_code code;
  if (fs::exists(fs::symlink_status(output, code))) {
    return InputError(fmt::format(
        "{} already exists and is left unchanged; name another folder with -o, or a file that ends in .eval",
        output.string()));
  }
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(output));
  return WriteLogs(runs, folder, version).With(fmt::format("{} is incomplete; remove it", output.string()));
}

}  // namespace upskill
