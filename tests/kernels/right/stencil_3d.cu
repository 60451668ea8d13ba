// SPDX-License-Identifier: Apache-2.0
// Seven-point Laplacian: a thread walks through the planes and keeps three of them in registers.
#include "program.cuh"

__global__ void Laplace(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 16 + threadIdx.x;
  const bool inside = x < nx && y < ny;
  auto at = [&](int i, int j, int k) {
    return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz ? in[(k * ny + j) * nx + i] : 0.0f;
  };
  float below = 0, here = at(x, y, 0);
  for (int z = 0; z < nz; ++z) {
    const float above = at(x, y, z + 1);
    for (int i = t; i < 180; i += 128)
      plane[i / 18][i % 18] = at(blockIdx.x * 16 + i % 18 - 1, blockIdx.y * 8 + i / 18 - 1, z);
    __syncthreads();
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (inside)
      out[(z * ny + y) * nx + x] =
          plane[j][i - 1] + plane[j][i + 1] + plane[j - 1][i] + plane[j + 1][i] + below + above - 6 * here;
    __syncthreads();
    below = here;
    here = above;
  }
}
bool Test(int nx, int ny, int nz) {
  const std::vector<float> in = Random(nx).Values(nx * ny * nz);
  std::vector<double> expected;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        auto at = [&](int i, int j, int k) {
          return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz ? double(in[(k * ny + j) * nx + i]) : 0;
        };
        expected.push_back(at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) +
                           at(x, y, z + 1) - 6 * at(x, y, z));
      }
  Device<float> din(in), out(in.size());
  Laplace<<<dim3((nx + 15) / 16, (ny + 7) / 8), dim3(16, 8)>>>(din, out, nx, ny, nz);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(17, 9, 5) && Test(40, 20, 7);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
