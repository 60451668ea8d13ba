// SPDX-License-Identifier: Apache-2.0
#include "binding_test.h"

void launch_fused_rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* out, int rows, int cols,
                           float epsilon, cudaStream_t stream) {
  Launched(stream, {x, weight, out}, {double(rows), double(cols), epsilon});
}

int main() {
  using torch::kBFloat16, torch::Tensor;
  torch::Operator& op = FindOperator("fused_rms_norm(Tensor! out, Tensor x, Tensor weight, float epsilon) -> ()",
                                     "Tensor Tensor Tensor float ");
  const Tensor out(kBFloat16, {4, 8}), x(kBFloat16, {4, 8}), weight(kBFloat16, {8});
  MustLaunch(op, {out, x, weight, 0.5}, {x, weight, out}, {4, 8, 0.5});
  const std::vector<torch::Argument> good = {out, x, weight, 1e-6};
  for (const size_t which : {0, 1, 2}) MustRefuseVariants(op, good, which);
  MustRefuse(op, "an output with fewer rows", {Tensor(kBFloat16, {3, 8}), x, weight, 1e-6});
  MustRefuse(op, "a weight of another length", {out, x, Tensor(kBFloat16, {7}), 1e-6});
  return Finish();
}
