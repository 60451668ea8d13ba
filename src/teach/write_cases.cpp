// SPDX-License-Identifier: Apache-2.0
#include "teach/write_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "check/check.h"
#include "model/structured_answer.h"
#include "sandbox/sandbox.h"
#include "skill/case_reader.h"
#include "skill/case_writer.h"
#include "skill/check_types.h"
#include "teach/draft.h"
#include "teach/one_line.h"
#include "teach/read_parts.h"
#include "util/fences.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxAnswerTokens = 8192;
constexpr std::size_t kMaxTokensWithPrograms = 12'000;  // where cases have files and programs that test them
constexpr std::size_t kMaxCaseBytes = 20'000;

Json Strings(std::size_t most, std::size_t characters) {
  return {{"type", "array"}, {"maxItems", most}, {"items", StringSchema(characters)}};
}

std::vector<std::string> TextsOf(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& text : json.value(key, Json::array())) {
    if (text.is_string() && !Trim(text.get<std::string>()).empty()) texts.push_back(text);
  }
  return texts;
}

bool CitesOne(const Json& json, const std::set<std::string>& ids) {
  const std::vector<std::string> cites = TextsOf(json, "cites");
  return std::any_of(cites.begin(), cites.end(), [&](const std::string& id) { return ids.contains(id); });
}

std::size_t Missing(std::size_t wanted, std::size_t had) { return wanted - std::min(wanted, had); }

// Whether there is something to run: a file that was written, or a block of code.
bool HasCode(const Material& material) {
  const auto has_block = [](const std::string& text) { return text.find("```") != std::string::npos; };
  return has_block(material.existing.body) ||
         std::any_of(material.items.begin(), material.items.end(), [&](const MaterialItem& item) {
           return std::holds_alternative<FileDetail>(item.detail) || has_block(item.text);
         });
}

// What is asked for in one request after another.
struct Wanted {
  std::size_t total = 0;
  TestRunners runners;
  CaseShares shares;
};

Wanted WantedCases(const CaseOptions& options, const Material& material) {
  Wanted wanted{options.cases, FindTestRunners(DefaultSandbox()), SharesWanted(options.cases)};
  if (wanted.runners.Any() && (options.about_code || HasCode(material))) {
    wanted.shares.executed = (options.cases + 1) / 2;
    if (!wanted.runners.languages.empty()) wanted.shares.gaps = (3 * wanted.shares.executed + 3) / 4;
  }
  return wanted;
}

// What has become of a teacher's cases so far.
struct CaseIntake {
  VettedCases vetted;
  std::vector<Case> aside;  // beyond their share
  std::string why_aside;    // a line of the prompt for each of these
  std::string broken;       // those whose checks run something and which don't work yet, with the problem
};

// `broken`: CaseIntake::broken, of the last answer alone.
std::string CasesPrompt(const Material& material, const std::string& items, const Wanted& all, const CaseIntake& intake,
                        const std::string& broken, const Prompts& prompts) {
  const VettedCases& vetted = intake.vetted;
  const std::size_t missing = all.total - vetted.cases.size();
  const CaseShares wanted = all.shares;
  const CaseShares had = SharesOf(vetted.cases);
  PromptValues values = ValuesOf(material, items);
  values["count"] = missing == 1
                        ? "one test"
                        : Counted(missing, "test") +
                              ", each about a different fact, or about the central one in a different situation";
  // Empty if none is missing: the prompt then leaves the sentence out.
  const auto text_of = [](std::size_t count) { return count == 0 ? std::string() : std::to_string(count); };
  values["work"] = text_of(Missing(wanted.work, had.work));
  values["transfers"] = text_of(Missing(wanted.transfers, had.transfers));
  values["executed"] = text_of(Missing(wanted.executed, had.executed));
  values["gaps"] = text_of(Missing(wanted.gaps, had.gaps));
  values["languages"] = LanguagesText(all.runners);
  values["cuda"] = all.runners.cuda ? "yes" : "";
  values["broken"] = broken;
  values["aside"] = intake.why_aside;
  for (const Case& test_case : vetted.cases)
    values["covered"] += "- " + CutToColumns(OneLine(test_case.input), 200) + "\n";
  for (const std::string& rejected : vetted.rejected) values["rejected"] += "- " + rejected + "\n";
  return prompts.Render("cases", values);
}

