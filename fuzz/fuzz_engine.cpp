// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_engine.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/fuzz_checks.h"
#include "llama/chat_format.h"
#include "llama/special_texts.h"
#include "llama/worker_protocol.h"
#include "llama/worker_requests.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

const std::vector<std::string>& SpecialTokens() {
  static const std::vector<std::string> tokens = {"<|im_start|>", "<|im_end|>", "<|im_end|>x", "<s>", "</s>", "[X]"};
  return tokens;
}

std::vector<std::string> Contents(std::string_view input) {
  constexpr std::string_view kBetween = "\n---\n";
  std::vector<std::string> contents;
  while (true) {
    const std::size_t end = input.find(kBetween);
    contents.emplace_back(input.substr(0, end));
    if (end == std::string_view::npos) return contents;
    input.remove_prefix(end + kBetween.size());
  }
}

bool HasSpecialToken(std::string_view text) {
  return std::any_of(SpecialTokens().begin(), SpecialTokens().end(),
                     [&](const std::string& token) { return text.find(token) != std::string_view::npos; });
}

std::size_t Count(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// Literal pieces are special texts and nothing else.
bool IsOfSpecialTokens(std::string_view text) {
  while (!text.empty()) {
    std::size_t longest = 0;
    for (const std::string& token : SpecialTokens()) {
      if (text.starts_with(token)) longest = std::max(longest, token.size());
    }
    if (longest == 0) return false;
    text.remove_prefix(longest);
  }
  return true;
}

std::string Joined(const std::vector<PromptPiece>& pieces) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CHECK(!pieces[i].text.empty());
    CHECK(i == 0 || pieces[i].literal != pieces[i - 1].literal);
    CHECK(!pieces[i].literal || IsOfSpecialTokens(pieces[i].text));
    text += pieces[i].text;
  }
  return text;
}

constexpr const char* kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' "
    "}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

std::string ChatMlOf(const std::string& system, const std::vector<Message>& messages) {
  std::string text = system.empty() ? "" : "<|im_start|>system\n" + system + "<|im_end|>\n";
  for (const Message& message : messages) {
    text += std::string("<|im_start|>") + (message.role == Role::kUser ? "user" : "assistant") + "\n" + message.text +
            "<|im_end|>\n";
  }
  return text + "<|im_start|>assistant\n";
}

void UseMessage(const Json& message) {
  // Both ends write what they read.
  const Json request = RequestToJson(RequestFromJson(message));
  CHECK(DumpJson(RequestToJson(RequestFromJson(request))) == DumpJson(request));
  const Json load = LoadMessage(LoadOrderFrom(message));
  CHECK(DumpJson(LoadMessage(LoadOrderFrom(load))) == DumpJson(load));
  const ChatResponse response = ResponseFromJson(Member(message, "response"));
  CHECK(response.seconds >= 0.0 && response.usage.prompt() >= 0 && response.usage.output >= 0);
  CHECK(DumpJson(ResponseToJson(ResponseFromJson(ResponseToJson(response)))) == DumpJson(ResponseToJson(response)));
  CHECK(InfoFromJson(Member(message, "info")).in_process);
  const Error error = ErrorFromJson(Member(message, "error"));
  CHECK(ErrorFromJson(ErrorToJson(error)).kind == error.kind);

  MessageReader reader(std::size_t{1} << 24U);
  reader.Add(EncodeMessage(message));
  const Result<std::optional<Json>> again = reader.Next();
  CHECK(again.ok() && again->has_value() && DumpJson(**again) == DumpJson(message));
}

// All messages up to the first that is wrong, from pieces of this size.
std::vector<std::string> MessagesIn(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 16U;
  MessageReader reader(kMaxMessageBytes);
  std::vector<std::string> messages;
  while (!bytes.empty()) {
    reader.Add(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      const Result<std::optional<Json>> message = reader.Next();
      if (!Parsed(message)) {
        messages.emplace_back("error");
        return messages;
      }
      if (!*message) break;
      CHECK((*message)->is_object());
      messages.push_back(DumpJson(**message));
    }
  }
  return messages;
}

