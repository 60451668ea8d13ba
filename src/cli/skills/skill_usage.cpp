// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/skill_usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "cli/skills/skill_history.h"
#include "install/session_listing.h"
#include "report/terminal/table.h"
#include "report/terminal/verdict_words.h"
#include "skill/skill.h"
#include "trace/load/find_traces.h"
#include "trace/load/read_trace.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/list.h"
#include "util/text.h"
#include "util/tokens.h"
#include "util/yaml.h"

namespace upskill {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t kDateColumns = 10;  // of "2026-11-02T…"

std::string DateOf(std::int64_t time_ms) { return FormatTimestamp(time_ms).substr(0, kDateColumns); }

// The skills whose SKILL.md a path or a command names: "cat a/SKILL.md b/SKILL.md" has two.
std::set<std::string> SkillFilesIn(std::string_view text) {
  constexpr std::string_view kFile = "/skill.md";
  const std::string lower = ToLowerAscii(text);
  std::set<std::string> names;
  for (std::size_t end = lower.find(kFile); end != std::string::npos; end = lower.find(kFile, end + 1)) {
    const std::size_t before = text.find_last_of("/ '\"=", end == 0 ? 0 : end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (begin < end) names.emplace(text.substr(begin, end - begin));
  }
  return names;
}

std::set<std::string> NamesUsed(const Trace& trace, const UsedSkill& use) {
  if (use.how != "file read" || use.event >= trace.events.size()) return {use.name};
  const Event& event = trace.events[use.event];
  std::set<std::string> names = SkillFilesIn(event.path);
  names.merge(SkillFilesIn(event.command));
  return names;
}

// What is known of one skill of the agent.
struct SkillRow {
  FoundSkill found;
  SkillHead head;
  std::string body_sha256;
  ListedHead listed;
  std::optional<SkillUses> uses;  // nothing: the agent's sessions aren't known
  std::optional<LastVerdict> verdict;
  std::vector<std::string> clashes;  // names
  std::vector<std::string> advice;
};

SkillRow RowOf(const AgentListing& listing, const FoundSkill& found, const AgentUsage& usage) {
  SkillRow row;
  row.found = found;
  row.head = {found.name, found.description, (found.folder / "SKILL.md").string(), !found.problem.empty(), 0};
  if (const Result<Skill> skill = LoadSkill(found.folder)) {
    row.body_sha256 = Sha256Hex(skill->body);
    const Result<Json> fields = ParseYaml(skill->other_fields, "frontmatter");
    const auto field = [&](const std::string& name) { return fields ? Member(*fields, name.c_str()) : Json(); };
    for (const std::string& name : listing.more) {
      if (const Json more = field(name); more.is_string()) row.head.description += " - " + more.get<std::string>();
    }
    const Json hidden = field(listing.hidden);
    row.head.is_hidden = !listing.hidden.empty() && (hidden == true || hidden == "true");
  }
  if (!usage.sessions) return row;
  row.uses.emplace();
  for (const std::string& name : {found.name, found.folder.filename().string()}) {
    if (const auto uses = usage.skills.find(name); uses != usage.skills.end()) row.uses = uses->second;
  }
  row.head.uses = row.uses->total();
  return row;
}

void AddAdvice(SkillRow& row, int days, bool any_session) {
  if (!row.found.problem.empty()) return row.advice.push_back("can't be read, so agents skip it");
  if (any_session && row.uses && row.uses->total() == 0)
    row.advice.push_back(row.head.is_hidden ? fmt::format("not used in {} days", days)
                                            : fmt::format("not used in {} days: uninstall it?", days));
  if (row.listed.cut_off > 0) {
    const bool is_gone = row.listed.cut_off == CountCodePoints(row.head.description);
    row.advice.push_back(is_gone ? "listed without its description: too many skills"
                                 : fmt::format("the last {} of its description aren't listed: shorten it",
                                               Counted(row.listed.cut_off, "character")));
  }
  if (!row.clashes.empty())
    row.advice.push_back(fmt::format("its description is too similar to that of {}", fmt::join(row.clashes, ", ")));
}

Result<std::vector<SkillRow>> RowsOf(const UsageReport& report, const std::vector<FoundSkill>& found,
                                     const AgentUsage& usage, const Env& env) {
  const AgentListing& listing = report.agent->listing;
  std::vector<SkillRow> rows;
  std::vector<SkillHead> heads;
  std::vector<SkillIdentity> identities;
  for (const FoundSkill& skill : found) {
    rows.push_back(RowOf(listing, skill, usage));
    heads.push_back(rows.back().head);
    identities.push_back({skill.name, rows.back().body_sha256});
  }
  std::optional<std::size_t> room;
  if (!listing.variable.empty()) {
    const std::optional<std::int64_t> value = ParseWholeNumber(env.variable(listing.variable).value_or(""), 1);
    if (value) room = static_cast<std::size_t>(*value);
  }
  const std::vector<ListedHead> listed = HeadsInSession(listing, room, heads);
  const std::vector<std::vector<std::size_t>> clashes = ClashesOf(heads);
  SkillHistory history = ReadSkillHistory(report.runs_dir, identities);
  for (const std::string& problem : history.problems) PrintWarning(env, problem);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].listed = listed[i];
    if (!history.verdicts[i].empty()) rows[i].verdict = std::move(history.verdicts[i].front());
    for (const std::size_t other : clashes[i])
      rows[i].clashes.push_back(heads[other].name == heads[i].name ? heads[other].file : heads[other].name);
    AddAdvice(rows[i], report.days, usage.sessions.value_or(0) > 0);
  }
  return rows;
}

