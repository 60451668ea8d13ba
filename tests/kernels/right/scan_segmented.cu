// SPDX-License-Identifier: Apache-2.0
// Running sums that start again wherever a flag is set, one block, by pairs (flag, sum).
#include "program.cuh"

__global__ void Scan(const float* in, const int* head, float* out, int n) {
  __shared__ float sum[256];
  __shared__ int flag[256];
  const int t = threadIdx.x;
  sum[t] = t < n ? in[t] : 0;
  flag[t] = t < n ? head[t] : 1;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    float s = sum[t];
    int f = flag[t];
    if (t >= offset && !f) {
      s += sum[t - offset];
      f |= flag[t - offset];
    }
    __syncthreads();
    sum[t] = s;
    flag[t] = f;
    __syncthreads();
  }
  if (t < n) out[t] = sum[t];
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> in = random.Values(n);
  std::vector<int> head(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) {
    head[i] = i == 0 || random.Below(7) == 0;
    expected[i] = in[i] + (head[i] ? 0 : expected[i - 1]);
  }
  Device<float> din(in), out(n);
  Device<int> dhead(head);
  Scan<<<1, 256>>>(din, dhead, out, n);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(255) && Test(256);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
