// SPDX-License-Identifier: Apache-2.0
// The kernels that cmake/patches adds to ggml, against sums in double precision.
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "util/rng.h"

namespace upskill {
namespace {

struct FreeContext {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
struct FreeBuffer {
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
using Context = std::unique_ptr<ggml_context, FreeContext>;
using Buffer = std::unique_ptr<ggml_backend_buffer, FreeBuffer>;

Context NewContext() {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  return Context(ggml_init({kBytes, nullptr, true}));
}

std::vector<float> RandomNumbers(std::int64_t count, Rng& rng) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(2.0 * rng.Uniform() - 1.0);
  return numbers;
}

// The buffer type in which weights are stored in the order that the fast kernels need.
ggml_backend_buffer_type_t Repacked() {
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  auto* more = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), "ggml_backend_dev_get_extra_bufts"));
  if (more == nullptr) return nullptr;
  for (ggml_backend_buffer_type_t* type = more(cpu); type != nullptr && *type != nullptr; ++type) {
    if (std::string(ggml_backend_buft_name(*type)) == "CPU_REPACK") return *type;
  }
  return nullptr;
}

std::vector<float> Computed(ggml_context* context, ggml_tensor* result, int threads) {
  ggml_cgraph* graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, result);
  ggml_backend_t backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr);
  ggml_backend_cpu_set_n_threads(backend, threads);
  const Buffer results(ggml_backend_alloc_ctx_tensors(context, backend));
  EXPECT_EQ(ggml_backend_graph_compute(backend, graph), GGML_STATUS_SUCCESS);
  std::vector<float> computed(static_cast<std::size_t>(ggml_nelements(result)));
  ggml_backend_tensor_get(result, computed.data(), 0, computed.size() * sizeof(float));
  ggml_backend_free(backend);
  return computed;
}

// Whether llama.cpp repacks a matrix of this type with this many rows on this processor.
bool Repacks(ggml_backend_buffer_type_t stored, ggml_type type, std::int64_t rows) {
  constexpr std::int64_t kLength = 256;
  const Context context = NewContext();
  const ggml_tensor* weight = ggml_new_tensor_2d(context.get(), type, kLength, rows);
  const Buffer buffer(ggml_backend_alloc_ctx_tensors_from_buft(context.get(), stored));
  return weight->extra != nullptr;
}

struct Shape {
  ggml_type type;  // of the weights
  std::int64_t length;
  std::int64_t rows;
  std::int64_t tokens;
};

struct Numbers {
  std::vector<std::uint8_t> packed;  // the weights in their type
  std::vector<float> inputs;
};

Numbers RandomWeights(const Shape& shape) {
  Rng rng(static_cast<std::uint64_t>(shape.length * 1000 + shape.rows * 10 + shape.tokens));
  const std::vector<float> weights = RandomNumbers(shape.length * shape.rows, rng);
  Numbers numbers{std::vector<std::uint8_t>(ggml_row_size(shape.type, shape.length) * shape.rows),
                  RandomNumbers(shape.length * shape.tokens, rng)};
  ggml_quantize_chunk(shape.type, weights.data(), numbers.packed.data(), 0, shape.rows, shape.length, nullptr);
  return numbers;
}

// Each row's weights and scales have the same bits, the largest and smallest numbers among them, and the activations
// the largest possible magnitude, so that sums of products would overflow 16 bits. A quantizer doesn't write all of
// them, but a file may contain them.
Numbers ExtremeWeights(const Shape& shape) {
  const ggml_fp16_t scale = ggml_fp32_to_fp16(1.0F / 128.0F);
  const std::size_t block = ggml_type_size(shape.type);
  const std::size_t scale_at = shape.type == GGML_TYPE_Q6_K ? block - sizeof(scale) : 0;
  const int scales = shape.type == GGML_TYPE_Q4_K ? 2 : 1;
  Numbers numbers;
  numbers.packed.resize(ggml_row_size(shape.type, shape.length) * shape.rows);
  const std::size_t blocks_in_row = numbers.packed.size() / block / static_cast<std::size_t>(shape.rows);
  for (std::size_t at = 0; at < numbers.packed.size(); at += block) {
    constexpr std::array<std::uint8_t, 3> kBits = {0x80, 0x7f, 0xff};
    const std::span<std::uint8_t> bytes(&numbers.packed[at], block);
    std::fill(bytes.begin(), bytes.end(), kBits[at / block / blocks_in_row % kBits.size()]);
    for (int i = 0; i < scales; ++i) std::memcpy(&bytes[scale_at + sizeof(scale) * i], &scale, sizeof(scale));
  }
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    numbers.inputs.insert(numbers.inputs.end(), static_cast<std::size_t>(shape.length), token % 2 == 0 ? 1.0F : -1.0F);
  }
  return numbers;
}

