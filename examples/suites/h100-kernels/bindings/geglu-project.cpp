// SPDX-License-Identifier: Apache-2.0
#include "binding_test.h"

void launch_fused_geglu(const __half* x, __half* out, int rows, int cols, cudaStream_t stream) {
  Launched(stream, {x, out}, {double(rows), double(cols)});
}

int main() {
  using torch::kHalf, torch::Tensor;
  torch::Operator& op = FindOperator("fused_geglu(Tensor! out, Tensor x) -> ()", "Tensor Tensor ");
  const Tensor x(kHalf, {4, 10}), out(kHalf, {4, 5});
  MustLaunch(op, {out, x}, {x, out}, {4, 5});
  for (const size_t which : {0, 1}) MustRefuseVariants(op, {out, x}, which);
  MustRefuse(op, "an output as wide as the input", {Tensor(kHalf, {4, 10}), x});
  MustRefuse(op, "an output with fewer rows", {Tensor(kHalf, {3, 5}), x});
  MustRefuse(op, "an input of odd width", {out, Tensor(kHalf, {4, 11})});
  return Finish();
}
