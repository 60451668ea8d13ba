// SPDX-License-Identifier: Apache-2.0
// Rotary embedding in place: pairs (i, i + dim / 2) turn by an angle that grows with the position.
#include "program.cuh"

__global__ void Rope(float* x, const int* positions, int heads, int dim) {
  const int half = dim / 2, token = blockIdx.x;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    float* head = x + (static_cast<size_t>(token) * heads + i / half) * dim;
    const int pair = i % half;
    const float angle = positions[token] * powf(10000.0f, -2.0f * pair / dim);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    const float a = head[pair], b = head[pair + half];
    head[pair] = a * cosine - b * sine;
    head[pair + half] = b * cosine + a * sine;
  }
}
bool Test(int tokens, int heads, int dim) {
  Random random(dim);
  const std::vector<float> x = random.Values(tokens * heads * dim);
  std::vector<int> positions(tokens);
  for (int& p : positions) p = random.Below(500);
  std::vector<double> expected(x.size());
  for (int h = 0; h < tokens * heads; ++h) {
    for (int i = 0; i < dim / 2; ++i) {
      const double angle = positions[h / heads] * std::pow(10000.0, -2.0 * i / dim);
      const double a = x[h * dim + i], b = x[h * dim + i + dim / 2];
      expected[h * dim + i] = a * std::cos(angle) - b * std::sin(angle);
      expected[h * dim + i + dim / 2] = b * std::cos(angle) + a * std::sin(angle);
    }
  }
  Device<float> dx(x);
  Device<int> dpositions(positions);
  Rope<<<tokens, 64>>>(dx, dpositions, heads, dim);
  return Equal(dx.Host(), expected, 5e-4);
}
int main() {
  const bool ok = Test(1, 1, 2) && Test(5, 3, 10) && Test(9, 2, 64);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
