// SPDX-License-Identifier: Apache-2.0
#include "llama/decoding_speed.h"

#include <algorithm>
#include <cstdint>

#include "llama/engine_times.h"
#include "llama/handles.h"
#include "llama/library_log.h"

namespace upskill {
namespace {

constexpr std::uint32_t kLeastCells = 256;

bool ShowLife(void* life) {
  if (life != nullptr) static_cast<LifeSigns*>(life)->Beat();
  return false;  // go on
}

// Different tokens, which go to different experts of a mixture.
void Fill(llama_batch& batch, int sequences, const llama_vocab* vocab) {
  const std::int64_t tokens = llama_vocab_n_tokens(vocab);
  batch.n_tokens = sequences;
  for (int i = 0; i < sequences; ++i) {
    batch.token[i] = static_cast<llama_token>(tokens * i / sequences);
    batch.pos[i] = 0;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = i;
    batch.logits[i] = 1;
  }
}

}  // namespace

double MeasureDecodingSpeed(llama_model* model, int sequences, int threads, LifeSigns* life) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = std::max(kLeastCells, static_cast<std::uint32_t>(sequences));
  params.n_batch = params.n_ubatch = params.n_seq_max = params.n_outputs_max = static_cast<std::uint32_t>(sequences);
  params.n_threads = params.n_threads_batch = threads;
  params.kv_unified = true;
  params.no_perf = true;
  params.abort_callback = ShowLife;
  params.abort_callback_data = life;
  const LlamaContextHandle context(llama_init_from_model(model, params));
  double speed = 0.0;
  if (context) {
    llama_batch batch = llama_batch_init(sequences, 0, 1);
    Fill(batch, sequences, llama_model_get_vocab(model));
    for (int time = 0; time < 2; ++time) {  // the first one also brings the weights to memory
      llama_memory_clear(llama_get_memory(context.get()), false);
      const std::int64_t start = llama_time_us();
      const bool done = llama_decode(context.get(), batch) == 0;
      llama_synchronize(context.get());
      speed = done ? sequences / std::max(EngineTimes::SecondsSince(start), 1e-6) : 0.0;
    }
    llama_batch_free(batch);
  }
  TakeLibraryError();
  return speed;
}

}  // namespace upskill