bool HasTag(const Case& test_case, std::string_view tag) {
  return std::find(test_case.tags.begin(), test_case.tags.end(), tag) != test_case.tags.end();
}

// Cases of one kind are much alike: what they ask for, how much of it, how it is checked, and whether it is new.
std::string KindOf(const Case& test_case) {
  std::string kind = fmt::format("{}", fmt::join(test_case.tags, " "));
  return kind.append(" ").append(CheckKindOf(test_case)).append(test_case.fill ? " gap" : "");
}

// What the missing cases must be instead, if there is no room for this one; empty if there is room.
std::string NeededInstead(const Case& test_case, const std::vector<Case>& cases, const Wanted& all) {
  const CaseShares one = SharesOf({test_case});
  const CaseShares had = SharesOf(cases);
  const std::size_t room = all.total - cases.size() - 1;
  if (Missing(all.shares.work, had.work + one.work) > room) return "ask for a `file`, `function` or `command`";
  if (Missing(all.shares.transfers, had.transfers + one.transfers) > room) return "be transfers";
  if (Missing(all.shares.executed, had.executed + one.executed) > room)
    return "run, compile or validate what is produced";
  if (Missing(all.shares.gaps, had.gaps + one.gaps) > room) return "have a `gap`";
  return "";
}

// The types whose keys are in the schema for a teacher's answer.
bool IsForTeachers(const CheckType& type) {
  return type.finds_value() || type.kind == CheckKind::kFileExists || type.kind == CheckKind::kKernelBuilder ||
         type.kind == CheckKind::kCudaCompile ||
         (type.kind != CheckKind::kNotRegex && type.operand != CheckOperand::kOptions &&
          type.operand != CheckOperand::kChecks);
}

// A value that a teacher wrote as a string: also as what the text means in JSON, such as 5 or true.
Json ValuesAsWritten(const std::vector<std::string>& texts) {
  Json values = Json::array();
  for (const std::string& text : texts) {
    values.push_back(text);
    const Result<Json> meant = ParseJson(text, "value");
    if (meant && (meant->is_number() || meant->is_boolean())) values.push_back(*meant);
  }
  return values;
}

Json ChecksSchema(std::size_t most, std::size_t characters, bool cuda) {
  Json types = Json::array();
  for (const CheckType& type : kCheckTypes) {
    if (IsForTeachers(type) && (cuda || type.kind != CheckKind::kCudaCompile)) types.push_back(type.name);
  }
  const Json check = {{"type", "object"},
                      {"properties",
                       {{"type", {{"type", "string"}, {"enum", types}}},
                        {"values", Strings(8, characters)},
                        {"pattern", StringSchema(characters)},
                        {"path", StringSchema(characters)},
                        {"at", StringSchema(characters)}}},
                      {"required", {"type", "values", "pattern", "path", "at"}},
                      {"additionalProperties", false}};
  return {{"type", "array"}, {"maxItems", most}, {"items", check}};
}

Json CheckFrom(const Json& from) {
  Json check = {{"type", JsonGet<std::string>(from, "type", "")}};
  const CheckType* const type = FindCheckType(check["type"].get_ref<const std::string&>());
  const auto path = JsonGet<std::string>(from, "path", "");
  if (!path.empty() && type != nullptr && type->kind != CheckKind::kKernelBuilder)
    check[type->needs_file() ? "path" : "file"] = path;
  if (type != nullptr && type->finds_value()) {
    check["at"] = JsonGet<std::string>(from, "at", "");
    const std::vector<std::string> values = TextsOf(from, "values");
    const auto pattern = JsonGet<std::string>(from, "pattern", "");
    if (!values.empty()) {
      check["one_of"] = ValuesAsWritten(values);
    } else if (!pattern.empty()) {
      check["pattern"] = pattern;
    }
  } else if (type != nullptr && type->operand == CheckOperand::kPattern) {
    check["pattern"] = JsonGet<std::string>(from, "pattern", "");
  } else if (type == nullptr || type->operand != CheckOperand::kOptions) {
    check["values"] = TextsOf(from, "values");
  }
  return check;
}