std::size_t TokensOf(const SkillRow& row) {
  return row.listed.line.empty() ? 0 : EstimateTokens(row.listed.line + "\n");
}

std::string LastVerdictText(const SkillRow& row) {
  if (!row.verdict) return "";
  const RunRow& run = row.verdict->row;
  return fmt::format("{} for {}, {}{}", VerdictName(run.verdict.word), run.student.student.name,
                     run.created.substr(0, kDateColumns), row.verdict->skill_changed ? ", changed since" : "");
}

std::string Sentence(const UsageReport& report, const std::vector<SkillRow>& rows, const AgentUsage& usage) {
  if (rows.empty()) return report.agent->name + " finds no skills here";
  std::size_t tokens = 0;
  std::size_t unused = 0;
  for (const SkillRow& row : rows) {
    tokens += TokensOf(row);
    if (row.uses && row.uses->total() == 0) ++unused;
  }
  const std::string costs = fmt::format("{} {} about {} tokens in every {} session", Counted(rows.size(), "skill"),
                                        rows.size() == 1 ? "costs" : "cost",
                                        WithThousands(static_cast<long long>(tokens)), report.agent->name);
  if (!usage.sessions) return fmt::format("{}; upskill can't read its sessions to see which are used", costs);
  if (*usage.sessions == 0) return fmt::format("{}; it had no sessions in the last {} days", costs, report.days);
  const std::string which =
      unused == 0 ? "each was used" : fmt::format("{} {} used", unused, unused == 1 ? "wasn't" : "weren't");
  return fmt::format("{}; {} in {} days ({})", costs, which, report.days, Counted(*usage.sessions, "session"));
}

Json UsageToJson(const SkillRow& row) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  Json json = {{"name", row.found.name},
               {"folder", row.found.folder.string()},
               {"scope", row.found.scope == InstallScope::kUser ? "user" : "project"},
               {"listed", text(row.listed.line)},
               {"tokens", TokensOf(row)},
               {"cut_off", row.listed.cut_off},
               {"uses", nullptr},
               {"verdict", nullptr},
               {"clashes", row.clashes},
               {"advice", row.advice}};
  if (row.uses) {
    json["uses"] = {{"total", row.uses->total()},
                    {"by_way", row.uses->by_way},
                    {"sessions", row.uses->sessions},
                    {"last", row.uses->last_ms == 0 ? Json(nullptr) : Json(FormatTimestamp(row.uses->last_ms))}};
  }
  if (row.verdict) {
    const RunRow& run = row.verdict->row;
    json["verdict"] = {{"verdict", VerdictName(run.verdict.word)},
                       {"model", run.student.student.spec},
                       {"run", run.run},
                       {"created", run.created},
                       {"skill_changed", row.verdict->skill_changed}};
  }
  return json;
}

}  // namespace

std::size_t SkillUses::total() const {
  std::size_t sum = 0;
  for (const auto& [way, count] : by_way) sum += count;
  return sum;
}