// Whatever the worker answers, every request is answered exactly once.
void AnswerWith(const std::vector<Json>& messages) {
  constexpr int kRequests = 3;
  std::vector<int> answers(kRequests, 0);
  {
    WorkerRequests requests;
    for (int& count : answers) requests.Start(ChatRequest(), [&count](const Result<ChatResponse>&) { ++count; });
    for (const Json& message : messages) {
      requests.TakeAnswer(message);
      requests.TakeCount(message);
    }
    CHECK(std::all_of(answers.begin(), answers.end(), [](int count) { return count <= 1; }));
  }
  CHECK(std::all_of(answers.begin(), answers.end(), [](int count) { return count == 1; }));
}

}  // namespace

void FuzzSpecialTexts(std::string_view input) {
  static const SpecialTexts specials(SpecialTokens());
  const std::vector<std::string> contents = Contents(input);
  const SpecialTexts::Hidden hidden = specials.Hide(contents);
  CHECK(hidden.contents.size() == contents.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    CHECK(!HasSpecialToken(hidden.contents[i]));
    CHECK(HasSpecialToken(contents[i]) || hidden.contents[i] == contents[i]);
    found += contents[i] == hidden.contents[i] ? 0 : 1;
    const std::vector<PromptPiece> pieces = SpecialTexts::Reveal(hidden.contents[i], hidden);
    CHECK(Joined(pieces) == contents[i]);
    CHECK(std::none_of(pieces.begin(), pieces.end(),
                       [](const PromptPiece& piece) { return !piece.literal && HasSpecialToken(piece.text); }));
  }
  CHECK(hidden.texts.size() >= found && hidden.mark.empty() == hidden.texts.empty());
}

void FuzzChatTemplate(std::string_view input) {
  static const ChatFormat format = *ChatFormat::ForTemplate(kChatMl, SpecialTokens());
  if (FindInvalidUtf8(input)) return;
  const std::vector<std::string> contents = Contents(input);
  std::vector<Message> messages;
  for (std::size_t i = 1; i < contents.size(); ++i)
    messages.push_back({i % 2 == 1 ? Role::kUser : Role::kAssistant, contents[i]});
  if (messages.empty() || messages.back().role == Role::kAssistant) messages.push_back({Role::kUser, "Answer."});
  const Result<ChatFormat::Prompt> prompt = format.Render(contents.front(), messages);
  if (!Parsed(prompt)) return;
  CHECK(Joined(prompt->pieces) == ChatMlOf(contents.front(), messages));
  std::size_t begins = 0;
  std::size_t ends = 0;
  for (const PromptPiece& piece : prompt->pieces) {
    if (piece.literal) continue;
    begins += Count(piece.text, "<|im_start|>");
    ends += Count(piece.text, "<|im_end|>");
  }
  const std::size_t roles = messages.size() + (contents.front().empty() ? 0 : 1);
  CHECK(begins == roles + 1 && ends == roles);
  const ChatFormat::Answer answer = format.Parse(*prompt, contents.back());
  CHECK(answer.text.size() + answer.reasoning.size() <= contents.back().size() + prompt->generation_prompt.size());
}

void FuzzWorkerMessages(std::string_view input) {
  if (const Result<Json> message = ParseJson(input, "message"); Parsed(message) && message->is_object()) {
    UseMessage(*message);
    AnswerWith({*message, *message});
  }
  const std::vector<std::string> texts = MessagesIn(input, std::max<std::size_t>(input.size(), 1));
  CHECK(texts == MessagesIn(input, 1));
  std::vector<Json> messages;
  for (const std::string& text : texts) {
    if (Result<Json> message = ParseJson(text, "message"); message.ok()) messages.push_back(*std::move(message));
  }
  for (const Json& message : messages) UseMessage(message);
  AnswerWith(messages);
}

}  // namespace upskill
