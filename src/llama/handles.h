// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <memory>

namespace upskill {

// Owners of llama.cpp's C handles.
struct LlamaModelDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct LlamaContextDeleter {
  void operator()(llama_context* context) const { llama_free(context); }
};
struct LlamaSamplerDeleter {
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

using LlamaModelHandle = std::unique_ptr<llama_model, LlamaModelDeleter>;
using LlamaContextHandle = std::unique_ptr<llama_context, LlamaContextDeleter>;
using LlamaSamplerHandle = std::unique_ptr<llama_sampler, LlamaSamplerDeleter>;

}  // namespace upskill
