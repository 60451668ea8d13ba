// SPDX-License-Identifier: Apache-2.0
// Rows to bytes with a scale of their own, and back.
#include "program.cuh"

__global__ void Quantize(const float* in, signed char* out, float* scales, int cols) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float largest = 0;
  for (int i = lane; i < cols; i += 32) largest = fmaxf(largest, fabsf(in[row * cols + i]));
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  const float scale = largest > 0 ? largest / 127 : 1;
  for (int i = lane; i < cols; i += 32) {
    const int q = __float2int_rn(in[row * cols + i] / scale);
    out[row * cols + i] = static_cast<signed char>(max(-127, min(127, q)));
  }
  if (lane == 0) scales[row] = scale;
}
__global__ void Dequantize(const signed char* in, const float* scales, float* out, int cols) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[row * cols + i] = in[row * cols + i] * scales[row];
}
bool Test(int rows, int cols) {
  std::vector<float> in = Random(cols).Values(rows * cols);
  for (int c = 0; c < cols; ++c) in[c] = 0;  // a row of zeros
  std::vector<int> expected(in.size());
  std::vector<double> back(in.size());
  for (int r = 0; r < rows; ++r) {
    float largest = 0;
    for (int c = 0; c < cols; ++c) largest = std::fmax(largest, std::fabs(in[r * cols + c]));
    const float scale = largest > 0 ? largest / 127 : 1;
    for (int c = 0; c < cols; ++c) {
      expected[r * cols + c] = static_cast<int>(std::nearbyint(in[r * cols + c] / scale));
      back[r * cols + c] = expected[r * cols + c] * double(scale);
    }
  }
  Device<float> din(in), scales(rows), out(in.size());
  Device<signed char> q(in.size());
  Quantize<<<rows, 32>>>(din, q, scales, cols);
  Dequantize<<<rows, 64>>>(q, scales, out, cols);
  return Equal(q.Host(), expected, 0) && Equal(out.Host(), back, 1e-6);
}
int main() {
  const bool ok = Test(1, 1) && Test(4, 33) && Test(6, 300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
