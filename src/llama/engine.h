// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "llama/chat_format.h"
#include "llama/engine_times.h"
#include "llama/handles.h"
#include "llama/life_signs.h"
#include "llama/prompt_cache.h"
#include "llama/scheduler.h"
#include "llama/thread_governor.h"
#include "llama/token_sampler.h"
#include "llama/tokenizer.h"
#include "model/model.h"

namespace upskill {

// Evaluates many conversations at once on one loaded GGUF (continuous batching). One thread owns the context and
// carries out the scheduler's decisions, so equal requests in equal order give equal answers with the same `parallel`.
// Prefixes that requests share (system prompt and skill, repeated prompts) are evaluated once; all sequences that need
// them share their KV cells.
class Engine : public Model {
 public:
  struct Settings {
    int parallel = 1;
    int threads = 1;
    int context_tokens = 0;
    std::size_t guessed_tokens = 0;  // at most in a batch of a few answers
    std::chrono::milliseconds promise_patience = Scheduler::kPatience;
    LifeSigns* life = nullptr;  // of the engine's thread; may be null
  };

  Engine(LlamaModelHandle model, ChatFormat format, ModelInfo info, Settings settings);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const ModelInfo& info() const override { return info_; }
  void Start(ChatRequest request, Done done) override;
  void Cancel(CancelScope scope) override;
  std::optional<std::size_t> CountTokens(const std::string& text) const override { return tokenizer_.Count(text); }
  void ShareProcessors(int models) override { sharing_ = std::max(1, models); }
  // Twice the batch, so that the engine never waits for the caller.
  int Window() const override { return 2 * settings_.parallel; }
  int Parallel() const override { return settings_.parallel; }

 private:
  using Tokens = Tokenizer::Tokens;

  // A prepared request: rendered, tokenized, measured.
  struct Prepared {
    Sampling sampling;
    ChatFormat::Prompt prompt;
    Tokens tokens;
    Tokens prefix;               // the tokens that every request with this system prompt starts with
    LlamaSamplerHandle grammar;  // for the request's answer_schema or tools; may be null
    int max_output = 0;
  };

  // One sequence. Its ID in the KV cache is the slot's index.
  struct Slot {
    Prepared work;
    bool running = false;  // false: the slot is free, or its request waits for room
    std::optional<TokenSampler> sampler;
    PromptCache::Match shared;
    std::size_t evaluated = 0;     // prompt tokens in the KV cache, including shared ones
    std::size_t reserved = 0;      // cells reserved for it
    std::int64_t prefix_cost = 0;  // tokens of the shared prefix evaluated for this request
    llama_token next = 0;          // token to evaluate in the next step
    Tokens history;                // prompt and answer, `next` included
    int output_tokens = 0;
    int logits_index = -1;   // row of its logits in the current batch
    Tokens guessed;          // tokens after `next` in the current batch
    int guessed_index = -1;  // row of the first of them
    std::size_t trust = 2;   // how many to guess next time
    std::string text;
    std::int64_t started_us = 0;
  };

  void Run();
  Scheduler::Move NextMove();
  void Do(const Scheduler::Move& move);
  void Begin(std::size_t index, const ChatRequest& request);
  void TryToAdmit(std::size_t index);
  Result<Prepared> Prepare(const ChatRequest& request);
  Result<LlamaSamplerHandle> GrammarOf(const ChatFormat::Prompt& prompt) const;
  Result<LlamaSamplerHandle> LazyGrammarOf(const ChatFormat::Prompt& prompt) const;
  Result<Tokens> PrefixOf(const ChatRequest& chat, const Tokens& tokens);

  bool IsAborted();
  Status EnsureContext(const Prepared& work);
  Status CreateContext(std::size_t cells);
  bool MakeRoom(std::size_t cells);
  std::size_t CellsInUse() const;
  bool MakeRoomFor(const Prepared& work);
  Result<std::int64_t> EvaluatePrefix(const Tokens& prefix);

  int Decode(std::size_t prompt_tokens, std::size_t answering);
  void Step();
  void AddToBatch(llama_token token, std::size_t position, int sequence, bool wants_logits);
  void FillBatch();
  void AddGuesses();
  void AfterStep(Slot& slot);
  bool TakeToken(Slot& slot, int row);
  void RememberPrompt(Slot& slot);
  bool Append(Slot& slot, llama_token token);
  void Finish(Slot& slot, StopReason reason);
  void LogTimes();
  void FailAll(const Error& error);
  void FreeSlot(std::size_t index);
  std::size_t IndexOf(const Slot& slot) const { return static_cast<std::size_t>(&slot - slots_.data()); }
  int SequenceOf(const Slot& slot) const { return static_cast<int>(IndexOf(slot)); }

  const LlamaModelHandle model_;
  const llama_vocab* const vocab_;
  const Tokenizer tokenizer_;
  const ChatFormat format_;
  const ModelInfo info_;
  const Settings settings_;
  const bool stateful_;           // recurrent or hybrid: a sequence can't be cut back to a shorter prefix
  std::atomic<int> sharing_ = 1;  // models that work at the same time, this one included

  // Owned by the engine's thread.
  EngineTimes times_;
  ThreadGovernor governor_;
  LlamaContextHandle context_;
  llama_memory_t memory_ = nullptr;
  std::size_t cells_ = 0;
  llama_batch batch_{};
  int batch_capacity_ = 0;
  PromptCache prompts_;
  std::vector<Slot> slots_;
  std::map<std::string, Tokens> prefixes_;  // by system prompt and tools

  Scheduler scheduler_;  // shared with the callers
  std::thread thread_;   // last: uses everything above
};

}  // namespace upskill
