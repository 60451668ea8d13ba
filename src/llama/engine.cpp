// SPDX-License-Identifier: Apache-2.0
#include "llama/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <exception>

#include "llama/library_log.h"

namespace upskill {
namespace {

constexpr int kPromptEntries = 96;      // sequences that hold shared prefixes and repeated prompts
constexpr std::size_t kMinPrefix = 16;  // shorter ones aren't worth a sequence
constexpr std::size_t kKnownPrefixes = 256;

}  // namespace

Engine::Engine(LlamaModelHandle model, ChatFormat format, ModelInfo info, Settings settings)
    : model_(std::move(model)),
      vocab_(llama_model_get_vocab(model_.get())),
      tokenizer_(vocab_),
      format_(std::move(format)),
      info_(std::move(info)),
      settings_(settings),
      stateful_(llama_model_is_recurrent(model_.get()) || llama_model_is_hybrid(model_.get())),
      governor_(settings.threads),
      prompts_(settings.parallel, kPromptEntries, stateful_),
      slots_(static_cast<std::size_t>(settings.parallel)),
      scheduler_(settings.parallel, settings.promise_patience),
      thread_([this] { Run(); }) {}

Engine::~Engine() {
  scheduler_.Cancel(CancelScope::kRunning);
  scheduler_.Stop();
  thread_.join();
  if (batch_capacity_ > 0) llama_batch_free(batch_);
}

void Engine::Start(ChatRequest request, Done done) { scheduler_.Submit(std::move(request), std::move(done)); }

void Engine::Cancel(CancelScope scope) { scheduler_.Cancel(scope); }

// An exception that left the thread would end the program. The KV cache may then hold a part of a batch, so it ends all
// requests that were started.
void Engine::Run() {
  while (true) {
    const Scheduler::Move move = NextMove();
    try {
      Do(move);
    } catch (const std::exception& e) {
      FailAll(Error{ErrorKind::kPermanent, fmt::format("the engine failed: {}", e.what())}.Because(ErrorCause::kCrash));
    }
    if (move.action == Scheduler::Action::kStop) return;
  }
}

void Engine::Do(const Scheduler::Move& move) {
  switch (move.action) {
    case Scheduler::Action::kBegin:
      return Begin(move.slot, move.request);
    case Scheduler::Action::kTryAgain:
      return TryToAdmit(move.slot);
    case Scheduler::Action::kEvaluate:
      return Step();
    case Scheduler::Action::kForget:
      slots_[move.slot] = Slot{};
      return;
    case Scheduler::Action::kEndAll:
    case Scheduler::Action::kStop:
      return FailAll(CancelledError());
  }
}

// A thread that waits for requests shows no sign of life, and need not.
Scheduler::Move Engine::NextMove() {
  const std::int64_t start = llama_time_us();
  if (settings_.life != nullptr) settings_.life->waiting = true;
  Scheduler::Move move = scheduler_.Next();
  if (settings_.life != nullptr) {
    settings_.life->waiting = false;
    settings_.life->Beat();
  }
  times_.Add("waiting", 0, EngineTimes::SecondsSince(start));
  return move;
}

void Engine::Begin(std::size_t index, const ChatRequest& request) {
  Result<Prepared> prepared = Prepare(request);
  if (!prepared) return scheduler_.Finish(index, prepared.error());
  slots_[index] = Slot{};
  slots_[index].work = std::move(prepared).value();
  TryToAdmit(index);
}

Result<Engine::Prepared> Engine::Prepare(const ChatRequest& request) {
  Prepared work;
  work.sampling = request.sampling;
  ASSIGN_OR_RETURN(work.prompt, format_.Render(request.system, request.messages, request.answer_schema, request.tools));
  ASSIGN_OR_RETURN(work.tokens, tokenizer_.Prompt(work.prompt.pieces));
  const auto trained = static_cast<std::size_t>(llama_model_n_ctx_train(model_.get()));
  if (work.tokens.size() + 1 > trained) {
    return Error{ErrorKind::kPermanent, fmt::format("the prompt has {} tokens, but the model's context has only {}",
                                                    work.tokens.size(), trained)}
        .Because(ErrorCause::kRejected);
  }
  work.max_output = std::min(std::max(1, request.sampling.max_tokens), static_cast<int>(trained - work.tokens.size()));
  ASSIGN_OR_RETURN(work.prefix, PrefixOf(request, work.tokens));
  ASSIGN_OR_RETURN(work.grammar, GrammarOf(work.prompt));
  return work;
}

// The prompt's grammar, advanced past the part of the answer that the prompt contains, or waiting for its triggers;
// null without one.
Result<LlamaSamplerHandle> Engine::GrammarOf(const ChatFormat::Prompt& prompt) const {
  if (prompt.grammar.empty()) return LlamaSamplerHandle();
  const auto failed = [](const std::string& why) {
    return Error{ErrorKind::kPermanent, fmt::format("answers can't be constrained to the schema: {}", why)}.Because(
        ErrorCause::kRejected);
  };
  TakeLibraryError();
  try {
    if (!prompt.triggers.empty()) return LazyGrammarOf(prompt);
    LlamaSamplerHandle grammar(llama_sampler_init_grammar(vocab_, prompt.grammar.c_str(), "root"));
    if (!grammar) return failed(TakeLibraryError());
    for (const llama_token token : tokenizer_.Markup(prompt.generation_prompt)) {
      if (llama_vocab_is_eog(vocab_, token)) return failed("the chat template begins answers with an end token");
      llama_sampler_accept(grammar.get(), token);
    }
    return grammar;
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

// For calls of tools: text before a call is free.
Result<LlamaSamplerHandle> Engine::LazyGrammarOf(const ChatFormat::Prompt& prompt) const {
  std::vector<const char*> triggers;
  triggers.reserve(prompt.triggers.size());
  for (const std::string& trigger : prompt.triggers) triggers.push_back(trigger.c_str());
  LlamaSamplerHandle grammar(llama_sampler_init_grammar_lazy_patterns(vocab_, prompt.grammar.c_str(), "root",
                                                                      triggers.data(), triggers.size(), nullptr, 0));
  if (grammar) return grammar;
  return Error{ErrorKind::kPermanent, fmt::format("calls of the tools can't be forced: {}", TakeLibraryError())}
      .Because(ErrorCause::kRejected);
}

// The tokens before the first place where the user's message matters, found by rendering another message.
Result<Engine::Tokens> Engine::PrefixOf(const ChatRequest& chat, const Tokens& tokens) {
  std::string key = chat.system;
  for (const Tool& tool : chat.tools)
    key += fmt::format("{0}{1}{0}{2}{0}{3}", '\0', tool.name, tool.description, DumpJson(tool.schema));
  auto known = prefixes_.find(key);
  if (known == prefixes_.end()) {
    ASSIGN_OR_RETURN(const ChatFormat::Prompt probe,
                     format_.Render(chat.system, {{Role::kUser, "\u2402"}}, std::nullopt, chat.tools));
    ASSIGN_OR_RETURN(Tokens probe_tokens, tokenizer_.Prompt(probe.pieces));
    if (prefixes_.size() >= kKnownPrefixes) prefixes_.clear();
    known = prefixes_.emplace(std::move(key), std::move(probe_tokens)).first;
  }
  Tokens& prefix = known->second;
  const std::size_t bound = std::min(prefix.size(), tokens.size());
  const auto end =
      std::mismatch(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(bound), tokens.begin()).first;
  prefix.erase(end, prefix.end());
  return prefix;
}

std::size_t Engine::CellsInUse() const {
  std::size_t cells = prompts_.cells();
  for (const Slot& slot : slots_) cells += slot.reserved;
  return cells;
}

// Evicts shared prompts until `cells` more fit.
bool Engine::MakeRoom(std::size_t cells) {
  while (CellsInUse() + cells > cells_) {
    const std::optional<int> evicted = prompts_.EvictOne();
    if (!evicted) return false;
    llama_memory_seq_rm(memory_, *evicted, -1, -1);
  }
  return true;
}

// False: no room until other requests finish.
bool Engine::MakeRoomFor(const Prepared& work) {
  const auto output = static_cast<std::size_t>(work.max_output);
  // What is already shared needs no room, and must not be evicted to make some.
  const PromptCache::Match present = prompts_.Find(work.tokens, work.tokens.size() - 1);
  prompts_.Retain(present.entry);
  const bool fits = MakeRoom(work.tokens.size() - present.length + output);
  prompts_.Release(present.entry);
  if (fits) return true;
  if (scheduler_.AnyRunning()) return false;
  // Alone it always fits (EnsureContext), but perhaps not next to the prompt that it shares a prefix with.
  CHECK(MakeRoom(work.tokens.size() + output));
  return true;
}

// Starts the sequence of a ready request, sharing what has been evaluated already, or makes it wait for room.
void Engine::TryToAdmit(std::size_t index) {
  Slot& slot = slots_[index];
  Prepared& work = slot.work;
  if (const Status ready = EnsureContext(work); !ready) return scheduler_.Finish(index, ready.error());
  const std::int64_t now = llama_time_us();
  if (!MakeRoomFor(work)) return scheduler_.Hold(index);
  if (work.prefix.size() >= kMinPrefix) {
    const Result<std::int64_t> evaluated = EvaluatePrefix(work.prefix);
    if (!evaluated) return FailAll(evaluated.error());
    slot.prefix_cost = *evaluated;
  }
  // The last prompt token is always evaluated: its logits start the answer.
  slot.shared = prompts_.Find(work.tokens, work.tokens.size() - 1);
  slot.evaluated = slot.shared.length;
  slot.reserved = work.tokens.size() - slot.shared.length + static_cast<std::size_t>(work.max_output);
  slot.started_us = now;
  slot.history = work.tokens;
  slot.sampler.emplace(work.sampling, std::move(work.grammar));
  prompts_.Retain(slot.shared.entry);
  if (slot.shared.entry >= 0) {
    llama_memory_seq_cp(memory_, slot.shared.sequence, SequenceOf(slot), -1,
                        stateful_ ? -1 : static_cast<llama_pos>(slot.shared.length));
  }
  slot.running = true;
  scheduler_.Admit(index);
}

// Puts `prefix` into the KV cache as an entry of its own. Returns how many tokens had to be evaluated. After an error
// the cache may hold a part of it: every request must fail.
Result<std::int64_t> Engine::EvaluatePrefix(const Tokens& prefix) {
  const PromptCache::Match parent = prompts_.Find(prefix, prefix.size());
  if (parent.length == prefix.size()) return std::int64_t{0};
  const std::optional<PromptCache::Insertion> place = prompts_.Insert(prefix, parent);
  if (!place) return std::int64_t{0};
  if (place->evicted_sequence) llama_memory_seq_rm(memory_, *place->evicted_sequence, -1, -1);
  if (parent.entry >= 0) {
    llama_memory_seq_cp(memory_, parent.sequence, place->sequence, -1,
                        stateful_ ? -1 : static_cast<llama_pos>(parent.length));
  }
  std::size_t done = parent.length;
  while (done < prefix.size()) {
    batch_.n_tokens = 0;
    while (done < prefix.size() && batch_.n_tokens < batch_capacity_) {
      AddToBatch(prefix[done], done, place->sequence, done + 1 == prefix.size());
      ++done;
    }
    if (const int code = Decode(static_cast<std::size_t>(batch_.n_tokens), 0); code != 0) {
      if (code == 2) return CancelledError();
      return Error{ErrorKind::kUnavailable,
                   fmt::format("evaluating the prompt failed (code {}) {}", code, TakeLibraryError())}
          .Because(ErrorCause::kCrash);
    }
  }
  return static_cast<std::int64_t>(prefix.size() - parent.length);
}

void Engine::AddToBatch(llama_token token, std::size_t position, int sequence, bool wants_logits) {
  const int i = batch_.n_tokens++;
  batch_.token[i] = token;
  batch_.pos[i] = static_cast<llama_pos>(position);
  batch_.n_seq_id[i] = 1;
  batch_.seq_id[i][0] = sequence;
  batch_.logits[i] = wants_logits ? 1 : 0;
}

// One token per answering sequence, then prompt tokens while there is room.
void Engine::FillBatch() {
  batch_.n_tokens = 0;
  for (Slot& slot : slots_) {
    slot.logits_index = -1;
    slot.guessed.clear();
    if (!slot.running || slot.evaluated < slot.work.tokens.size()) continue;
    slot.logits_index = batch_.n_tokens;
    AddToBatch(slot.next, slot.history.size() - 1, SequenceOf(slot), true);
  }
  const int answering = batch_.n_tokens;
  for (Slot& slot : slots_) {
    if (!slot.running || slot.logits_index >= 0) continue;
    const Tokens& tokens = slot.work.tokens;
    while (slot.evaluated < tokens.size() && batch_.n_tokens < batch_capacity_) {
      const bool last = slot.evaluated + 1 == tokens.size();
      if (last) slot.logits_index = batch_.n_tokens;
      AddToBatch(tokens[slot.evaluated], slot.evaluated, SequenceOf(slot), last);
      ++slot.evaluated;
    }
  }
  if (batch_.n_tokens == answering) AddGuesses();
}

// Evaluates the batch; returns llama_decode's code. `answering`: the number of sequences that get a token of their
// answer from it.
int Engine::Decode(std::size_t prompt_tokens, std::size_t answering) {
  governor_.SetMost(std::max(1, settings_.threads / sharing_));
  llama_set_n_threads(context_.get(), governor_.threads(), governor_.threads());
  const std::int64_t wall = llama_time_us();
  const std::clock_t processor = std::clock();
  const int code = llama_decode(context_.get(), batch_);
  llama_synchronize(context_.get());
  const double seconds = EngineTimes::SecondsSince(wall);
  governor_.Record(seconds, static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
  times_.AddBatch(prompt_tokens, answering, seconds);
  return code;
}

void Engine::Step() {
  FillBatch();
  if (batch_.n_tokens == 0) return;
  std::size_t answering = 0;
  std::size_t guesses = 0;
  for (const Slot& slot : slots_) {
    if (!slot.running || slot.output_tokens == 0) continue;
    ++answering;
    guesses += slot.guessed.size();
  }
  const int code = Decode(static_cast<std::size_t>(batch_.n_tokens) - answering - guesses, answering);
  if (code == 2) return;  // aborted: the scheduler ends the sequences next
  if (code != 0) {
    FailAll(
        Error{ErrorKind::kUnavailable, fmt::format("evaluating a batch failed (code {}) {}", code, TakeLibraryError())}
            .Because(ErrorCause::kCrash));
    return;
  }
  const std::int64_t start = llama_time_us();
  for (Slot& slot : slots_) {
    if (slot.running && slot.logits_index >= 0) AfterStep(slot);
  }
  times_.Add("sampling", answering, EngineTimes::SecondsSince(start));
}

void Engine::FreeSlot(std::size_t index) {
  if (memory_ != nullptr) llama_memory_seq_rm(memory_, static_cast<llama_seq_id>(index), -1, -1);
  prompts_.Release(slots_[index].shared.entry);
  slots_[index] = Slot{};
}

// Ends every request that was started and clears the KV cache, which may hold a part of a batch.
void Engine::FailAll(const Error& error) {
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    if (scheduler_.IsFree(index)) continue;
    FreeSlot(index);
    scheduler_.Finish(index, error);
  }
  prompts_.Clear();
  if (memory_ != nullptr) llama_memory_clear(memory_, false);
}

}  // namespace upskill
