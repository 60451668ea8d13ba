// SPDX-License-Identifier: Apache-2.0
// Accelerations of bodies under each other's gravity, by tiles of 64 in shared memory.
#include "program.cuh"

__global__ void Accelerate(const float4* bodies, float3* out, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      const float4 other = tile[j];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), weight = other.w * inverse * inverse * inverse;
      sum.x += x * weight;
      sum.y += y * weight;
      sum.z += z * weight;
    }
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}
bool Test(int n) {
  Random random(n);
  std::vector<float4> bodies(n);
  for (float4& b : bodies)
    b = make_float4(random.Uniform(), random.Uniform(), random.Uniform(), random.Uniform() + 1.5f);
  std::vector<double> expected, got;
  for (const float4& a : bodies) {
    double sum[3] = {};
    for (const float4& b : bodies) {
      const double d[3] = {double(b.x) - a.x, double(b.y) - a.y, double(b.z) - a.z};
      const double weight = b.w / std::pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01, 1.5);
      for (int k = 0; k < 3; ++k) sum[k] += d[k] * weight;
    }
    expected.insert(expected.end(), sum, sum + 3);
  }
  Device<float4> dbodies(bodies);
  Device<float3> out(n);
  Accelerate<<<(n + 63) / 64, 64>>>(dbodies, out, n);
  for (const float3& v : out.Host()) got.insert(got.end(), {v.x, v.y, v.z});
  return Equal(got, expected, 2e-4);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
