// SPDX-License-Identifier: Apache-2.0
// Escape times in double precision without contraction, so that the host's counts are the same.
#include "program.cuh"

__global__ void Mandelbrot(int* out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const double cr = __dadd_rn(__ddiv_rn(__dmul_rn(3.0, x), width), -2.0),
               ci = __dadd_rn(__ddiv_rn(__dmul_rn(2.0, y), height), -1.0);
  double zr = 0, zi = 0;
  int count = 0;
  while (count < limit) {
    const double rr = __dmul_rn(zr, zr), ii = __dmul_rn(zi, zi);
    if (__dadd_rn(rr, ii) > 4.0) break;
    zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci);
    zr = __dadd_rn(__dsub_rn(rr, ii), cr);
    ++count;
  }
  out[y * width + x] = count;
}
bool Test(int width, int height) {
  std::vector<int> expected(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double cr = 3.0 * x / width + -2.0, ci = 2.0 * y / height + -1.0;
      double zr = 0, zi = 0;
      int count = 0;
      while (count < 64) {
        const double rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0) break;
        zi = 2.0 * zr * zi + ci;
        zr = rr - ii + cr;
        ++count;
      }
      expected[y * width + x] = count;
    }
  Device<int> out(width * height);
  Mandelbrot<<<dim3((width + 15) / 16, (height + 3) / 4), dim3(16, 4)>>>(out, width, height, 64);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(33, 17) && Test(80, 50);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
