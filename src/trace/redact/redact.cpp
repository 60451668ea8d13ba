// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/redact.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "trace/redact/anchor_scan.h"
#include "trace/redact/email_address.h"
#include "trace/redact/line_break.h"
#include "trace/redact/secret_fields.h"
#include "trace/redact/secret_patterns.h"
#include "trace/redact/secret_value.h"
#include "trace/redact/token_formats.h"
#include "trace/redact/token_match.h"
#include "trace/redact/unescaped_text.h"
#include "util/base64.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

// Mostly, because a few bytes at the front may not belong to the encoded text.
bool IsPrintable(std::string_view text) {
  const auto printable = std::count_if(
      text.begin(), text.end(), [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t'; });
  return static_cast<std::size_t>(printable) * 5 >= text.size() * 4;
}

constexpr std::size_t kProbe = 64;
constexpr std::size_t kShortestKnown = 8;  // of a secret that is replaced wherever it occurs

// Whether the front of `run` decodes to text, however it is shifted.
bool MayBeEncodedText(std::string_view run) {
  for (std::size_t shift = 0; shift < 4 && shift < run.size(); ++shift) {
    if (IsPrintable(DecodeBase64(run.substr(shift, kProbe)))) return true;
  }
  return false;
}

// The kind of the first secret in the text that `run` encodes, or empty. Preceding characters that are also valid
// base64 ("data/…") shift it.
std::string KindInBase64(std::string_view run) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    if (!IsPrintable(DecodeBase64(run.substr(shift, kProbe)))) continue;
    const std::string decoded = DecodeBase64(run.substr(shift));
    if (decoded.size() < 12 || !IsPrintable(decoded)) continue;
    const std::vector<SecretSpan> spans = FindPlainSecrets(decoded);
    if (!spans.empty()) return spans.front().kind;
  }
  return "";
}

// Lines of base64 that follow each other, and what is between them.
struct EncodedRun {
  std::vector<std::string_view> lines;
  std::size_t end = 0;  // in the text, with the padding
};

bool IsBase64Char(char c) { return IsAlnumChar(c) || c == '+' || c == '/' || c == '_' || c == '-'; }

// The next run at `from` or behind it; without lines if there is none.
EncodedRun NextEncodedRun(std::string_view text, std::size_t from) {
  constexpr std::size_t kMinLine = 20;
  EncodedRun run;
  std::size_t begin = from;
  while (begin + kMinLine <= text.size()) {
    // From the end of the shortest line, because most text has none: what isn't base64 skips all before it.
    std::size_t i = begin + kMinLine;
    while (i > begin && IsBase64Char(text[i - 1])) --i;
    if (i > begin) {
      begin = i;
      if (!run.lines.empty()) break;
      continue;
    }
    std::size_t end = begin + kMinLine;
    while (end < text.size() && IsBase64Char(text[end])) ++end;
    run.lines.push_back(text.substr(begin, end - begin));
    run.end = end;
    // `\n` as two characters, or a line end after an optional backslash, and the indentation.
    std::size_t next = end + (text.substr(end, 1) == "\\" ? 1 : 0);
    if (text.substr(next, 1) != "\n" && (next == end || text.substr(next, 1) != "n")) break;
    ++next;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    begin = next;
  }
  for (std::size_t padding = 0; padding < 2 && text.substr(run.end, 1) == "="; ++padding) ++run.end;
  return run;
}

