// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "eval/plan/prompts.h"
#include "model/structured_answer.h"
#include "prompts/prompts.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

using QuestionKind = JudgeQuestion::Kind;

constexpr std::size_t kMaxReasonBytes = 2000;
constexpr std::size_t kMaxQuotes = 8;
constexpr std::size_t kMaxQuoteBytes = 500;
constexpr std::size_t kShortQuoteBytes = 3;  // below that, a quote must be a word or number

Json Schema(QuestionKind kind) {
  Json properties = {{"quotes", {{"type", "array"}, {"items", {{"type", "string"}}}}},
                     {"reason", {{"type", "string"}}}};
  const char* const verdict = kind == QuestionKind::kRubric ? "met" : "better";
  properties[verdict] = kind == QuestionKind::kRubric ? Json{{"type", "boolean"}}
                                                      : Json{{"type", "string"}, {"enum", {"A", "B", "neither"}}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"quotes", "reason", verdict}},
          {"additionalProperties", false}};
}

// A text as quotes are compared: in lower case and without what models change when they copy, that is white space,
// quotation marks and marks of emphasis.
std::string Comparable(std::string_view text) {
  constexpr std::string_view kDropped = " \n\t\r\"'`*\\";
  constexpr std::array<std::string_view, 4> kQuotationMarks = {"\xE2\x80\x9C", "\xE2\x80\x9D", "\xE2\x80\x98",
                                                               "\xE2\x80\x99"};
  constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
  std::string normal;
  while (!text.empty()) {
    const auto* const mark = std::find_if(kQuotationMarks.begin(), kQuotationMarks.end(),
                                          [&](std::string_view one) { return text.starts_with(one); });
    std::size_t bytes = 1;
    if (mark != kQuotationMarks.end()) {
      bytes = mark->size();
    } else if (text.starts_with(kEllipsis)) {
      normal += "...";
      bytes = kEllipsis.size();
    } else if (kDropped.find(text.front()) == std::string_view::npos) {
      normal += text.front();
    }
    text.remove_prefix(bytes);
  }
  return ToLowerAscii(normal);
}

// Whether the quote occurs, also with omissions ("…") in it.
bool Occurs(std::string_view quote, const std::string& text) {
  std::size_t from = 0;
  std::string rest = Comparable(quote);
  while (!rest.empty()) {
    const std::size_t gap = rest.find("...");
    const std::string piece = rest.substr(0, gap);
    rest = gap == std::string::npos ? "" : rest.substr(gap + 3);
    const std::size_t at = text.find(piece, from);
    if (at == std::string::npos) return false;
    from = at + piece.size();
  }
  return true;
}

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// Whether a quote is enough to rest a verdict on: a single letter or a full stop is in every text.
bool ShowsSomething(std::string_view quote, std::string_view text) {
  quote = Trim(quote);
  if (Comparable(quote).size() >= kShortQuoteBytes) return true;
  if (quote.empty() || !std::all_of(quote.begin(), quote.end(), IsWordByte)) return false;
  for (std::size_t at = text.find(quote); at != std::string_view::npos; at = text.find(quote, at + 1)) {
    const std::size_t end = at + quote.size();
    if ((at == 0 || !IsWordByte(text[at - 1])) && (end == text.size() || !IsWordByte(text[end]))) return true;
  }
  return false;
}

// The answer without what models may put around JSON: their reasoning before it, one fence. The judged text may contain
// a verdict of its own, and judges repeat it, so an object somewhere in the answer isn't the judge's.
std::string_view WithoutWrapping(std::string_view answer) {
  constexpr std::string_view kThink = "<think>";
  constexpr std::string_view kThinkEnd = "</think>";
  answer = Trim(answer);
  if (answer.starts_with(kThink)) {
    const std::size_t end = answer.rfind(kThinkEnd);
    answer = end == std::string_view::npos ? std::string_view() : Trim(answer.substr(end + kThinkEnd.size()));
  }
  constexpr std::string_view kFence = "```";
  if (answer.starts_with(kFence) && answer.ends_with(kFence) && answer.find('\n') != std::string_view::npos) {
    answer.remove_prefix(answer.find('\n') + 1);
    if (answer.ends_with(kFence)) answer.remove_suffix(kFence.size());
  }
  return Trim(answer);
}

// Whether the answer states the verdict's key more than once, of which JSON would keep the last.
bool StatesTwice(std::string_view object, std::string_view key) {
  std::size_t count = 0;
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = object.find(quoted); at != std::string_view::npos; at = object.find(quoted, at + 1)) {
    std::size_t after = at + quoted.size();
    while (after < object.size() && std::string_view(" \t\r\n").find(object[after]) != std::string_view::npos) ++after;
    const bool escaped = at > 0 && object[at - 1] == '\\';
    if (!escaped && after < object.size() && object[after] == ':') ++count;
  }
  return count > 1;
}

