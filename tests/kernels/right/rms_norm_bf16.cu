// SPDX-License-Identifier: Apache-2.0
// RMS norm of bfloat16 rows, pairs a load, sums in float.
#include "program.cuh"
#include <cuda_bf16.h>

__global__ void RmsNorm(const __nv_bfloat162* in, const __nv_bfloat162* weight, __nv_bfloat162* out, int pairs) {
  __shared__ float parts[4];
  in += static_cast<size_t>(blockIdx.x) * pairs;
  out += static_cast<size_t>(blockIdx.x) * pairs;
  float sum = 0;
  for (int i = threadIdx.x; i < pairs; i += 128) {
    const float2 v = __bfloat1622float2(in[i]);
    sum += v.x * v.x + v.y * v.y;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = rsqrtf((parts[0] + parts[1] + parts[2] + parts[3]) / (2 * pairs) + 1e-6f);
  for (int i = threadIdx.x; i < pairs; i += 128) {
    const float2 v = __bfloat1622float2(in[i]), w = __bfloat1622float2(weight[i]);
    out[i] = __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
  }
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<__nv_bfloat162> in(rows * cols / 2), weight(cols / 2);
  for (auto& v : in) v = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
  for (auto& v : weight) v = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
  auto element = [](const std::vector<__nv_bfloat162>& all, int i) {
    return double(__bfloat162float(i % 2 == 0 ? all[i / 2].x : all[i / 2].y));
  };
  std::vector<double> expected(rows * cols), got(rows * cols);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += element(in, r * cols + c) * element(in, r * cols + c);
    for (int c = 0; c < cols; ++c)
      expected[r * cols + c] = element(in, r * cols + c) / std::sqrt(sum / cols + 1e-6) * element(weight, c);
  }
  Device<__nv_bfloat162> din(in), dweight(weight), out(in.size());
  RmsNorm<<<rows, 128>>>(din, dweight, out, cols / 2);
  const std::vector<__nv_bfloat162> all = out.Host();
  for (int i = 0; i < rows * cols; ++i) got[i] = element(all, i);
  return Equal(got, expected, 6e-3);
}
int main() {
  const bool ok = Test(1, 2) && Test(3, 250) && Test(4, 770);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
