// SPDX-License-Identifier: Apache-2.0
#include "project.h"

extern "C" __global__ void fused_rms_norm_kernel(const __nv_bfloat16* x, const __nv_bfloat16* weight,
                                                 __nv_bfloat16* out, int cols, float epsilon);
#include "fused_rms_norm.cu"

void launch_fused_rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* out, int rows, int cols,
                           float epsilon, cudaStream_t stream) {
  Launched(stream);
  Launch(rows, 128, [&] { fused_rms_norm_kernel(x, weight, out, cols, epsilon); });
}

int main() {
  using torch::kBFloat16, torch::Tensor;
  torch::Operator& op = FindOperator("fused_rms_norm(Tensor! out, Tensor x, Tensor weight, float epsilon) -> ()",
                                     "Tensor Tensor Tensor float ");
  for (const auto& [rows, cols] : {std::pair(1, 1), {3, 7}, {5, 128}, {2, 129}, {3, 514}}) {
    for (const double epsilon : {1e-6, 0.5}) {
      Test("%d x %d, epsilon %g", rows, cols, epsilon);
      std::vector<__nv_bfloat16> x(rows * cols), weight(cols);
      for (int i = 0; i < rows * cols; ++i) x[i] = __float2bfloat16(Uniform(-1, 1) * (i / cols == 1 ? 1e15F : 2.0F));
      for (__nv_bfloat16& w : weight) w = __float2bfloat16(Uniform(-2, 2));
      __nv_bfloat16* out = Output<__nv_bfloat16>(x.size());
      const Tensor dx(Input(x), kBFloat16, {rows, cols}), dw(Input(weight), kBFloat16, {cols});
      Call(op, {Tensor(out, kBFloat16, {rows, cols}), dx, dw, epsilon});
      std::vector<double> expected(x.size()), got(x.size());
      for (int i = 0; i < rows * cols; ++i) {
        double squares = 0;
        for (int c = 0; c < cols; ++c) squares += pow(__bfloat162float(x[i / cols * cols + c]), 2) / cols;
        expected[i] = __bfloat162float(x[i]) / sqrt(squares + epsilon) * __bfloat162float(weight[i % cols]);
        got[i] = __bfloat162float(out[i]);
      }
      Compare(got.data(), expected, 0.01, 1e-30);
    }
  }
  __nv_bfloat16* memory = Output<__nv_bfloat16>(64);
  const Tensor x(memory, kBFloat16, {4, 8}), weight(memory, kBFloat16, {8});
  const std::vector<torch::Argument> good = {x, x, weight, 1e-6};
  for (const size_t which : {0, 1, 2}) MustRefuseVariants(op, good, which);
  MustRefuse(op, "an output with fewer rows", {Tensor(memory, kBFloat16, {3, 8}), x, weight, 1e-6});
  MustRefuse(op, "a weight of another length", {x, x, Tensor(memory, kBFloat16, {7}), 1e-6});
  return Finish();
}
