// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "skill/lineage.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/stored_json.h"

#ifndef UPSKILL_VERSION
#error "UPSKILL_VERSION comes from the build"
#endif

namespace upskill {

const char* ArmName(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "baseline";
    case Arm::kSkill:
      return "skill";
    case Arm::kPlacebo:
      return "placebo";
    case Arm::kPrevious:
      return "previous";
  }
  return "baseline";
}

Result<Arm> ArmFromName(std::string_view name) {
  for (const Arm arm : {Arm::kBaseline, Arm::kSkill, Arm::kPlacebo, Arm::kPrevious}) {
    if (name == ArmName(arm)) return arm;
  }
  return InputError(fmt::format("unknown arm '{}'", name));
}

namespace {

Json SkillToJson(const SkillSnapshot& skill) {
  Json json = {{"name", skill.name}, {"folder", skill.folder}, {"sha256", skill.sha256}, {"body", skill.body}};
  if (!skill.lineage.empty()) json["lineage"] = skill.lineage;
  if (!skill.description.empty()) json["description"] = skill.description;
  return json;
}

SkillSnapshot SkillFromJson(const StoredJson& skill) {
  return {skill.at("name").text(),   StringAt(skill.json(), "folder"),  skill.at("body").text(),
          skill.at("sha256").text(), StringAt(skill.json(), "lineage"), StringAt(skill.json(), "description")};
}

Sampling SamplingFromJson(const StoredJson& json) {
  Sampling sampling;
  if (const StoredJson temperature = json.at("temperature"); !temperature.json().is_null())
    sampling.temperature = temperature.number<double>();
  sampling.max_tokens = json.at("max_tokens").number<int>();
  sampling.seed = json.at("seed").number<std::uint64_t>();
  return sampling;
}

Json TermsToJson(const RunTerms& terms) {
  return {{"gate", terms.gate.empty() ? Json(nullptr) : Json(terms.gate)},
          {"max_cost_usd", JsonOrNull(terms.max_cost_usd)},
          {"max_tokens_total", JsonOrNull(terms.max_tokens)},
          {"timeout_seconds", JsonOrNull(terms.timeout_seconds)}};
}

// A limit that isn't a positive number is none.
template <typename T>
std::optional<T> LimitAt(const Json& json, const char* key) {
  const T limit = JsonGet(json, key, T{0});
  return limit > T{0} ? std::optional(limit) : std::nullopt;
}

RunTerms TermsFromJson(const Json& json) {
  return {StringAt(json, "gate"), LimitAt<double>(json, "max_cost_usd"),
          LimitAt<std::int64_t>(json, "max_tokens_total"), LimitAt<double>(json, "timeout_seconds")};
}

Json JudgeToJson(const RunJudge& judge) {
  Json json = {{"model", judge.spec}, {"name", judge.name}, {"identity", judge.identity}, {"rubrics", judge.rubrics}};
  if (!judge.checked) return json;
  Json& checked = json["checked"] = {{"time", judge.checked->time}, {"rubrics", judge.checked->rubrics_checked}};
  PutCounts(judge.checked->counts, checked);
  checked["effective"] = EffectiveToJson(judge.checked->effective);
  if (judge.checked->arms_differ) checked["arms_differ"] = true;
  return json;
}

RunJudge JudgeFromJson(const StoredJson& stored) {
  RunJudge judge{stored.at("model").text(), stored.at("name").text(), stored.at("identity").text(),
                 JsonGet(stored.json(), "rubrics", 0), std::nullopt};
  if (!stored.has("checked")) return judge;
  const StoredJson checked = stored.at("checked");
  const ConfusionCounts counts = CountsFromJson(checked.json());
  judge.checked = {counts, StringAt(checked.json(), "time"), JsonGet(checked.json(), "rubrics", 0),
                   EffectiveFromJson(Member(checked.json(), "effective"), counts),
                   JsonGet(checked.json(), "arms_differ", false)};
  return judge;
}

Json FolderToJson(const SkillFolder& folder) {
  return {{"name", folder.name},
          {"description", folder.description},
          {"files", FileChangesToJson({folder.files, {}}).at("written")}};
}

Result<SkillFolder> FolderFromJson(const StoredJson& stored) {
  const Json files = {{"written", stored.at("files").json()}, {"removed", Json::array()}};
  ASSIGN_OR_RETURN(FileChanges read, FileChangesFromJson(files));
  return SkillFolder{stored.at("name").text(), stored.at("description").text(), std::move(read.written)};
}

Json WorkspaceToJson(const WorkspacePlan& workspace, bool has_previous) {
  Json tools = Json::array();
  for (const Tool& tool : workspace.tools)
    tools.push_back({{"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}});
  Json json = {{"max_turns", workspace.max_turns},         {"load", SkillLoadName(workspace.load)},
               {"case_seconds", workspace.case_seconds},   {"case_tokens", workspace.case_tokens},
               {"system_prompt", workspace.system_prompt}, {"tools", std::move(tools)},
               {"skill", FolderToJson(workspace.skill)},   {"skill_prompt", workspace.skill_prompt}};
  if (workspace.mode != CaseMode::kUnset) json["mode"] = CaseModeName(workspace.mode);
  if (workspace.activation) {
    json["others"] = Json::array();
    for (const SkillFolder& other : workspace.others) json["others"].push_back(FolderToJson(other));
  }
  if (!has_previous) return json;
  json["previous"] = FolderToJson(workspace.previous);
  json["previous_prompt"] = workspace.previous_prompt;
  return json;
}

Result<WorkspacePlan> WorkspaceFromJson(const StoredJson& stored, bool has_previous) {
  constexpr int kMostTurns = 10'000;
  const Json& json = stored.json();
  WorkspacePlan workspace;
  workspace.mode = CaseModeFromName(StringAt(json, "mode")).value_or(CaseMode::kUnset);
  workspace.max_turns = std::clamp(stored.at("max_turns").number<int>(), 1, kMostTurns);
  ASSIGN_OR_RETURN(workspace.load, SkillLoadFromName(stored.at("load").text()));
  workspace.case_seconds = std::clamp(stored.at("case_seconds").number<double>(), 0.001, 1e6);
  workspace.case_tokens = std::max<std::int64_t>(0, JsonGet<std::int64_t>(json, "case_tokens", 0));
  workspace.system_prompt = stored.at("system_prompt").text();
  for (const StoredJson& tool : stored.at("tools").elements())
    workspace.tools.push_back({tool.at("name").text(), tool.at("description").text(), tool.at("schema").json()});
  ASSIGN_OR_RETURN(workspace.skill, FolderFromJson(stored.at("skill")));
  workspace.skill_prompt = stored.at("skill_prompt").text();
  if (stored.has("others")) {
    workspace.activation = true;
    for (const StoredJson& other : stored.at("others").elements()) {
      ASSIGN_OR_RETURN(SkillFolder read, FolderFromJson(other));
      workspace.others.push_back(std::move(read));
    }
  }
  if (!has_previous) return workspace;
  ASSIGN_OR_RETURN(workspace.previous, FolderFromJson(stored.at("previous")));
  workspace.previous_prompt = stored.at("previous_prompt").text();
  return workspace;
}

Json ImportToJson(const ImportSource& imported) {
  return {{"format", imported.format},
          {"source", imported.source},
          {"sha256", imported.sha256},
          {"how", imported.how},
          {"notes", imported.notes}};
}

ImportSource ImportFromJson(const StoredJson& imported) {
  return {imported.at("format").text(), StringAt(imported.json(), "source"), imported.at("sha256").text(),
          StringAt(imported.json(), "how"), imported.at("notes").texts()};
}

VerdictOptions VerdictFromJson(const Json& json) {
  const VerdictOptions defaults;
  return {JsonGet(json, "alpha", defaults.alpha), JsonGet(json, "margin", defaults.margin),
          JsonGet(json, "min_lift", defaults.min_lift)};
}

// What the run is part of, and who judges it.
void TakeOrigin(const StoredJson& stored, Plan& plan) {
  const Json& json = stored.json();
  plan.trial = JsonGet<std::string>(json, "trial", "");
  plan.rechecked_from = JsonGet<std::string>(json, "rechecked_from", "");
  if (stored.has("imported")) plan.imported = ImportFromJson(stored.at("imported"));
  if (json.contains("left_out")) plan.left_out = stored.at("left_out").texts();
  plan.offers_cache = JsonGet(json, "offers_cache", true);
  plan.stop_when_decided = JsonGet(json, "stop_when_decided", false);
  if (stored.has("judge")) plan.judge = JudgeFromJson(stored.at("judge"));
}

}  // namespace

void PutCounts(const ConfusionCounts& counts, Json& json) {
  json["both_pass"] = counts.both_pass;
  json["judge_only"] = counts.judge_only;
  json["people_only"] = counts.people_only;
  json["both_fail"] = counts.both_fail;
}

ConfusionCounts CountsFromJson(const Json& json) {
  const auto count = [&json](const char* key) {
    constexpr std::int64_t kMost = 1'000'000;
    return std::clamp<std::int64_t>(JsonGet<std::int64_t>(json, key, 0), 0, kMost);
  };
  return {count("both_pass"), count("judge_only"), count("people_only"), count("both_fail")};
}

Json EffectiveToJson(const EffectiveCounts& counts) {
  return Json::array({counts.both_pass, counts.judge_only, counts.people_only, counts.both_fail});
}

EffectiveCounts EffectiveFromJson(const Json& json, const ConfusionCounts& counts) {
  constexpr std::size_t kNumbers = 4;
  const auto is_count = [](const Json& one) {
    return one.is_number() && one.get<double>() >= 0.0 && one.get<double>() <= 1e6;
  };
  if (!json.is_array() || json.size() != kNumbers || !std::all_of(json.begin(), json.end(), is_count))
    return EffectiveOf(counts);
  const EffectiveCounts stored = {json[0].get<double>(), json[1].get<double>(), json[2].get<double>(),
                                  json[3].get<double>()};
  return stored == EffectiveCounts() ? EffectiveOf(counts) : stored;
}

SkillSnapshot Snapshot(const Skill& skill) {
  return {skill.name,       skill.folder.string(), skill.body, Sha256Hex(skill.body), LineageOf(skill.folder),
          skill.description};
}

SkillSnapshot Snapshot(const std::string& name, const std::string& body) {
  return {name, "", body, Sha256Hex(body), "", ""};
}

bool Plan::acts_in(const Case& test_case) const {
  if (!workspace || test_case.fill) return false;
  const CaseMode mode = workspace->mode == CaseMode::kUnset ? test_case.mode : workspace->mode;
  return mode == CaseMode::kWorkspace;
}

Json PlanToJson(const Plan& plan) {
  Json arms = Json::array();
  for (const Arm arm : plan.arms) arms.push_back(ArmName(arm));
  Json students = Json::array();
  for (const Student& student : plan.students) {
    students.push_back({{"model", student.spec}, {"name", student.name}, {"identity", student.identity}});
  }
  Json json = {
      {"schema", kPlanSchema},
      {"version", UPSKILL_VERSION},
      {"run", plan.run},
      {"created", plan.created},
      {"skill", SkillToJson(plan.skill)},
      {"suite", {{"source", plan.suite.source.string()}, {"document", SuiteToJson(plan.suite)}}},
      {"students", students},
      {"arms", arms},
      {"rounds", plan.rounds},
      {"sampling",
       {{"temperature", plan.sampling.temperature ? Json(*plan.sampling.temperature) : Json(nullptr)},
        {"max_tokens", plan.sampling.max_tokens},
        {"seed", plan.sampling.seed}}},
      {"system_prompt", plan.system_prompt},
      {"verdict",
       {{"alpha", plan.verdict.alpha}, {"margin", plan.verdict.margin}, {"min_lift", plan.verdict.min_lift}}},
      {"stop_when_decided", plan.stop_when_decided},
  };
  if (plan.share.look > 0 || plan.share.comparisons > 1) json["alpha_share"] = AlphaShareToJson(plan.share);
  if (plan.judge) json["judge"] = JudgeToJson(*plan.judge);
  if (plan.shard.of > 1) json["shard"] = {{"index", plan.shard.index}, {"of", plan.shard.of}};
  if (plan.planned_rounds > 0) json["planned_rounds"] = plan.planned_rounds;
  if (!plan.terms.empty()) json["terms"] = TermsToJson(plan.terms);
  if (!plan.trial.empty()) json["trial"] = plan.trial;
  if (!plan.rechecked_from.empty()) json["rechecked_from"] = plan.rechecked_from;
  if (plan.imported) json["imported"] = ImportToJson(*plan.imported);
  if (!plan.left_out.empty()) json["left_out"] = plan.left_out;
  if (!plan.offers_cache) json["offers_cache"] = false;
  if (plan.workspace) json["workspace"] = WorkspaceToJson(*plan.workspace, plan.has_arm(Arm::kPrevious));
  if (plan.has_arm(Arm::kPrevious) || !plan.previous.sha256.empty()) json["previous"] = SkillToJson(plan.previous);
  if (plan.has_arm(Arm::kPlacebo)) json["placebo"] = plan.placebo;
  return json;
}

Result<Plan> PlanFromJson(const Json& json, const std::string& source) {
  const int schema = JsonGet(json, "schema", 0);
  if (schema < 1 || schema > kPlanSchema) {
    if (schema < 1) return InputError(fmt::format("{}: not an upskill plan: unknown schema {}", source, schema));
    return InputError(fmt::format("{}: written by a newer upskill (schema {}; upskill {} reads schema {})", source,
                                  schema, UPSKILL_VERSION, kPlanSchema));
  }
  const auto malformed = [&](const std::string& why) {
    return InputError(fmt::format("{}: not an upskill plan: {}", source, why));
  };
  try {
    const StoredJson stored(json);
    Plan plan;
    plan.run = stored.at("run").text();
    plan.created = JsonGet<std::string>(json, "created", "");
    plan.skill = SkillFromJson(stored.at("skill"));
    const StoredJson suite = stored.at("suite");
    ASSIGN_OR_RETURN(plan.suite, ParseSuite(DumpJson(suite.at("document").json()), source));
    plan.suite.source = StringAt(suite.json(), "source");
    for (const StoredJson& student : stored.at("students").elements()) {
      Student listed{student.at("model").text(), student.at("name").text(), student.at("identity").text()};
      const bool twice = std::any_of(plan.students.begin(), plan.students.end(),
                                     [&](const Student& other) { return other.spec == listed.spec; });
      if (twice) return malformed(fmt::format("the student '{}' is listed twice", listed.spec));
      plan.students.push_back(std::move(listed));
    }
    for (const std::string& arm : stored.at("arms").texts()) {
      ASSIGN_OR_RETURN(const Arm known, ArmFromName(arm));
      if (std::find(plan.arms.begin(), plan.arms.end(), known) != plan.arms.end())
        return malformed("an arm is listed twice");
      plan.arms.push_back(known);
    }
    if (plan.students.empty() || plan.arms.empty()) return malformed("it has no students or no arms");
    plan.rounds = JsonGet(json, "rounds", 0);
    if (plan.rounds < 1 || plan.rounds > kMaxRounds)
      return malformed(fmt::format("{} rounds; expected 1 to {}", plan.rounds, kMaxRounds));
    plan.planned_rounds = JsonGet(json, "planned_rounds", 0);
    if (plan.planned_rounds < 0 || plan.planned_rounds > kMaxRounds)
      return malformed(fmt::format("{} planned rounds; expected 1 to {}", plan.planned_rounds, kMaxRounds));
    plan.sampling = SamplingFromJson(stored.at("sampling"));
    plan.system_prompt = stored.at("system_prompt").text();
    plan.verdict = VerdictFromJson(Member(json, "verdict"));
    plan.terms = TermsFromJson(Member(json, "terms"));
    plan.share = AlphaShareFromJson(Member(json, "alpha_share"));
    if (const auto shard = json.find("shard"); shard != json.end()) {
      plan.shard = {JsonGet(*shard, "index", -1), JsonGet(*shard, "of", 0)};
      if (plan.shard.of < 1 || plan.shard.index < 0 || plan.shard.index >= plan.shard.of)
        return malformed(fmt::format("shard {} of {}", plan.shard.index, plan.shard.of));
    }
    TakeOrigin(stored, plan);
    if (stored.has("workspace")) {
      ASSIGN_OR_RETURN(plan.workspace,
                       WorkspaceFromJson(stored.at("workspace"), plan.has_arm(Arm::kPrevious)).With(source));
    }
    if (plan.has_arm(Arm::kPrevious) || stored.has("previous")) plan.previous = SkillFromJson(stored.at("previous"));
    if (plan.has_arm(Arm::kPlacebo)) plan.placebo = stored.at("placebo").text();
    return plan;
  } catch (const StoredJsonFault& fault) {
    return NotAsWritten(source, fault, "start a new run");
  }
}

Status RefuseImported(const Plan& plan, const std::string& what) {
  if (!plan.imported) return {};
  return InputError(
      fmt::format("can't {} run {}: it was imported from {} of {}, and neither the model nor the checks are here; "
                  "`upskill report {}` shows it",
                  what, plan.run, plan.imported->source, plan.imported->format, plan.run));
}

Result<Plan> LoadPlan(const std::filesystem::path& run_folder) {
  const std::filesystem::path file = run_folder / "plan.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file.string()));
  return PlanFromJson(json, file.string());
}

}  // namespace upskill