// Base64 text that contains a secret. Preceding lines that only look like base64 are left alone.
std::vector<SecretSpan> FindEncodedSecrets(std::string_view text) {
  constexpr std::size_t kMinBytes = 24;
  constexpr std::size_t kMaxBytes = 1U << 20U;
  constexpr std::size_t kMaxStarts = 8;
  std::vector<SecretSpan> spans;
  for (EncodedRun run = NextEncodedRun(text, 0); !run.lines.empty(); run = NextEncodedRun(text, run.end)) {
    const auto begin = static_cast<std::size_t>(run.lines.front().data() - text.data());
    if (run.end - begin < kMinBytes || run.end - begin > kMaxBytes) continue;
    std::size_t starts = 0;
    for (std::size_t i = 0; i < run.lines.size() && starts < kMaxStarts; ++i) {
      if (!MayBeEncodedText(run.lines[i])) continue;
      ++starts;
      std::string joined;
      for (std::size_t k = i; k < run.lines.size(); ++k) joined += run.lines[k];
      const std::string kind = KindInBase64(joined);
      if (kind.empty()) continue;
      spans.push_back({static_cast<std::size_t>(run.lines[i].data() - text.data()), run.end, kind});
      break;
    }
  }
  return spans;
}

void AddMatches(std::string_view text, const RE2& pattern, const char* kind, std::vector<SecretSpan>& spans) {
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece found;
  while (RE2::FindAndConsume(&rest, pattern, &found)) {
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    spans.push_back({begin, begin + found.size(), kind});
  }
}

// A secret without the escapes and line breaks that it is written with.
std::string Canonical(std::string_view secret) {
  const UnescapedText unescaped(secret);
  const std::string_view text = unescaped.changed() ? std::string_view(unescaped.text()) : secret;
  std::string canonical;
  for (std::size_t i = 0; i < text.size();) {
    const bool may_break = std::string_view("\r\n\\ \t|").find(text[i]) != std::string_view::npos;
    const std::size_t line_end = may_break ? LineBreakLength(text.substr(i, kMaxLineBreak)) : 0;
    if (line_end == 0) canonical += text[i];
    i += std::max<std::size_t>(line_end, 1);
  }
  return canonical;
}

// What FindSecrets looks for, in one pass: tokens' anchors, then words of fields, then cues of patterns.
struct Anchors {
  std::vector<std::vector<const TokenFormat*>> formats;  // by word
  std::size_t fields = 0;                                // the first word of a field
  std::size_t patterns = 0;                              // the first cue of a pattern
  std::unique_ptr<AnchorScan> scan;
};

const Anchors& AllAnchors() {
  static const Anchors all = [] {
    Anchors anchors;
    std::vector<std::string_view> words;
    std::map<std::string_view, std::size_t> known;
    for (const TokenFormat& format : TokenFormats()) {
      const auto [word, added] = known.try_emplace(format.anchor, words.size());
      if (added) {
        words.push_back(format.anchor);
        anchors.formats.emplace_back();
      }
      anchors.formats[word->second].push_back(&format);
    }
    anchors.fields = words.size();
    for (const std::string_view word : FieldWords()) words.push_back(word);
    anchors.patterns = words.size();
    for (const std::string_view word : PatternWords()) words.push_back(word);
    anchors.scan = std::make_unique<AnchorScan>(words);
    return anchors;
  }();
  return all;
}

// Whether a secret can't be mistaken for a word where it occurs without what it was found by.
bool IsUnmistakable(const SecretSpan& span, std::string_view value) {
  return span.kind != "home" && span.kind != "email" && value.size() >= kShortestKnown && HasDigit(value) &&
         HasLetter(value) && !IsMadeOfWords(value);
}

}  // namespace