// The checks that a teacher wrote in full.
void AddChecks(const Json& json, Json& checks) {
  for (const Json& from : json.value("checks", Json::array())) checks.push_back(CheckFrom(from));
}

// `ids`: of the material's items, of which the case must cite one.
void TakeWritten(const Json& json, const std::set<std::string>& ids, const Wanted& wanted, CaseIntake& intake) {
  const auto return_whole = [&](const std::string& problem) {
    const std::string text = DumpJson(json);
    if (intake.broken.size() + text.size() < kMaxCaseBytes)
      intake.broken += fmt::format("<test>\n{}\n</test>\nProblem: {}\n", text, problem);
  };
  const auto reject = [&](const std::string& input, const std::string& problem) {
    intake.vetted.rejected.push_back(fmt::format("{}: {}", CutToColumns(OneLine(input), 60), problem));
  };
  Result<Case> test_case = CaseFromTeacher(json);
  if (!test_case) {
    reject(JsonGet<std::string>(json, "input", ""), test_case.error().message);
    if (FindMember(json, "run") != nullptr) return_whole(test_case.error().message);
    return;
  }
  if (!ids.empty() && !CitesOne(json, ids))
    return reject(test_case->input, "it cites no item of the material by its id");
  if (const std::string needed = NeededInstead(*test_case, intake.vetted.cases, wanted); !needed.empty()) {
    const std::string line =
        fmt::format("- {}: the tests still missing must {}\n", CutToColumns(OneLine(test_case->input), 60), needed);
    if (intake.why_aside.find(line) == std::string::npos) intake.why_aside += line;
    intake.aside.push_back(*std::move(test_case));
    return;
  }
  const bool runs = CheckKindOf(*test_case) == "executed";
  const std::string reason = TakeCase(*std::move(test_case), intake.vetted, true);
  if (runs && !reason.empty()) return_whole(reason);
}

}  // namespace

bool AsksForWork(const Case& test_case) {
  return HasTag(test_case, kFileTag) || HasTag(test_case, kFunctionTag) || HasTag(test_case, kCommandTag);
}

bool IsTransfer(const Case& test_case) { return HasTag(test_case, kTransferTag); }

CaseShares SharesWanted(std::size_t total) { return {(total + 1) / 2, (total + 3) / 4}; }

CaseShares SharesOf(const std::vector<Case>& cases) {
  CaseShares shares;
  for (const Case& test_case : cases) {
    shares.work += AsksForWork(test_case) ? 1 : 0;
    shares.transfers += IsTransfer(test_case) ? 1 : 0;
    const bool runs = CheckKindOf(test_case) == "executed";
    shares.executed += runs ? 1 : 0;
    shares.gaps += runs && test_case.fill ? 1 : 0;
  }
  return shares;
}

std::string NormalInput(const std::string& text) {
  std::string normal;
  for (const char c : ToLowerAscii(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      normal += c;
    } else if (!normal.empty() && normal.back() != ' ') {
      normal += ' ';
    }
  }
  return std::string(Trim(normal));
}

std::string TakeCase(Case test_case, VettedCases& vetted, bool run) {
  const auto reject = [&](const std::string& reason) {
    vetted.rejected.push_back(fmt::format("{}: {}", CutToColumns(OneLine(test_case.input), 60), reason));
    return reason;
  };
  const Result<std::vector<std::string>> weaknesses = FindCaseWeaknesses(test_case, DefaultSandbox(), run);
  if (!weaknesses) return reject(weaknesses.error().message);
  if (!weaknesses->empty()) return reject(weaknesses->front());
  const std::string input = NormalInput(test_case.input);
  std::set<std::string> ids;
  for (const Case& other : vetted.cases) {
    if (NormalInput(other.input) == input) return reject("it has the same input as another test");
    ids.insert(other.id);
  }
  if (test_case.id.empty()) test_case.id = SkillNameFrom(test_case.input);
  const std::string id = test_case.id;
  for (int k = 2; ids.contains(test_case.id); ++k) test_case.id = fmt::format("{}-{}", id, k);
  test_case.raw["id"] = test_case.id;
  vetted.cases.push_back(std::move(test_case));
  return "";
}