// Weights, stored in the given way, times activations: by token, then row.
std::vector<float> Products(ggml_backend_buffer_type_t stored, const Shape& shape, int threads,
                            const Numbers& numbers) {
  const Context weight_context = NewContext();
  ggml_tensor* weight = ggml_new_tensor_2d(weight_context.get(), shape.type, shape.length, shape.rows);
  const Buffer weight_buffer(ggml_backend_alloc_ctx_tensors_from_buft(weight_context.get(), stored));
  ggml_backend_tensor_set(weight, numbers.packed.data(), 0, numbers.packed.size());

  const Context input_context = NewContext();
  ggml_tensor* input = ggml_new_tensor_2d(input_context.get(), GGML_TYPE_F32, shape.length, shape.tokens);
  const Buffer input_buffer(
      ggml_backend_alloc_ctx_tensors_from_buft(input_context.get(), ggml_backend_cpu_buffer_type()));
  ggml_backend_tensor_set(input, numbers.inputs.data(), 0, ggml_nbytes(input));

  const Context context = NewContext();
  return Computed(context.get(), ggml_mul_mat(context.get(), weight, input), threads);
}

// The largest error of a product, in units of what random signs of its terms would give.
double ProductError(ggml_backend_buffer_type_t stored, const Shape& shape, int threads, const Numbers& numbers) {
  std::vector<float> weights(static_cast<std::size_t>(shape.length * shape.rows));
  ggml_get_type_traits(shape.type)->to_float(numbers.packed.data(), weights.data(), shape.length * shape.rows);
  const std::vector<float> computed = Products(stored, shape, threads, numbers);
  double worst = 0.0;
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      double sum = 0.0;
      double squares = 0.0;
      for (std::int64_t i = 0; i < shape.length; ++i) {
        const double term = double{weights[row * shape.length + i]} * double{numbers.inputs[token * shape.length + i]};
        sum += term;
        squares += term * term;
      }
      const double error = std::abs(sum - double{computed[token * shape.rows + row]});
      if (error > 0.0) worst = std::max(worst, error / std::sqrt(squares));
    }
  }
  return worst;
}

// ggml says what it stores where.
class FastKernels : public testing::Test {
 protected:
  FastKernels() {
    ggml_log_get(&log_, &data_);
    ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  }
  ~FastKernels() override { ggml_log_set(log_, data_); }

 private:
  ggml_log_callback log_ = nullptr;
  void* data_ = nullptr;
};

class FastProducts : public FastKernels, public testing::WithParamInterface<ggml_type> {};

TEST_P(FastProducts, RepackedWeightsGiveTheProductsOfPlainOnes) {
  const ggml_type type = GetParam();
  ggml_backend_buffer_type_t repacked = Repacked();
  ASSERT_NE(repacked, nullptr);
  constexpr double kError = 0.05;  // of activations of eight bits
  const Shape plain{type, 768, 192, 32};
  EXPECT_LT(ProductError(ggml_backend_cpu_buffer_type(), plain, 2, RandomWeights(plain)), kError);
  if (!Repacks(repacked, type, 64)) GTEST_SKIP() << "llama.cpp doesn't repack these weights on this processor";
  const std::int64_t shortest = ggml_blck_size(type);
  for (const std::int64_t length : {shortest, 768 / shortest * shortest}) {
    for (const std::int64_t rows : {8, 16, 24, 48, 208}) {
      if (!Repacks(repacked, type, rows)) continue;  // 8 and 24 can't be repacked in groups of 16
      for (const std::int64_t tokens : {1, 3, 4, 5, 32, 67}) {
        const Shape shape{type, length, rows, tokens};
        for (const int threads : {1, 3}) {
          EXPECT_LT(ProductError(repacked, shape, threads, RandomWeights(shape)), kError)
              << length << ' ' << rows << ' ' << tokens;
          EXPECT_LT(ProductError(repacked, shape, threads, ExtremeWeights(shape)), kError)
              << length << ' ' << rows << ' ' << tokens;
        }
      }
    }
  }
}

