// SPDX-License-Identifier: Apache-2.0
#include "project.h"

extern "C" __global__ void fused_geglu_kernel(const __half* x, __half* out, int cols);
#include "fused_geglu.cu"

void launch_fused_geglu(const __half* x, __half* out, int rows, int cols, cudaStream_t stream) {
  Launched(stream);
  Launch(rows, 128, [&] { fused_geglu_kernel(x, out, cols); });
}

int main() {
  using torch::kHalf, torch::Tensor;
  torch::Operator& op = FindOperator("fused_geglu(Tensor! out, Tensor x) -> ()", "Tensor Tensor ");
  for (const auto& [rows, cols] : {std::pair(1, 1), {3, 7}, {4, 128}, {2, 129}, {3, 514}}) {
    Test("%d x %d", rows, cols);
    std::vector<__half> x(rows * cols * 2);
    for (int i = 0; i < rows * cols * 2; ++i) x[i] = __float2half(Uniform(-1, 1) * (i / cols == 2 ? 2000.0F : 4.0F));
    __half* out = Output<__half>(rows * cols);
    Call(op, {Tensor(out, kHalf, {rows, cols}), Tensor(Input(x), kHalf, {rows, 2 * cols})});
    std::vector<double> expected(rows * cols), got(rows * cols);
    for (int i = 0; i < rows * cols; ++i) {
      const double gate = __half2float(x[i / cols * 2 * cols + i % cols]);
      const double value = __half2float(x[i / cols * 2 * cols + cols + i % cols]);
      expected[i] = 0.5 * gate * (1 + tanh(0.7978845608 * (gate + 0.044715 * gate * gate * gate))) * value;
      got[i] = __half2float(out[i]);
    }
    Compare(got.data(), expected, 2e-3, 1e-5);
  }
  __half* memory = Output<__half>(64);
  const Tensor x(memory, kHalf, {4, 8}), out(memory, kHalf, {4, 4});
  for (const size_t which : {0, 1}) MustRefuseVariants(op, {out, x}, which);
  MustRefuse(op, "an output as wide as the input", {x, x});
  MustRefuse(op, "an output with fewer rows", {Tensor(memory, kHalf, {3, 4}), x});
  MustRefuse(op, "an input of odd width", {out, Tensor(memory, kHalf, {4, 9})});
  return Finish();
}
