// SPDX-License-Identifier: Apache-2.0
#include "eval/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "skill/lineage.h"
#include "util/files.h"
#include "util/hash.h"

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
  return json;
}

SkillSnapshot SkillFromJson(const Json& skill) {
  return {skill.at("name").get<std::string>(), JsonGet<std::string>(skill, "folder", ""),
          skill.at("body").get<std::string>(), skill.at("sha256").get<std::string>(), StringAt(skill, "lineage")};
}

Result<Sampling> SamplingFromJson(const Json& json) {
  Sampling sampling;
  if (const Json& temperature = json.at("temperature"); !temperature.is_null())
    sampling.temperature = temperature.get<double>();
  ASSIGN_OR_RETURN(sampling.max_tokens, NumberAt<int>(json, "max_tokens"));
  ASSIGN_OR_RETURN(sampling.seed, NumberAt<std::uint64_t>(json, "seed"));
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

VerdictOptions VerdictFromJson(const Json& json) {
  const VerdictOptions defaults;
  return {JsonGet(json, "alpha", defaults.alpha), JsonGet(json, "margin", defaults.margin),
          JsonGet(json, "min_lift", defaults.min_lift)};
}

}  // namespace

SkillSnapshot Snapshot(const Skill& skill) {
  return {skill.name, skill.folder.string(), skill.body, Sha256Hex(skill.body), LineageOf(skill.folder)};
}

SkillSnapshot Snapshot(const std::string& name, const std::string& body) {
  return {name, "", body, Sha256Hex(body), ""};
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
  if (plan.shard.of > 1) json["shard"] = {{"index", plan.shard.index}, {"of", plan.shard.of}};
  if (plan.planned_rounds > 0) json["planned_rounds"] = plan.planned_rounds;
  if (!plan.terms.empty()) json["terms"] = TermsToJson(plan.terms);
  if (!plan.trial.empty()) json["trial"] = plan.trial;
  if (!plan.offers_cache) json["offers_cache"] = false;
  if (plan.has_arm(Arm::kPrevious)) json["previous"] = SkillToJson(plan.previous);
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
    Plan plan;
    plan.run = json.at("run").get<std::string>();
    plan.created = JsonGet<std::string>(json, "created", "");
    plan.skill = SkillFromJson(json.at("skill"));
    const Json& suite = json.at("suite");
    ASSIGN_OR_RETURN(plan.suite, ParseSuite(DumpJson(suite.at("document")), source));
    plan.suite.source = JsonGet<std::string>(suite, "source", "");
    for (const Json& student : json.at("students")) {
      Student listed{student.at("model").get<std::string>(), student.at("name").get<std::string>(),
                     student.at("identity").get<std::string>()};
      const bool twice = std::any_of(plan.students.begin(), plan.students.end(),
                                     [&](const Student& other) { return other.spec == listed.spec; });
      if (twice) return malformed(fmt::format("the student '{}' is listed twice", listed.spec));
      plan.students.push_back(std::move(listed));
    }
    for (const Json& arm : json.at("arms")) {
      ASSIGN_OR_RETURN(const Arm known, ArmFromName(arm.get<std::string>()));
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
    const Result<Sampling> sampling = SamplingFromJson(json.at("sampling"));
    if (!sampling) return malformed(sampling.error().message);
    plan.sampling = *sampling;
    plan.system_prompt = json.at("system_prompt").get<std::string>();
    plan.verdict = VerdictFromJson(Member(json, "verdict"));
    plan.terms = TermsFromJson(Member(json, "terms"));
    plan.share = AlphaShareFromJson(Member(json, "alpha_share"));
    if (const auto shard = json.find("shard"); shard != json.end()) {
      plan.shard = {JsonGet(*shard, "index", -1), JsonGet(*shard, "of", 0)};
      if (plan.shard.of < 1 || plan.shard.index < 0 || plan.shard.index >= plan.shard.of)
        return malformed(fmt::format("shard {} of {}", plan.shard.index, plan.shard.of));
    }
    plan.trial = JsonGet<std::string>(json, "trial", "");
    plan.offers_cache = JsonGet(json, "offers_cache", true);
    plan.stop_when_decided = JsonGet(json, "stop_when_decided", false);
    if (plan.has_arm(Arm::kPrevious)) plan.previous = SkillFromJson(json.at("previous"));
    if (plan.has_arm(Arm::kPlacebo)) plan.placebo = json.at("placebo").get<std::string>();
    return plan;
  } catch (const Json::exception& e) {
    return malformed(e.what());
  }
}

Result<Plan> LoadPlan(const std::filesystem::path& run_folder) {
  const std::filesystem::path file = run_folder / "plan.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file.string()));
  return PlanFromJson(json, file.string());
}

}  // namespace upskill
