// SPDX-License-Identifier: Apache-2.0
#include "teach/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/skill_text.h"
#include "teach/extract_parts.h"
#include "teach/extract_text.h"
#include "teach/one_line.h"
#include "util/text.h"

namespace upskill {
namespace {

// What goes into the skill first if not everything fits, and the share of the target that it may use.
struct PlannedPart {
  Section part;
  double share = 1.0;
  std::string holds;  // for the description: "the project's layout"
  Section kept = {};
};

// The parts in the order of the skill.
enum PartIndex : std::uint8_t {
  kLayout,
  kConfiguration,
  kRegistration,
  kRan,
  kTold,
  kCorrections,
  kFixes,
  kAnswers,
  kParts,
};

std::size_t TokensOf(const Rule& rule, const BodyTarget& target) { return target.count(rule.text) + 1; }

// Moves the rules that fit into its share and into what is left of the target.
void Fill(PlannedPart& planned, const BodyTarget& target, std::size_t& left) {
  planned.kept.title = planned.part.title;
  auto room = static_cast<std::size_t>(planned.share * static_cast<double>(target.tokens));
  room = std::min(room, left);
  const std::size_t title = target.count("\n# " + planned.part.title + "\n\n");
  for (const Rule& rule : std::exchange(planned.part.rules, {})) {
    const std::size_t tokens = TokensOf(rule, target) + (planned.kept.rules.empty() ? title : 0);
    if (tokens > room) {
      planned.part.rules.push_back(rule);  // for a later call
      continue;
    }
    room -= tokens;
    left -= tokens;
    planned.kept.rules.push_back(rule);
  }
}

// Whole, or, if that doesn't fit, without tables that only repeat the keys of an earlier one.
void FillConfiguration(PlannedPart& planned, const std::vector<SourcedFile>& files, const BodyTarget& target,
                       std::size_t& left) {
  // The first file is the one that matters most.
  const auto keeps_first = [](const PlannedPart& part, const Section& all) {
    return !all.rules.empty() && !part.kept.rules.empty() && part.kept.rules.front().text == all.rules.front().text;
  };
  const Section whole_files = planned.part;
  const Section condensed_files = ConfigurationPart(files, true);
  PlannedPart condensed = planned;
  condensed.part = condensed_files;
  std::size_t left_when_whole = left;
  Fill(planned, target, left_when_whole);
  std::size_t left_when_condensed = left;
  Fill(condensed, target, left_when_condensed);
  const bool more = std::pair(keeps_first(condensed, condensed_files), condensed.kept.rules.size()) >
                    std::pair(keeps_first(planned, whole_files), planned.kept.rules.size());
  if (more) planned = std::move(condensed);
  left = more ? left_when_condensed : left_when_whole;
}

bool EndsASentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('?') || text.ends_with('!') || text.ends_with("…");
}

// What the skill is about, on one line and without addresses: the task, else the first request that says something.
std::string SubjectOf(const Material& material) {
  constexpr std::size_t kMaxColumns = 300;
  constexpr std::size_t kShortest = 15;
  std::string subject = material.task;
  for (const UserRequest& request : material.requests) {
    if (Trim(subject).size() >= kShortest) break;
    if (material.task.empty() && !Trim(request.text).starts_with('/')) subject = request.text;
  }
  static const RE2 address(R"(https?://\S+)");
  subject = OneLine(subject);
  // A wrapped address goes on after the break, up to the next word of the sentence: what follows the first one is cut.
  if (material.task.empty() && RE2::PartialMatch(subject, address)) subject.resize(subject.find("http"));
  RE2::GlobalReplace(&subject, address, "");
  static const RE2 rule(R"(-(?:--)+)");
  RE2::GlobalReplace(&subject, rule, "-");
  return std::string(Trim(CutToColumns(subject, kMaxColumns)));
}

std::string DescriptionOf(const std::string& subject, const std::vector<PlannedPart>& parts) {
  std::vector<std::string> holds;
  for (const PlannedPart& part : parts) {
    if (!part.kept.rules.empty()) holds.push_back(part.holds);
  }
  std::string text = subject.empty() ? "" : subject + (EndsASentence(subject) ? " " : ". ");
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return fmt::format("{}From a recorded session: {}. Use this skill for the same kind of work.", text,
                     fmt::join(holds, ", "));
}

constexpr std::string_view kReferenceName = "references/configuration.md";

// Configuration files that the skill has no room for, as they ended.
struct Reference {
  std::string text;
  Rule rule;  // of the skill, which says what is there
};

// Empty text: the skill shows them all.
Reference ReferenceFor(const PlannedPart& configuration, const std::vector<SourcedFile>& files) {
  constexpr std::size_t kMaxBytes = 60'000;
  constexpr std::size_t kMaxNames = 6;
  const auto title_of = [](const Rule& rule) { return rule.text.substr(0, rule.text.find('\n')); };
  Reference reference;
  std::vector<std::string> names;
  for (const Rule& rule : ConfigurationPart(files, false).rules) {
    const auto kept = std::find_if(configuration.kept.rules.begin(), configuration.kept.rules.end(),
                                   [&](const Rule& one) { return title_of(one) == title_of(rule); });
    const bool shown = kept != configuration.kept.rules.end();
    if ((shown && kept->text == rule.text) || reference.text.size() + rule.text.size() >= kMaxBytes) continue;
    reference.text += "\n" + rule.text + "\n";
    const std::vector<std::string> spans = CodeSpansOf(title_of(rule));
    if (!spans.empty()) names.push_back((shown ? "all of " : "") + InBackticks(spans.front()));
    reference.rule.cites.insert(reference.rule.cites.end(), rule.cites.begin(), rule.cites.end());
  }
  if (reference.text.empty()) return reference;
  reference.text.insert(0, "# Configuration files\n");
  const std::size_t more = names.size() - std::min(names.size(), kMaxNames);
  names.resize(names.size() - more);
  reference.rule.text = fmt::format("- `{}` has {}{}.", kReferenceName, fmt::join(names, ", "),
                                    more > 0 ? fmt::format(" and {} more", more) : "");
  return reference;
}

// Tokens of all rules together aren't those of each: leaves out rules at the end that are too much.
void TrimToTarget(const BodyTarget& target, Draft& draft) {
  while (draft.sections.size() > 1 && target.count(DraftToSkill(draft).body) > target.tokens) {
    std::vector<Rule>& rules = draft.sections.back().rules;
    rules.pop_back();
    if (rules.empty()) draft.sections.pop_back();
  }
}

std::vector<PlannedPart> PlanParts(const Material& material, const std::vector<SourcedFile>& files) {
  std::vector<PlannedPart> parts(kParts);
  parts[kLayout] = {LayoutPart(files), 0.25, "the project's layout"};
  parts[kConfiguration] = {ConfigurationPart(files, false), 0.5, "configuration files"};
  parts[kRegistration] = {RegistrationPart(files), 0.25, "how functions are registered"};
  parts[kRan] = {RanCommandsPart(material), 0.2, "commands that worked"};
  parts[kTold] = {ToldCommandsPart(material), 0.2, "commands to build and test"};
  parts[kCorrections] = {CorrectionsPart(material), 0.15, "rules that the user gave"};
  parts[kFixes] = {FixesPart(material), 0.4, "errors and what fixed them"};
  parts[kAnswers] = {AnswersPart(material), 0.4, "answers to questions"};
  return parts;
}

// Fills the parts with what fits into `left` tokens: first what is short and can't be guessed; the answers to many
// questions are what their session was about.
void FillParts(const std::vector<SourcedFile>& files, const BodyTarget& target, std::size_t left,
               std::vector<PlannedPart>& parts) {
  for (const std::size_t part : {kRan, kTold, kRegistration}) Fill(parts[part], target, left);
  FillConfiguration(parts[kConfiguration], files, target, left);
  for (const std::size_t part : {kAnswers, kCorrections, kLayout, kFixes}) Fill(parts[part], target, left);
  parts[kAnswers].share = 1.0;
  Fill(parts[kAnswers], target, left);
}

// The number of different places that the rules of a part come from: two statements of one answer are one lesson.
std::size_t LessonsOf(const Section& part) {
  std::set<std::string> places;
  for (const Rule& rule : part.rules) places.insert(rule.cites.empty() ? rule.text : rule.cites.front());
  return places.size();
}

std::string CountedOrNo(std::size_t count, const char* word) {
  return count == 0 ? fmt::format("no {}", word) : Counted(count, word);
}

// A tree of file names, or a single command, is not enough for a skill.
Status CheckEnough(const std::vector<PlannedPart>& parts) {
  constexpr std::size_t kFewestLessons = 3;
  if (!parts[kConfiguration].part.rules.empty() || !parts[kRegistration].part.rules.empty()) return {};
  const std::size_t commands = LessonsOf(parts[kRan].part) + LessonsOf(parts[kTold].part);
  const std::size_t corrections = LessonsOf(parts[kCorrections].part);
  const std::size_t fixes = LessonsOf(parts[kFixes].part);
  const std::size_t answers = LessonsOf(parts[kAnswers].part);
  if (commands + corrections + fixes + answers >= kFewestLessons) return {};
  return Error{ErrorKind::kNotFound,
               fmt::format("too little to extract: the recording has no configuration file, {} that built or tested "
                           "something, {} by the user, {} and {} with a fact.\n"
                           "Without a model, only such pieces can be copied. A teacher reads the conversation itself: "
                           "it writes down the order of work, the decisions with their reasons, and the mistakes to "
                           "avoid",
                           CountedOrNo(commands, "command"), CountedOrNo(corrections, "correction"),
                           CountedOrNo(fixes, "fixed error"), CountedOrNo(answers, "answer"))};
}

}  // namespace