// So answers don't depend on how many processors there are or, with K-quants, on what is answered at the same time.
TEST_P(FastProducts, ThreadsAndOtherTokensChangeNoBit) {
  const ggml_type type = GetParam();
  const Shape shape{type, 3072, 208, 515};
  const Numbers numbers = RandomWeights(shape);
  const std::vector<float> computed = Products(Repacked(), shape, 1, numbers);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(Products(Repacked(), shape, threads, numbers), computed) << threads;
  if (type == GGML_TYPE_Q8_0) return;
  for (const std::int64_t tokens : {1, 2, 31, 32, 200}) {
    const std::vector<float> first = Products(Repacked(), {type, shape.length, shape.rows, tokens}, 2, numbers);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), computed.begin())) << tokens;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FastProducts, testing::Values(GGML_TYPE_Q8_0, GGML_TYPE_Q4_K, GGML_TYPE_Q6_K),
                         [](const auto& type) { return std::string(ggml_type_name(type.param)); });

// What the tokens see of the cache: 'p' a common prefix alone, 'o' their own cells after it, 's' two groups with a
// prefix each, 'r' each cell or not at random.
struct Attention {
  std::int64_t size;  // of a head
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t tokens;
  std::int64_t cells;
  char pattern;
  int threads;
};

bool Sees(const Attention& shape, std::int64_t token, std::int64_t cell, Rng& rng) {
  const std::int64_t prefix = shape.cells / 2;
  const bool own = cell >= prefix && (cell - prefix) % shape.tokens == token;
  switch (shape.pattern) {
    case 'p':
      return cell < prefix;
    case 'o':
      return cell < prefix || own;
    case 'f':  // a few have a longer prefix than all
      return own || cell < (token % 5 == 0 ? prefix : prefix / 4);
    case 's':
      return own || (token % 2 == 0 ? cell < prefix : cell < prefix / 8);
    default:
      return cell == 0 || rng.Uniform() < 0.5;
  }
}

struct AttentionInputs {
  std::vector<float> queries;
  std::vector<float> keys;
  std::vector<float> values;
  std::vector<float> mask;  // 0 or minus infinity, by token and cell
};

AttentionInputs RandomInputs(const Attention& shape) {
  Rng rng(static_cast<std::uint64_t>(shape.cells * 100 + shape.tokens));
  AttentionInputs inputs{RandomNumbers(shape.size * shape.tokens * shape.heads, rng),
                         RandomNumbers(shape.size * shape.cells * shape.kv_heads, rng),
                         RandomNumbers(shape.size * shape.cells * shape.kv_heads, rng),
                         std::vector<float>(static_cast<std::size_t>(shape.cells * shape.tokens))};
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    for (std::int64_t cell = 0; cell < shape.cells; ++cell) {
      inputs.mask[token * shape.cells + cell] =
          Sees(shape, token, cell, rng) ? 0.0F : -std::numeric_limits<float>::infinity();
    }
  }
  return inputs;
}

