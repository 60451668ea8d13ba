// SPDX-License-Identifier: Apache-2.0
// The part of the engine that sizes and creates the llama.cpp context.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "llama/engine.h"
#include "llama/library_log.h"
#include "util/memory.h"

namespace upskill {
namespace {

constexpr std::size_t kBatchTokens = 512;
constexpr std::size_t kCellGranularity = 256;

std::size_t RoundUp(std::size_t cells) { return (cells + kCellGranularity - 1) / kCellGranularity * kCellGranularity; }

// Bytes of one KV cell at 16 bits: keys and values of every layer. An upper bound for models with unusual layers.
std::size_t BytesPerCell(const llama_model* model) {
  const auto layers = static_cast<std::size_t>(llama_model_n_layer(model));
  const auto heads = static_cast<std::size_t>(std::max(1, llama_model_n_head(model)));
  const auto kv_heads = static_cast<std::size_t>(std::max(1, llama_model_n_head_kv(model)));
  const auto width = static_cast<std::size_t>(llama_model_n_embd(model));
  return layers * (width / heads * kv_heads) * 2 * 2;
}

}  // namespace

// Ensures a context that the request fits into when it is alone. Grows it between batches if necessary.
Status Engine::EnsureContext(const Prepared& work) {
  const auto output = static_cast<std::size_t>(work.max_output);
  const std::size_t alone = work.tokens.size() + work.prefix.size() + output;
  if (context_ && alone <= cells_) return {};
  if (context_ && scheduler_.AnyRunning()) return {};  // TryToAdmit makes the request wait for the others
  std::size_t wanted = alone;
  if (!context_) {
    // The first request shows what the others will be like: all sequences at once, the prefixes of both arms, repeated
    // prompts.
    const std::size_t own = work.tokens.size() - work.prefix.size();
    wanted = static_cast<std::size_t>(settings_.parallel) * (output + 2 * own + 64) + 2 * work.prefix.size() + 2048;
    const std::size_t affordable = AvailableMemory() / 2 / std::max<std::size_t>(1, BytesPerCell(model_.get()));
    if (affordable > 0) wanted = std::clamp(wanted, alone, std::max(alone, affordable));
    if (settings_.context_tokens > 0) wanted = std::max(alone, static_cast<std::size_t>(settings_.context_tokens));
  }
  return CreateContext(RoundUp(wanted));
}

// Called by llama.cpp for every node of the graph, so that even a batch that takes minutes shows signs of life.
bool Engine::IsAborted() {
  if (settings_.life != nullptr) settings_.life->Beat();
  return scheduler_.aborted().load();
}

Status Engine::CreateContext(std::size_t cells) {
  const std::size_t bytes = cells * BytesPerCell(model_.get());
  if (const std::size_t available = AvailableMemory(); available > 0 && bytes > available) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("not enough memory: the KV cache for {} tokens needs about {} MB, but {} MB are free; use "
                             "fewer concurrent requests or fewer tokens per answer",
                             cells, bytes >> 20U, available >> 20U)};
  }
  prompts_.Clear();
  memory_ = nullptr;
  context_.reset();
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(cells);
  params.n_batch = kBatchTokens;
  params.n_ubatch = kBatchTokens;
  params.n_seq_max = static_cast<std::uint32_t>(settings_.parallel + static_cast<int>(prompts_.capacity()));
  params.n_outputs_max = params.n_seq_max;  // llama.cpp reserves one per sequence; the default is the batch size
  params.n_threads = settings_.threads;
  params.n_threads_batch = settings_.threads;
  params.kv_unified = true;  // the sequences share the cells of their common prefix
  params.swa_full = true;    // a sliding window would drop the prefix that later sequences share
  // Flash attention skips the cells of other sequences; without it they would be computed and thrown away.
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.no_perf = true;
  params.abort_callback = [](void* engine) { return static_cast<Engine*>(engine)->IsAborted(); };
  params.abort_callback_data = this;
  TakeLibraryError();
  context_.reset(llama_init_from_model(model_.get(), params));
  if (!context_) {
    cells_ = 0;
    return Error{ErrorKind::kPermanent, fmt::format("the model can't be set up for {} tokens and {} sequences: {}",
                                                    cells, settings_.parallel, TakeLibraryError())};
  }
  memory_ = llama_get_memory(context_.get());
  cells_ = llama_n_ctx(context_.get());
  if (batch_capacity_ == 0) {
    batch_capacity_ = static_cast<int>(kBatchTokens);
    batch_ = llama_batch_init(batch_capacity_, 0, 1);
  }
  return {};
}

}  // namespace upskill
