// SPDX-License-Identifier: Apache-2.0
// make_tiny_model MODEL TARGET: a GGUF for tests that need an engine but not a model that knows anything. It has the
// architecture, chat template and special tokens of MODEL and the first kVocabulary entries of its vocabulary, which
// can spell every text, but only two narrow layers of random weights (Q8_0). Its answers depend on the whole prompt, go
// on up to the token limit, and take microseconds per token.
#include <ggml.h>
#include <gguf.h>
#include <llama.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "util/rng.h"

namespace {

constexpr std::int64_t kVocabulary = 1024;
constexpr std::int64_t kSpecialTokens = 17;  // the first ones
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kFeedForward = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;

using Gguf = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

// The first `count` entries of an array of strings.
bool CutStrings(const gguf_context* from, gguf_context* to, const char* key, std::size_t count) {
  const std::int64_t id = gguf_find_key(from, key);
  if (id < 0 || gguf_get_arr_n(from, id) < count) return false;
  std::vector<const char*> strings;
  for (std::size_t i = 0; i < count; ++i) strings.push_back(gguf_get_arr_str(from, id, i));
  gguf_set_arr_str(to, key, strings.data(), count);
  return true;
}

// Each merge makes a token; those of the other tokens are left out.
bool CutVocabulary(const gguf_context* from, gguf_context* to) {
  const std::int64_t tokens = gguf_find_key(from, "tokenizer.ggml.tokens");
  const std::int64_t merges = gguf_find_key(from, "tokenizer.ggml.merges");
  const std::int64_t types = gguf_find_key(from, "tokenizer.ggml.token_type");
  if (tokens < 0 || merges < 0 || types < 0) return false;
  const std::size_t spelled = gguf_get_arr_n(from, tokens) - gguf_get_arr_n(from, merges);
  gguf_set_arr_data(to, "tokenizer.ggml.token_type", gguf_get_arr_type(from, types), gguf_get_arr_data(from, types),
                    kVocabulary);
  return CutStrings(from, to, "tokenizer.ggml.tokens", kVocabulary) &&
         CutStrings(from, to, "tokenizer.ggml.merges", kVocabulary - spelled);
}

class Weights {
 public:
  explicit Weights(gguf_context* file) : file_(file), tensors_(ggml_init({std::size_t{8} << 20U, nullptr, false})) {}
  ~Weights() { ggml_free(tensors_); }
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  void AddOnes(const std::string& name) {
    ggml_tensor* tensor = ggml_new_tensor_1d(tensors_, GGML_TYPE_F32, kWidth);
    for (std::int64_t i = 0; i < kWidth; ++i) ggml_get_data_f32(tensor)[i] = 1.0F;
    Add(name, tensor);
  }

  // Random numbers around zero that multiply the length of a vector of `columns` by about `gain`; the first
  // `zero_rows` are zero.
  void AddRandom(const std::string& name, std::int64_t columns, std::int64_t rows, double gain,
                 std::int64_t zero_rows = 0) {
    const double scale = gain * std::sqrt(3.0 / static_cast<double>(columns));
    std::vector<float> values;
    for (std::int64_t i = 0; i < columns * rows; ++i) {
      const double value = i < zero_rows * columns ? 0.0 : scale * (2.0 * random_.Uniform() - 1.0);
      values.push_back(static_cast<float>(value));
    }
    ggml_tensor* tensor = ggml_new_tensor_2d(tensors_, GGML_TYPE_Q8_0, columns, rows);
    ggml_quantize_chunk(GGML_TYPE_Q8_0, values.data(), ggml_get_data(tensor), 0, rows, columns, nullptr);
    Add(name, tensor);
  }

 private:
  void Add(const std::string& name, ggml_tensor* tensor) {
    ggml_set_name(tensor, name.c_str());
    gguf_add_tensor(file_, tensor);
  }

  gguf_context* file_;
  ggml_context* tensors_;
  upskill::Rng random_{1};
};

void AddLayers(Weights& weights) {
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    weights.AddOnes(block + "attn_norm.weight");
    weights.AddOnes(block + "ffn_norm.weight");
    // Large ones, so that each token attends to few others and its own embedding counts for little.
    for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight"})
      weights.AddRandom(block + name, kWidth, kWidth, 2.0);
    weights.AddRandom(block + "ffn_gate.weight", kWidth, kFeedForward, 1.0);
    weights.AddRandom(block + "ffn_up.weight", kWidth, kFeedForward, 1.0);
    weights.AddRandom(block + "ffn_down.weight", kFeedForward, kWidth, 1.0);
  }
}

bool MakeTinyModel(const char* model, const char* target) {
  ggml_context* no_tensors = nullptr;
  const Gguf from(gguf_init_from_file(model, {true, &no_tensors}), &gguf_free);
  ggml_free(no_tensors);
  if (!from) return false;
  const Gguf to(gguf_init_empty(), &gguf_free);
  gguf_set_kv(to.get(), from.get());
  gguf_set_val_str(to.get(), "general.name", "tiny");
  gguf_set_val_u32(to.get(), "general.file_type", std::uint32_t{LLAMA_FTYPE_MOSTLY_Q8_0});
  gguf_set_val_u32(to.get(), "llama.block_count", kLayers);
  gguf_set_val_u32(to.get(), "llama.embedding_length", kWidth);
  gguf_set_val_u32(to.get(), "llama.feed_forward_length", kFeedForward);
  gguf_set_val_u32(to.get(), "llama.attention.head_count", kHeads);
  gguf_set_val_u32(to.get(), "llama.attention.head_count_kv", kHeads);
  gguf_set_val_u32(to.get(), "llama.rope.dimension_count", kWidth / kHeads);
  gguf_set_val_u32(to.get(), "llama.vocab_size", kVocabulary);
  if (!CutVocabulary(from.get(), to.get())) return false;
  Weights weights(to.get());
  weights.AddRandom("token_embd.weight", kWidth, kVocabulary, 1.0);
  weights.AddOnes("output_norm.weight");
  // A special token's score is zero, far below the best: none ends an answer.
  weights.AddRandom("output.weight", kWidth, kVocabulary, 3.0, kSpecialTokens);
  AddLayers(weights);
  return gguf_write_to_file(to.get(), target, false);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !MakeTinyModel(argv[1], argv[2])) {
    std::fprintf(stderr, "usage: make_tiny_model MODEL TARGET\n");
    return 1;
  }
  return 0;
}