std::vector<SecretSpan> FindPlainSecrets(std::string_view text) {
  const Anchors& anchors = AllAnchors();
  std::vector<SecretSpan> spans;
  std::vector<SecretSpan> fields;
  std::vector<SecretSpan> issuers;  // after the fields, which keep their names
  std::vector<PatternHit> hits;
  std::size_t fields_end = 0;
  anchors.scan->Run(text, LineBreakLength, [&](const AnchorScan::Hit& hit) {
    if (hit.word < anchors.fields) {
      for (const TokenFormat* format : anchors.formats[hit.word]) {
        if (std::optional<SecretSpan> token = MatchToken(text, hit.begin, hit.end, *format)) {
          spans.push_back(std::move(*token));
          return;
        }
      }
    } else if (hit.word < anchors.patterns) {
      // A field whose value begins inside of another's ends with it. "password=password=…" would be read many times.
      constexpr std::size_t kFarthestValue = 256;
      if (hit.end + kFarthestValue < fields_end) return;
      const std::size_t word = hit.word - anchors.fields;
      if (std::optional<SecretSpan> field = MatchField(text, word, hit.begin, hit.end)) {
        fields_end = std::max(fields_end, field->end);
        (IsIssuerWord(word) ? issuers : fields).push_back(std::move(*field));
      }
    } else {
      hits.push_back({hit.word - anchors.patterns, hit.begin});
    }
  });
  for (const std::vector<SecretSpan>& more : {FindPatterns(text, hits), fields, issuers})
    spans.insert(spans.end(), more.begin(), more.end());
  return spans;
}

std::vector<SecretSpan> FindSecrets(std::string_view text, const RedactOptions& options) {
  std::vector<SecretSpan> spans = FindPlainSecrets(text);
  const auto add = [&spans](const std::vector<SecretSpan>& more) {
    spans.insert(spans.end(), more.begin(), more.end());
  };
  if (const UnescapedText unescaped(text); unescaped.changed()) {
    std::vector<SecretSpan> found = FindPlainSecrets(unescaped.text());
    if (options.emails) {
      for (SecretSpan& span : FindEmailAddresses(unescaped.text())) found.push_back(std::move(span));
    }
    for (SecretSpan& span : found)
      spans.push_back({unescaped.Origin(span.begin), unescaped.Origin(span.end), std::move(span.kind)});
  }
  add(FindEncodedSecrets(text));
  if (options.home_folders) {
    static const RE2 home_pattern(R"(((?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[A-Za-z0-9._-]+))");
    AddMatches(text, home_pattern, "home", spans);
  }
  if (options.emails) add(FindEmailAddresses(text));
  // The first to begin wins, then the longer; ties keep the order of the finders, since shapes give the best name.
  std::stable_sort(spans.begin(), spans.end(), [](const SecretSpan& a, const SecretSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  const auto is_inside_character = [&](std::size_t at) {
    return at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::vector<SecretSpan> apart;
  for (SecretSpan& span : spans) {
    while (is_inside_character(span.begin)) --span.begin;
    while (is_inside_character(span.end)) ++span.end;
    if (!apart.empty() && span.begin < apart.back().end) {
      apart.back().end = std::max(apart.back().end, span.end);
    } else {
      apart.push_back(std::move(span));
    }
  }
  return apart;
}

std::string Redactor::ApplyKnown(std::string text) const {
  if (labels_.empty()) return text;
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; at + kShortestKnown <= text.size(); ++at) {
    if (at > 0 && IsAlnumChar(text[at - 1])) continue;
    const std::string_view rest = std::string_view(text).substr(at);
    const std::string_view prefix = rest.substr(0, kShortestKnown);
    for (auto known = labels_.lower_bound(prefix); known != labels_.end() && known->first.starts_with(prefix);
         ++known) {
      const std::size_t end = at + known->first.size();
      if (!rest.starts_with(known->first) || (end < text.size() && IsAlnumChar(text[end]))) continue;
      out.append(text, from, at - from).append(known->second);
      from = end;
      at = end - 1;
      break;
    }
  }
  if (from == 0) return text;
  return out.append(text, from);
}

std::string Redactor::Apply(std::string text, std::size_t event, std::size_t line) {
  if (text.size() < 6) return text;
  const std::vector<SecretSpan> spans = FindSecrets(text, options_);
  if (spans.empty()) return ApplyKnown(std::move(text));
  std::string out;
  std::size_t from = 0;
  for (const SecretSpan& span : spans) {
    const std::string_view value = std::string_view(text).substr(span.begin, span.end - span.begin);
    const auto [known, added] = numbers_.try_emplace(span.kind + " " + Sha256Hex(Canonical(value)), 0);
    if (added) known->second = ++counts_[span.kind];
    const std::string label = fmt::format("[redacted:{}:{}]", span.kind, known->second);
    if (IsUnmistakable(span, value) && labels_.size() < kMostRemembered) labels_.emplace(value, label);
    out.append(text, from, span.begin - from);
    out += label;
    from = span.end;
    redactions_.push_back({span.kind, known->second, event, line});
  }
  out.append(text, from);
  return ApplyKnown(std::move(out));
}

std::string Redactor::ApplyQuietly(std::string text) {
  const std::size_t before = redactions_.size();
  std::string out = Apply(std::move(text));
  redactions_.resize(before);
  return out;
}

void RedactTrace(Trace& trace, Redactor& redactor) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    Event& event = trace.events[i];
    event.text = redactor.Apply(std::move(event.text), i, event.line);
    // Repetitions of the text of this event or of its call.
    for (std::string* field : {&event.command, &event.path, &event.tool, &event.call_id, &event.agent}) {
      *field = redactor.ApplyQuietly(std::move(*field));
    }
  }
  // A secret recognized late may also occur earlier.
  for (Event& event : trace.events) {
    for (std::string* field : {&event.text, &event.command}) *field = redactor.ApplyKnown(std::move(*field));
  }
  for (std::string* field : {&trace.title, &trace.cwd, &trace.agent_name, &trace.agent_version, &trace.session_id}) {
    *field = redactor.Apply(std::move(*field));
  }
  for (UsedSkill& use : trace.skills) use.name = redactor.ApplyQuietly(std::move(use.name));
  for (Subagent& agent : trace.subagents) {
    for (std::string* field : {&agent.id, &agent.name, &agent.call_id})
      *field = redactor.ApplyQuietly(std::move(*field));
  }
  for (std::string& model : trace.models) model = redactor.Apply(std::move(model));
  for (ApiMessage& message : trace.messages) {
    for (std::string* field : {&message.id, &message.model, &message.agent})
      *field = redactor.ApplyQuietly(std::move(*field));
  }
  for (TraceProblem& problem : trace.problems)
    problem.message = redactor.Apply(std::move(problem.message), kNoIndex, problem.line);
  std::map<std::string, std::size_t> unknown;
  for (const auto& [kind, count] : trace.unknown_records) unknown[redactor.Apply(kind)] += count;
  trace.unknown_records = std::move(unknown);
}

