// SPDX-License-Identifier: Apache-2.0
#include "binding_test.h"

void launch_fused_bias_gelu(const float* x, const float* bias, float* out, int rows, int cols, cudaStream_t stream) {
  Launched(stream, {x, bias, out}, {double(rows), double(cols)});
}

int main() {
  using torch::kFloat, torch::Tensor;
  torch::Operator& op =
      FindOperator("fused_bias_gelu(Tensor! out, Tensor x, Tensor bias) -> ()", "Tensor Tensor Tensor ");
  const Tensor out(kFloat, {4, 8}), x(kFloat, {4, 8}), bias(kFloat, {8});
  MustLaunch(op, {out, x, bias}, {x, bias, out}, {4, 8});
  for (const size_t which : {0, 1, 2}) MustRefuseVariants(op, {out, x, bias}, which);
  MustRefuse(op, "an output of another shape", {Tensor(kFloat, {4, 7}), x, bias});
  MustRefuse(op, "a bias of another length", {out, x, Tensor(kFloat, {4})});
  return Finish();
}