std::vector<float> ComputedAttention(const Attention& shape, const AttentionInputs& inputs, int threads) {
  const auto halves = [](const std::vector<float>& numbers) {
    std::vector<ggml_fp16_t> half(numbers.size());
    ggml_fp32_to_fp16_row(numbers.data(), half.data(), static_cast<std::int64_t>(numbers.size()));
    return half;
  };
  const std::vector<ggml_fp16_t> half_keys = halves(inputs.keys);
  const std::vector<ggml_fp16_t> half_values = halves(inputs.values);
  const std::vector<ggml_fp16_t> half_mask = halves(inputs.mask);

  const Context input_context = NewContext();
  ggml_context* in = input_context.get();
  ggml_tensor* q = ggml_new_tensor_4d(in, GGML_TYPE_F32, shape.size, shape.tokens, shape.heads, 1);
  ggml_tensor* k = ggml_new_tensor_4d(in, GGML_TYPE_F16, shape.size, shape.cells, shape.kv_heads, 1);
  ggml_tensor* v = ggml_new_tensor_4d(in, GGML_TYPE_F16, shape.size, shape.cells, shape.kv_heads, 1);
  ggml_tensor* m = ggml_new_tensor_4d(in, GGML_TYPE_F16, shape.cells, shape.tokens, 1, 1);
  const Buffer input_buffer(ggml_backend_alloc_ctx_tensors_from_buft(in, ggml_backend_cpu_buffer_type()));
  ggml_backend_tensor_set(q, inputs.queries.data(), 0, inputs.queries.size() * sizeof(float));
  ggml_backend_tensor_set(k, half_keys.data(), 0, half_keys.size() * sizeof(ggml_fp16_t));
  ggml_backend_tensor_set(v, half_values.data(), 0, half_values.size() * sizeof(ggml_fp16_t));
  ggml_backend_tensor_set(m, half_mask.data(), 0, half_mask.size() * sizeof(ggml_fp16_t));
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.size));

  const Context context = NewContext();
  ggml_tensor* attention = ggml_flash_attn_ext(context.get(), q, k, v, m, scale, 0.0F, 0.0F);
  return Computed(context.get(), attention, threads);
}

double AttentionError(const Attention& shape) {
  const AttentionInputs inputs = RandomInputs(shape);
  const auto& [queries, keys, values, mask] = inputs;
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.size));
  const std::vector<float> computed = ComputedAttention(shape, inputs, shape.threads);

  double worst = 0.0;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const std::int64_t kv = head / (shape.heads / shape.kv_heads);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const float* query = &queries[(head * shape.tokens + token) * shape.size];
      std::vector<double> sums(static_cast<std::size_t>(shape.size));
      double total = 0.0;
      for (std::int64_t cell = 0; cell < shape.cells; ++cell) {
        if (mask[token * shape.cells + cell] != 0.0F) continue;
        const std::int64_t at = (kv * shape.cells + cell) * shape.size;
        double score = 0.0;
        for (std::int64_t d = 0; d < shape.size; ++d) score += double{query[d]} * double{keys[at + d]};
        const double weight = std::exp(score * scale);
        total += weight;
        for (std::int64_t d = 0; d < shape.size; ++d) sums[d] += weight * double{values[at + d]};
      }
      const float* row = &computed[(token * shape.heads + head) * shape.size];
      for (std::int64_t d = 0; d < shape.size; ++d) worst = std::max(worst, std::abs(sums[d] / total - double{row[d]}));
    }
  }
  return worst;
}

TEST_F(FastKernels, AttentionIsThatOfTheCellsThatATokenSees) {
  constexpr double kError = 2e-3;  // keys and values have eleven bits
  for (const char pattern : {'p', 'o', 's', 'r'}) {
    for (const Attention& shape : {Attention{64, 9, 3, 32, 640, pattern, 2}, Attention{64, 9, 3, 2, 256, pattern, 1},
                                   Attention{64, 9, 3, 63, 1024, pattern, 3}, Attention{128, 8, 8, 5, 300, pattern, 2},
                                   Attention{32, 32, 1, 17, 512, pattern, 4}, Attention{80, 4, 2, 33, 777, pattern, 2},
                                   Attention{64, 9, 3, 1, 640, pattern, 2}, Attention{64, 32, 2, 1, 777, pattern, 2},
                                   Attention{64, 9, 3, 100, 640, pattern, 2}}) {
      EXPECT_LT(AttentionError(shape), kError) << pattern << ' ' << shape.size << ' ' << shape.tokens;
    }
  }
}

// So answers don't depend on how many processors other programs and models leave free.
TEST_F(FastKernels, TheNumberOfThreadsChangesNoBit) {
  for (const char pattern : {'p', 'o', 's', 'r', 'f'}) {
    for (const std::int64_t tokens : {1, 2, 3, 16, 32, 33, 63, 100}) {
      const Attention shape{64, 9, 3, tokens, 640, pattern, 1};
      const AttentionInputs inputs = RandomInputs(shape);
      const std::vector<float> computed = ComputedAttention(shape, inputs, 1);
      for (const int threads : {2, 3, 8}) {
        EXPECT_EQ(ComputedAttention(shape, inputs, threads), computed) << pattern << ' ' << tokens << ' ' << threads;
      }
    }
  }
}

}  // namespace
}  // namespace upskill
