// SPDX-License-Identifier: Apache-2.0
#include "project.h"

extern "C" __global__ void fused_bias_gelu_kernel(const float* x, const float* bias, float* out, int rows, int cols);
#include "fused_bias_gelu.cu"

static unsigned g_blocks = 1;

void launch_fused_bias_gelu(const float* x, const float* bias, float* out, int rows, int cols, cudaStream_t stream) {
  Launched(stream);
  Launch(g_blocks, 128, [&] { fused_bias_gelu_kernel(x, bias, out, rows, cols); });
}

int main() {
  using torch::kFloat, torch::Tensor;
  torch::Operator& op =
      FindOperator("fused_bias_gelu(Tensor! out, Tensor x, Tensor bias) -> ()", "Tensor Tensor Tensor ");
  for (const auto& [rows, cols] : {std::pair(1, 1), {3, 7}, {4, 128}, {5, 129}, {3, 514}}) {
    for (const unsigned blocks : {1U, 2U, 20U}) {
      g_blocks = blocks;
      Test("%d x %d, %u blocks", rows, cols, blocks);
      const float size = blocks == 2 ? 1e6F : 3.0F;
      const std::vector<float> x = Uniforms(rows * cols, -size, size), bias = Uniforms(cols, -2, 2);
      float* out = Output<float>(x.size());
      Call(op, {Tensor(out, kFloat, {rows, cols}), Tensor(Input(x), kFloat, {rows, cols}),
                Tensor(Input(bias), kFloat, {cols})});
      for (int i = 0; i < rows * cols; ++i) {
        const double v = double(x[i]) + double(bias[i % cols]);
        const double error = 1e-5 * fabs(v) + 1e-6 * fabs(double(x[i])) + 1e-12;
        Compare(out + i, std::vector<double>{0.5 * v * (1 + erf(v / sqrt(2.0)))}, 0, error);
      }
    }
  }
  float* memory = Output<float>(64);
  const Tensor x(memory, kFloat, {4, 8}), bias(memory, kFloat, {8});
  for (const size_t which : {0, 1, 2}) MustRefuseVariants(op, {x, x, bias}, which);
  MustRefuse(op, "an output of another shape", {Tensor(memory, kFloat, {4, 7}), x, bias});
  MustRefuse(op, "a bias of another length", {x, x, Tensor(memory, kFloat, {4})});
  return Finish();
}
