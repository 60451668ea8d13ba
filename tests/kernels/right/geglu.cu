// SPDX-License-Identifier: Apache-2.0
// gelu(gate) * up, the halves of a row, with erf and with the tanh approximation.
#include "program.cuh"

template <bool kTanh>
__device__ float Gelu(float x) {
  if (kTanh) return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  return 0.5f * x * (1 + erff(x * 0.7071067812f));
}
template <bool kTanh>
__global__ void Geglu(const float* x, float* out, int dim, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* row = x + static_cast<size_t>(i / dim) * 2 * dim;
  out[i] = Gelu<kTanh>(row[i % dim]) * row[i % dim + dim];
}
bool Test(int rows, int dim) {
  std::vector<float> x = Random(dim).Values(2 * rows * dim);
  for (float& v : x) v *= 4;
  std::vector<double> exact(rows * dim), approximate(rows * dim);
  for (int i = 0; i < rows * dim; ++i) {
    const double gate = x[i / dim * 2 * dim + i % dim], up = x[i / dim * 2 * dim + i % dim + dim];
    exact[i] = 0.5 * gate * (1 + std::erf(gate / std::sqrt(2.0))) * up;
    approximate[i] = 0.5 * gate * (1 + std::tanh(0.79788456080286536 * (gate + 0.044715 * gate * gate * gate))) * up;
  }
  Device<float> dx(x), out(rows * dim);
  Geglu<false><<<(rows * dim + 127) / 128, 128>>>(dx, out, dim, rows * dim);
  if (!Equal(out.Host(), exact, 1e-5)) return false;
  Geglu<true><<<(rows * dim + 127) / 128, 128>>>(dx, out, dim, rows * dim);
  return Equal(out.Host(), approximate, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(3, 43) && Test(8, 256);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
