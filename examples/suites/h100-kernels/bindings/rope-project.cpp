// SPDX-License-Identifier: Apache-2.0
#include "binding_test.h"

void launch_rope_inplace(float* x, const int64_t* positions, const float* cos, const float* sin, int tokens, int heads,
                         int half, cudaStream_t stream) {
  Launched(stream, {x, positions, cos, sin}, {double(tokens), double(heads), double(half)});
}

int main() {
  using torch::kFloat, torch::kLong, torch::Tensor;
  torch::Operator& op = FindOperator("rope_inplace(Tensor! x, Tensor positions, Tensor cos, Tensor sin) -> ()",
                                     "Tensor Tensor Tensor Tensor ");
  const Tensor x(kFloat, {4, 2, 10}), positions(kLong, {4}), cos(kFloat, {9, 5}), sin(kFloat, {9, 5});
  MustLaunch(op, {x, positions, cos, sin}, {x, positions, cos, sin}, {4, 2, 5});
  const std::vector<torch::Argument> good = {x, positions, cos, sin};
  for (const size_t which : {0, 1, 2, 3}) MustRefuseVariants(op, good, which);
  MustRefuse(op, "fewer positions than tokens", {x, Tensor(kLong, {3}), cos, sin});
  MustRefuse(op, "a table of another width", {x, positions, Tensor(kFloat, {9, 4}), sin});
  MustRefuse(op, "tables of different lengths", {x, positions, cos, Tensor(kFloat, {8, 5})});
  return Finish();
}