Json CasesSchema(std::size_t most, bool tight, const TestRunners& runners) {
  const std::size_t characters = tight ? 60 : 300;
  const Json others = Strings(tight ? 0 : 8, characters);
  Json input = StringSchema(tight ? 200 : 0);
  input["minLength"] = 8;
  Json test_case = {{"type", "object"},
                    {"properties",
                     {{"kind", {{"type", "string"}, {"enum", {kFileTag, kFunctionTag, kCommandTag, kAnswerTag}}}},
                      {"transfer", {{"type", "boolean"}}},
                      {"input", input},
                      {"contains", Strings(tight ? 2 : 8, characters)},
                      {"any_of", others},
                      {"not_contains", others},
                      {"checks", ChecksSchema(tight ? 0 : 8, characters, runners.cuda)},
                      {"output_file", StringSchema(100)},
                      {"reference", StringSchema(tight ? 300 : 0)},
                      {"cites", Strings(tight ? 2 : 12, 20)}}},
                    {"required",
                     {"kind", "transfer", "input", "contains", "any_of", "not_contains", "checks", "output_file",
                      "reference", "cites"}},
                    {"additionalProperties", false}};
  if (!tight && !runners.languages.empty()) {
    const Json schemas = RunSchemas(runners);
    for (const auto& [key, schema] : schemas.items()) test_case["properties"][key] = schema;
  }
  return {{"type", "object"},
          {"properties", {{"cases", {{"type", "array"}, {"minItems", 1}, {"maxItems", most}, {"items", test_case}}}}},
          {"required", {"cases"}},
          {"additionalProperties", false}};
}

Result<Case> CaseFromTeacher(const Json& json) {
  Json raw = {{"id", SkillNameFrom(JsonGet<std::string>(json, "input", ""))},
              {"input", JsonGet<std::string>(json, "input", "")}};
  raw["expected"] = {{"contains", TextsOf(json, "contains")}};
  Json checks = Json::array();
  for (const char* type : {"any_of", "not_contains"}) {
    const std::vector<std::string> values = TextsOf(json, type);
    if (!values.empty()) checks.push_back({{"type", type}, {"values", values}});
  }
  AddChecks(json, checks);
  raw["tags"] = Json::array({JsonGet<std::string>(json, "kind", kAnswerTag)});
  if (JsonGet(json, "transfer", false)) raw["tags"].push_back(kTransferTag);
  if (std::string file = JsonGet<std::string>(json, "output_file", ""); !file.empty())
    raw["output_file"] = std::move(file);
  if (DumpJson(json).size() > kMaxCaseBytes)
    return InputError(fmt::format("it is longer than {} bytes", kMaxCaseBytes));
  if (raw["expected"]["contains"].empty()) raw.erase("expected");
  if (!checks.empty()) raw["checks"] = checks;
  RETURN_IF_ERROR(AddRun(json, raw));
  if (const std::vector<std::string> cites = TextsOf(json, "cites"); !cites.empty()) raw["cites"] = cites;
  if (std::string reference = JsonGet<std::string>(json, "reference", ""); !reference.empty()) {
    // Of an answer without a fence, a gap takes the first line alone.
    if (raw.contains("fill") && FindFencedBlocks(reference).empty()) {
      const std::string fence = FenceFor(reference);
      reference = fmt::format("{}\n{}\n{}", fence, reference, fence);
    }
    raw["reference"] = std::move(reference);
  }
  ASSIGN_OR_RETURN(CaseReading reading, ReadCase(raw, 1));
  if (reading.test_case.reference.empty()) return InputError("it has no reference answer");
  return std::move(reading.test_case);
}