std::string RedactionSummary(const std::vector<Redaction>& redactions, std::string_view done) {
  if (redactions.empty()) return "";
  struct Kind {
    std::set<std::size_t> values;
    std::size_t line = 0;
    std::size_t event = kNoIndex;  // if there is no line
  };
  std::map<std::string, Kind> kinds;
  for (const Redaction& redaction : redactions) {
    Kind& kind = kinds[redaction.kind];
    kind.values.insert(redaction.number);
    if (kind.line == 0) kind.line = redaction.line;
    if (kind.event == kNoIndex) kind.event = redaction.event;
  }
  std::size_t total = 0;
  std::string list;
  for (const auto& [name, kind] : kinds) {
    total += kind.values.size();
    if (!list.empty()) list += ", ";
    list += fmt::format("{} {}", kind.values.size(), name);
    if (kind.line != 0) {
      list += fmt::format(" line {}", WithThousands(static_cast<long long>(kind.line)));
    } else if (kind.event != kNoIndex) {
      list += fmt::format(" event {}", WithThousands(static_cast<long long>(kind.event) + 1));
    }
  }
  return fmt::format("{} secret{} {} ({})", total, total == 1 ? "" : "s", done, list);
}

Status AllowWithoutRedaction(bool teacher_is_local) {
  if (teacher_is_local) return {};
  return InputError(
      "--no-redact would send the secrets of the trace to another machine: omit it, or choose a local teacher "
      "(-m llama:FILE.gguf)");
}

}  // namespace upskill
