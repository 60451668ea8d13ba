// SPDX-License-Identifier: Apache-2.0
// Exclusive sums of each row by one block: shuffles within warps, the warps' sums scanned by the first one, chunk after
// chunk.
#include "program.cuh"

__device__ float WarpScan(float v) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const float left = __shfl_up_sync(0xffffffff, v, offset);
    if (threadIdx.x % 32 >= offset) v += left;
  }
  return v;
}
__global__ void Scan(const float* in, float* out, int cols) {
  __shared__ float sums[4];
  const int warp = threadIdx.x / 32;
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float carry = 0;
  for (int first = 0; first < cols; first += 128) {
    const int i = first + threadIdx.x;
    const float v = i < cols ? in[i] : 0;
    const float inclusive = WarpScan(v);
    if (threadIdx.x % 32 == 31) sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
      const float s = WarpScan(threadIdx.x < 4 ? sums[threadIdx.x] : 0);
      if (threadIdx.x < 4) sums[threadIdx.x] = s;
    }
    __syncthreads();
    if (i < cols) out[i] = carry + (warp == 0 ? 0 : sums[warp - 1]) + inclusive - v;
    carry += sums[3];
    __syncthreads();
  }
}
bool Test(int rows, int cols) {
  const std::vector<float> in = Random(cols).Values(rows * cols);
  std::vector<double> expected(in.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 1; c < cols; ++c) expected[r * cols + c] = expected[r * cols + c - 1] + in[r * cols + c - 1];
  Device<float> din(in), out(in.size());
  Scan<<<rows, 128>>>(din, out, cols);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1) && Test(2, 128) && Test(3, 129) && Test(2, 1001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