Result<VettedCases> WriteCases(Teacher& teacher, const Material& material, const CaseOptions& options) {
  ASSIGN_OR_RETURN(const std::string items, FitItems(options.reader == nullptr ? teacher : *options.reader, material,
                                                     options.context_tokens, *options.prompts));
  std::set<std::string> ids;
  for (const MaterialItem& item : material.items) ids.insert(item.id);
  const Wanted wanted = WantedCases(options, material);
  CaseIntake intake{options.had, {}, "", ""};
  VettedCases& vetted = intake.vetted;
  std::string last_problem;
  bool unreadable = false;  // the last answer
  for (int attempt = 0; attempt <= options.tries && vetted.cases.size() < options.cases; ++attempt) {
    const std::size_t missing = options.cases - vetted.cases.size();
    const bool tight = unreadable;
    const std::string repair = std::exchange(intake.broken, "");
    const std::size_t most_tokens = std::min<std::size_t>(
        1000 + (tight ? 400 : 700) * missing, wanted.shares.executed > 0 ? kMaxTokensWithPrograms : kMaxAnswerTokens);
    const std::string prompt = CasesPrompt(material, items, wanted, intake, repair, *options.prompts);
    const std::string system = options.prompts->Render("cases-system");
    const Result<Json> answer =
        teacher.Ask({"cases", options.blind ? std::string(kForNewChat) + "\n\n" + system : system, prompt,
                     CasesSchema(tight ? missing : 2 * options.cases, tight, wanted.runners), attempt,
                     static_cast<int>(most_tokens)});
    unreadable = !answer;
    if (!answer) {
      if (answer.error().kind != ErrorKind::kInput) return answer.error();
      last_problem = answer.error().message;
      continue;
    }
    for (const Json& json : answer->at("cases")) {
      if (vetted.cases.size() < options.cases) TakeWritten(json, ids, wanted, intake);
    }
  }
  for (Case& test_case : intake.aside) {
    if (vetted.cases.size() < options.cases) TakeCase(std::move(test_case), vetted, true);
  }
  if (vetted.cases.size() == options.had.cases.size() && !last_problem.empty())
    return InputError("the teacher gave no usable test: " + last_problem);
  return std::move(vetted);
}

std::vector<std::size_t> HeldOut(const std::vector<Case>& cases, double holdout, std::uint64_t seed) {
  const std::size_t all = cases.size();
  auto count = static_cast<std::size_t>(std::lround(holdout * static_cast<double>(all)));
  if (all > 1) count = std::clamp<std::size_t>(count, 1, all - 1);
  count = std::min(std::max<std::size_t>(count, 1), all);
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::size_t>>> kinds;
  for (std::size_t i = 0; i < all; ++i)
    kinds[KindOf(cases[i])].emplace_back(Rng(seed ^ SeedFromText(cases[i].input)).Next(), i);
  std::vector<std::size_t> held_out;
  std::size_t before = 0;  // cases of the kinds before
  for (auto& [kind, members] : kinds) {
    std::sort(members.begin(), members.end());
    const std::size_t after = before + members.size();
    // Of the first k cases, k · count / all rounded are held out.
    const auto up_to = [&](std::size_t k) { return (2 * k * count + all) / (2 * all); };
    for (std::size_t i = 0; i < up_to(after) - up_to(before); ++i) held_out.push_back(members[i].second);
    before = after;
  }
  std::sort(held_out.begin(), held_out.end());
  return held_out;
}

Suite SuiteOf(const std::vector<Case>& cases, const std::vector<std::size_t>& indices) {
  Suite suite;
  suite.document = {{"tests", Json::array()}};
  for (const std::size_t i : indices) {
    suite.cases.push_back(cases[i]);
    suite.document["tests"].push_back(WriteCase(cases[i], suite.cases.size()));
  }
  return suite;
}

}  // namespace upskill
