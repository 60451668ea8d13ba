// SPDX-License-Identifier: Apache-2.0
// Weights of four bits, eight in a word, with a scale for each 32: packed, then multiplied with a vector.
#include "program.cuh"

__global__ void Pack(const signed char* in, unsigned* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  unsigned word = 0;
  for (int j = 0; j < 8; ++j) word |= (static_cast<unsigned>(in[8 * i + j]) & 15u) << (4 * j);
  out[i] = word;
}
__global__ void Multiply(const unsigned* weights, const float* scales, const float* x, float* y, int cols) {
  const int row = blockIdx.x, lane = threadIdx.x, words = cols / 8;
  float sum = 0;
  for (int i = lane; i < words; i += 32) {
    const unsigned word = weights[row * words + i];
    float part = 0;
    for (int j = 0; j < 8; ++j) part += (static_cast<int>(word << (28 - 4 * j)) >> 28) * x[8 * i + j];
    sum += part * scales[(row * words + i) / 4];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<signed char> w(rows * cols);
  for (signed char& v : w) v = static_cast<signed char>(random.Below(16) - 8);
  const std::vector<float> scales = random.Values(rows * cols / 32), x = random.Values(cols);
  std::vector<double> expected(rows);
  for (int i = 0; i < rows * cols; ++i) expected[i / cols] += double(w[i]) * scales[i / 32] * x[i % cols];
  Device<signed char> dw(w);
  Device<unsigned> packed(rows * cols / 8);
  Device<float> dscales(scales), dx(x), y(rows);
  Pack<<<(rows * cols / 8 + 63) / 64, 64>>>(dw, packed, rows * cols / 8);
  Multiply<<<rows, 32>>>(packed, dscales, dx, y, cols);
  return Equal(y.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 32) && Test(3, 96) && Test(5, 1024);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
