// SPDX-License-Identifier: Apache-2.0
// The part of the engine that draws the tokens of answers, guesses some, and ends answers.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "llama/engine.h"
#include "llama/token_guess.h"
#include "util/invariant.h"
#include "util/log.h"
#include "util/terminal_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMostAnswersWithGuesses = 12;
constexpr std::size_t kMostGuesses = 8;  // for one answer

}  // namespace

// A batch of a few tokens takes about as long as one of some more, because each reads all weights: the rest is spent on
// guesses of what comes next. A guess that is right saves a batch, and none changes an answer: each token is still
// drawn from the model's own numbers.
void Engine::AddGuesses() {
  if (stateful_ || batch_.n_tokens > kMostAnswersWithGuesses) return;
  std::vector<Slot*> guessing;
  for (Slot& slot : slots_) {
    if (slot.logits_index < 0) continue;
    const auto most = static_cast<std::size_t>(slot.work.max_output - slot.output_tokens - 1);
    const auto guess = GuessNext(slot.history, std::min(slot.trust, most));
    slot.guessed.assign(guess.begin(), guess.end());
    if (!guess.empty()) guessing.push_back(&slot);
  }
  std::size_t left = settings_.guessed_tokens;
  for (std::size_t i = 0; i < guessing.size(); ++i) {
    Slot& slot = *guessing[i];
    const std::size_t others = guessing.size() - i - 1;
    slot.guessed.resize(std::min(slot.guessed.size(), (left + others) / (others + 1)));
    left -= slot.guessed.size();
    slot.guessed_index = batch_.n_tokens;
    for (std::size_t k = 0; k < slot.guessed.size(); ++k)
      AddToBatch(slot.guessed[k], slot.history.size() + k, SequenceOf(slot), true);
  }
}

void Engine::AfterStep(Slot& slot) {
  if (slot.output_tokens == 0) RememberPrompt(slot);
  if (!TakeToken(slot, slot.logits_index)) return;
  std::size_t right = 0;
  while (right < slot.guessed.size() && slot.next == slot.guessed[right]) {
    if (!TakeToken(slot, slot.guessed_index + static_cast<int>(right))) return;
    ++right;
  }
  const std::size_t guessed = slot.guessed.size();
  if (guessed == 0) return;
  times_.Add("guesses", guessed, 0.0);
  times_.Add("right guesses", right, 0.0);
  slot.trust = right == guessed ? std::min(2 * slot.trust, kMostGuesses) : right + 1;
  if (right < guessed)
    llama_memory_seq_rm(memory_, SequenceOf(slot), static_cast<llama_pos>(slot.history.size()) - 1, -1);
}

// Draws the next token from a row of the batch's logits. False if it ends the answer.
bool Engine::TakeToken(Slot& slot, int row) {
  const float* logits = llama_get_logits_ith(context_.get(), row);
  CHECK(logits != nullptr);
  const auto vocabulary = static_cast<std::size_t>(llama_vocab_n_tokens(vocab_));
  const llama_token token = slot.sampler->Draw({logits, vocabulary});
  ++slot.output_tokens;
  if (settings_.life != nullptr) {
    settings_.life->written.tokens = slot.output_tokens;
    settings_.life->written.most = slot.work.max_output;
  }
  const bool ends = llama_vocab_is_eog(vocab_, token) || Append(slot, token);
  if (ends || slot.output_tokens >= slot.work.max_output) {
    Finish(slot, ends ? StopReason::kEnd : StopReason::kLength);
    return false;
  }
  slot.next = token;
  slot.history.push_back(token);
  return true;
}

// Keeps the evaluated prompt for later rounds of the same case. Uses no additional cells: they change their owner.
void Engine::RememberPrompt(Slot& slot) {
  if (stateful_) return;
  const Tokens& tokens = slot.work.tokens;
  if (prompts_.Find(tokens, tokens.size()).length == tokens.size()) return;
  const std::optional<PromptCache::Insertion> place = prompts_.Insert(tokens, slot.shared);
  if (!place) return;
  if (place->evicted_sequence) llama_memory_seq_rm(memory_, *place->evicted_sequence, -1, -1);
  llama_memory_seq_cp(memory_, SequenceOf(slot), place->sequence, -1, static_cast<llama_pos>(tokens.size()));
  slot.reserved -= tokens.size() - slot.shared.length;
  prompts_.Retain(place->entry);
  prompts_.Release(slot.shared.entry);
  slot.shared.entry = place->entry;
}

// Appends the token's text to the answer. True when a stop text of the chat format is complete.
bool Engine::Append(Slot& slot, llama_token token) {
  std::string piece(64, '\0');
  const auto render = [&](bool special) {
    int length = llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, special);
    if (length < 0) {
      piece.resize(static_cast<std::size_t>(-length));
      length = llama_token_to_piece(vocab_, token, piece.data(), -length, 0, special);
    }
    return std::string_view(piece.data(), static_cast<std::size_t>(std::max(length, 0)));
  };
  const ChatFormat::Prompt& prompt = slot.work.prompt;
  const std::string_view plain = render(false);
  if (plain.empty()) {
    const std::string_view special = render(true);
    const auto& preserved = prompt.preserved_tokens;
    if (std::find(preserved.begin(), preserved.end(), special) != preserved.end()) slot.text += special;
    return false;
  }
  slot.text += plain;
  for (const std::string& stop : prompt.stops) {
    const std::size_t window = stop.size() + plain.size();
    const std::size_t from = slot.text.size() > window ? slot.text.size() - window : 0;
    const std::size_t at = stop.empty() ? std::string::npos : slot.text.find(stop, from);
    if (at != std::string::npos) {
      slot.text.resize(at);
      return true;
    }
  }
  return false;
}

void Engine::Finish(Slot& slot, StopReason reason) {
  ChatResponse response;
  ChatFormat::Answer answer = format_.Parse(slot.work.prompt, slot.text);
  response.text = ReplaceInvalidUtf8(answer.text);
  response.reasoning = ReplaceInvalidUtf8(answer.reasoning);
  response.stop = reason == StopReason::kEnd && !answer.calls.empty() ? StopReason::kToolUse : reason;
  response.tool_calls = std::move(answer.calls);
  const auto prompt = static_cast<std::int64_t>(slot.work.tokens.size());
  const std::int64_t shared = static_cast<std::int64_t>(slot.shared.length) - slot.prefix_cost;
  response.usage.cache_read = std::max<std::int64_t>(shared, 0);
  response.usage.input = prompt - response.usage.cache_read;
  response.usage.output = slot.output_tokens;
  response.seconds = EngineTimes::SecondsSince(slot.started_us);
  const std::size_t index = IndexOf(slot);
  FreeSlot(index);
  LogTimes();
  scheduler_.Finish(index, std::move(response));
}

// Once all sequences have ended.
void Engine::LogTimes() {
  if (!IsLogging() || std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.running; })) return;
  if (const Json table = times_.Take(); !table.empty()) Log("engine", DumpJson(table));
}

}  // namespace upskill
