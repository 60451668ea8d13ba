// SPDX-License-Identifier: Apache-2.0
// Adaptive layer norm: normalised rows, scaled and shifted by what the sample's condition says.
#include "program.cuh"

__global__ void AdaLn(const float* in, const float* scale, const float* shift, float* out, int tokens, int cols) {
  const int row = blockIdx.x, sample = row / tokens, lane = threadIdx.x;
  in += static_cast<size_t>(row) * cols;
  out += static_cast<size_t>(row) * cols;
  float sum = 0, squares = 0;
  for (int i = lane; i < cols; i += 32) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  for (int i = lane; i < cols; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
  const float inverse = rsqrtf(squares / cols + 1e-6f);
  for (int i = lane; i < cols; i += 32)
    out[i] = (in[i] - mean) * inverse * (1 + scale[sample * cols + i]) + shift[sample * cols + i];
}
bool Test(int batch, int tokens, int cols) {
  Random random(cols);
  const std::vector<float> in = random.Values(batch * tokens * cols), scale = random.Values(batch * cols),
                           shift = random.Values(batch * cols);
  std::vector<double> expected(in.size());
  for (int r = 0; r < batch * tokens; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += double(in[r * cols + c]) / cols;
    for (int c = 0; c < cols; ++c) variance += (in[r * cols + c] - mean) * (in[r * cols + c] - mean) / cols;
    for (int c = 0; c < cols; ++c) {
      const int s = r / tokens * cols + c;
      expected[r * cols + c] = (in[r * cols + c] - mean) / std::sqrt(variance + 1e-6) * (1 + scale[s]) + shift[s];
    }
  }
  Device<float> din(in), dscale(scale), dshift(shift), out(in.size());
  AdaLn<<<batch * tokens, 32>>>(din, dscale, dshift, out, tokens, cols);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1, 3) && Test(2, 3, 31) && Test(3, 5, 260);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