Result<Draft> ExtractDraft(const Material& material, const std::string& name, const BodyTarget& target) {
  const std::vector<SourcedFile> files = ProjectFiles(material);
  std::vector<PlannedPart> parts = PlanParts(material, files);
  const PlannedPart& layout = parts[kLayout];
  PlannedPart& configuration = parts[kConfiguration];
  RETURN_IF_ERROR(CheckEnough(parts));
  const std::vector<PlannedPart> planned = parts;
  FillParts(files, target, target.tokens, parts);
  Reference reference = ReferenceFor(configuration, files);
  if (!reference.text.empty()) {
    // The line that names it needs room, too.
    const std::size_t tokens = TokensOf(reference.rule, target);
    parts = planned;
    FillParts(files, target, target.tokens - std::min(target.tokens, tokens), parts);
    reference = ReferenceFor(configuration, files);
    configuration.kept.rules.insert(configuration.kept.rules.begin(), reference.rule);
  }
  Draft draft;
  for (const PlannedPart& part : parts) {
    if (!part.kept.rules.empty()) draft.sections.push_back(part.kept);
  }
  TrimToTarget(target, draft);
  const bool only_layout = draft.sections.size() == 1 && !layout.kept.rules.empty();
  if (draft.sections.empty() || only_layout) {
    return Error{ErrorKind::kNotFound, fmt::format("nothing that the recording has to extract fits into {} tokens; "
                                                   "--skill-tokens raises the limit",
                                                   target.tokens)};
  }
  const std::string subject = SubjectOf(material);
  draft.name = name.empty() ? SkillNameFrom(subject) : name;
  draft.description = DescriptionOf(subject, parts);
  if (DraftToSkill(draft).body.find(kReferenceName) != std::string::npos)
    draft.references.emplace_back("configuration.md", reference.text);
  RETURN_IF_ERROR(CheckSkillText(DraftToSkill(draft), material, target));
  return draft;
}

}  // namespace upskill
