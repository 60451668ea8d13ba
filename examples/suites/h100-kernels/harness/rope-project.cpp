// SPDX-License-Identifier: Apache-2.0
#include "project.h"

extern "C" __global__ void rope_inplace_kernel(float* x, const int64_t* positions, const float* cos, const float* sin,
                                               int heads, int half);
#include "rope_inplace.cu"

void launch_rope_inplace(float* x, const int64_t* positions, const float* cos, const float* sin, int tokens, int heads,
                         int half, cudaStream_t stream) {
  Launched(stream);
  Launch(tokens, 64, [&] { rope_inplace_kernel(x, positions, cos, sin, heads, half); });
}

int main() {
  using torch::kFloat, torch::kLong, torch::Tensor;
  torch::Operator& op = FindOperator("rope_inplace(Tensor! x, Tensor positions, Tensor cos, Tensor sin) -> ()",
                                     "Tensor Tensor Tensor Tensor ");
  struct Shape {
    int tokens, heads, half;
  };
  for (const auto& [tokens, heads, half] : {Shape{1, 1, 1}, {3, 2, 5}, {4, 3, 32}, {2, 5, 33}, {7, 1, 64}}) {
    Test("%d tokens, %d heads, %d pairs", tokens, heads, half);
    const int longest = 19;
    const std::vector<float> x = Uniforms(tokens * heads * half * 2, -1e4F, 1e4F);
    std::vector<int64_t> positions(tokens);
    for (int64_t& position : positions) position = int64_t(NextRandom() % longest);
    std::vector<float> cosines(longest * half), sines(longest * half);
    for (int i = 0; i < longest * half; ++i) {
      const double angle = i / half / pow(10000.0, double(i % half) / half);
      cosines[i] = float(std::cos(angle));
      sines[i] = float(std::sin(angle));
    }
    float* dx = InOut(x);
    Call(op, {Tensor(dx, kFloat, {tokens, heads, 2 * half}), Tensor(Input(positions), kLong, {tokens}),
              Tensor(Input(cosines), kFloat, {longest, half}), Tensor(Input(sines), kFloat, {longest, half})});
    for (int i = 0; i < tokens * heads * half; ++i) {
      const int at = i / half * 2 * half + i % half, of = int(positions[i / half / heads]) * half + i % half;
      const double a = x[at], b = x[at + half], c = cosines[of], s = sines[of];
      const double error = 1e-6 * (fabs(a) + fabs(b));
      Compare(dx + at, std::vector<double>{a * c - b * s}, 0, error, "the first of a pair");
      Compare(dx + at + half, std::vector<double>{b * c + a * s}, 0, error, "the second of a pair");
    }
  }
  float* memory = Output<float>(256);
  const Tensor x(memory, kFloat, {4, 2, 8}), positions(memory, kLong, {4}), table(memory, kFloat, {9, 4});
  const std::vector<torch::Argument> good = {x, positions, table, table};
  for (const size_t which : {0, 1, 2, 3}) MustRefuseVariants(op, good, which);
  MustRefuse(op, "fewer positions than tokens", {x, Tensor(memory, kLong, {3}), table, table});
  MustRefuse(op, "a table of another width", {x, positions, Tensor(memory, kFloat, {9, 5}), table});
  MustRefuse(op, "tables of different lengths", {x, positions, table, Tensor(memory, kFloat, {8, 4})});
  return Finish();
}