JudgeWord WordOf(QuestionKind kind, const Json& verdict) {
  if (kind == QuestionKind::kRubric) return verdict.get<bool>() ? JudgeWord::kMet : JudgeWord::kNotMet;
  if (verdict == "neither") return JudgeWord::kEqual;
  return (verdict == "A") == (kind == QuestionKind::kAnswerFirst) ? JudgeWord::kAnswerBetter
                                                                  : JudgeWord::kReferenceBetter;
}

}  // namespace

ChatRequest JudgeRequest(const Case& test_case, const AskedQuestion& asked) {
  const QuestionKind kind = asked.question.kind;
  const std::string request = UserMessage(test_case);
  const std::string& reference = kind == QuestionKind::kRubric ? test_case.reference : asked.reference;
  constexpr std::size_t kMarkDigits = 8;
  // A text can't contain a hash of itself, so that no answer ends its own quotation.
  PromptValues values = {{"mark", Sha256Hex(request + "\n" + asked.text + "\n" + reference).substr(0, kMarkDigits)},
                         {"request", request},
                         {"rubric", std::string(Trim(asked.question.rubric))}};
  if (kind == QuestionKind::kRubric) {
    values["reference"] = reference;
    values["answer"] = asked.text;
  } else {
    const bool answer_first = kind == QuestionKind::kAnswerFirst;
    values["first"] = answer_first ? asked.text : reference;
    values["second"] = answer_first ? reference : asked.text;
  }
  ChatRequest chat;
  chat.system = BuiltInPrompts().Render("judge-system");
  chat.messages.push_back(
      {Role::kUser, BuiltInPrompts().Render(kind == QuestionKind::kRubric ? "judge" : "judge-pair", values)});
  chat.sampling.max_tokens = kMaxJudgeTokens;
  chat.answer_schema = Schema(kind);
  constexpr std::size_t kIdDigits = 40;
  const std::string hash = Sha256Hex(chat.system + "\n" + chat.messages[0].text);
  chat.id = hash.substr(0, kIdDigits);
  chat.sampling.seed = std::stoull(hash.substr(0, 8), nullptr, 16);
  return chat;
}

std::string JudgmentKey(const std::string& judge_identity, const ChatRequest& request) {
  return Sha256Hex(judge_identity + "\n" + request.system + "\n" + request.messages.front().text);
}

std::string JudgePromptsHash() {
  const Prompts& prompts = BuiltInPrompts();
  return Sha256Hex(prompts.Text("judge-system") + "\n" + prompts.Text("judge") + "\n" + prompts.Text("judge-pair"));
}

Result<Judgment> ReadJudgment(const AskedQuestion& asked, std::string_view answer) {
  const QuestionKind kind = asked.question.kind;
  const char* const key = kind == QuestionKind::kRubric ? "met" : "better";
  const std::string_view object = WithoutWrapping(answer);
  if (!object.starts_with('{') || !object.ends_with('}') || !ParseJson(object, "verdict")) {
    return InputError(
        "it isn't one JSON object alone; reply with the object of the verdict and nothing before or after it");
  }
  if (StatesTwice(object, key)) return InputError(fmt::format("\"{}\" is stated more than once; state it once", key));
  ASSIGN_OR_RETURN(const Json json, StructuredJson(object, Schema(kind)));
  Judgment judgment;
  judgment.word = WordOf(kind, json.at(key));
  judgment.reason = ExcerptLine(json.at("reason").get_ref<const std::string&>(), kMaxReasonBytes);
  const std::string text = Comparable(kind == QuestionKind::kRubric ? asked.text : asked.text + "\n" + asked.reference);
  bool shown = false;
  for (const Json& item : json.at("quotes")) {
    const std::string& quote = item.get_ref<const std::string&>();
    if (Trim(quote).empty()) continue;
    if (!Occurs(quote, text)) {
      return InputError(fmt::format("the quote \"{}\" isn't in the text; copy the words exactly as they are there",
                                    ExcerptLine(quote, 200)));
    }
    shown = shown || ShowsSomething(quote, asked.text);
    if (judgment.quotes.size() < kMaxQuotes) judgment.quotes.push_back(ExcerptLine(quote, kMaxQuoteBytes));
  }
  if (judgment.word == JudgeWord::kMet && !shown)
    return InputError("no quote shows that the rubric is met; copy the words of the answer that show it");
  return judgment;
}

}  // namespace upskill