void AddUses(const Trace& trace, std::int64_t from_ms, std::int64_t otherwise_ms, AgentUsage& usage) {
  std::set<std::string> in_session;
  for (const UsedSkill& use : trace.skills) {
    std::int64_t time_ms = trace.last_ms.value_or(otherwise_ms);
    if (use.event < trace.events.size()) time_ms = trace.events[use.event].time_ms.value_or(time_ms);
    if (time_ms < from_ms) continue;
    for (const std::string& name : NamesUsed(trace, use)) {
      SkillUses& uses = usage.skills[name];
      ++uses.by_way[use.how];
      uses.last_ms = std::max(uses.last_ms, time_ms);
      if (in_session.insert(name).second) ++uses.sessions;
    }
  }
}

Result<AgentUsage> UsageOf(const Agent& agent, int days, const Env& env) {
  AgentUsage usage;
  // Its name there: that of its folder.
  const std::string name = agent.id == "gemini-cli" ? "gemini" : agent.id;
  if (!IsOneOf(name, KnownTraceAgents())) return usage;
  ASSIGN_OR_RETURN(const std::vector<FoundTrace> traces, FindTraces(env.variable, name));
  const auto now = std::chrono::duration_cast<Milliseconds>(env.clock->WallNow().time_since_epoch());
  const std::int64_t from_ms = (now - Milliseconds(std::chrono::hours(24) * days)).count();
  usage.sessions = 0;
  for (const FoundTrace& found : traces) {
    if (found.modified_ms < from_ms) break;  // the newest ones are first
    TraceReadOptions options;
    options.stop = env.stop;
    const Result<Trace> trace = ReadTrace(found.path, options);
    if (!trace && trace.error().kind == ErrorKind::kCancelled) return trace.error();
    if (!trace) {
      PrintWarning(env, trace.error().message);
      continue;
    }
    // Its file may be newer, as a copy is.
    if (trace->last_ms.value_or(found.modified_ms) >= from_ms) ++*usage.sessions;
    AddUses(*trace, from_ms, found.modified_ms, usage);
  }
  return usage;
}

Status ShowUsage(const UsageReport& report, const std::vector<FoundSkill>& found, const Env& env) {
  ASSIGN_OR_RETURN(const AgentUsage usage, UsageOf(*report.agent, report.days, env));
  ASSIGN_OR_RETURN(std::vector<SkillRow> rows, RowsOf(report, found, usage, env));
  // What costs most, and is used least.
  std::stable_sort(rows.begin(), rows.end(), [](const SkillRow& a, const SkillRow& b) {
    return std::pair(a.head.uses, TokensOf(b)) < std::pair(b.head.uses, TokensOf(a));
  });
  const std::string sentence = Sentence(report, rows, usage);
  if (report.json) {
    Json list = Json::array();
    for (const SkillRow& row : rows) list.push_back(UsageToJson(row));
    const std::string& source = report.agent->listing.source;
    PrintDocument(env, DumpJsonIndented({{"agent", report.agent->id},
                                         {"result", sentence},
                                         {"days", report.days},
                                         {"sessions", usage.sessions ? Json(*usage.sessions) : Json(nullptr)},
                                         {"listing_of", source.empty() ? Json(nullptr) : Json(source)},
                                         {"skills", list}}) +
                           "\n");
    return {};
  }
  env.out(TerminalText::Format("{}\n", sentence));
  Table table({{"skill"},
               {"tokens", Table::Align::kRight},
               {"uses", Table::Align::kRight},
               {"last use", Table::Align::kLeft, false, 2},
               {"last verdict", Table::Align::kLeft, false, 1},
               {"advice", Table::Align::kLeft, true}});
  for (const SkillRow& row : rows) {
    table.AddRow({row.found.name, fmt::format("{}", TokensOf(row)),
                  row.uses ? fmt::format("{}", row.uses->total()) : "?",
                  row.uses && row.uses->last_ms > 0 ? DateOf(row.uses->last_ms) : "", LastVerdictText(row),
                  fmt::format("{}", fmt::join(row.advice, "; "))});
  }
  if (!table.empty()) env.out(table.Render(StyleFor(env, env.out_is_terminal, report.color)));
  return {};
}

}  // namespace upskill
