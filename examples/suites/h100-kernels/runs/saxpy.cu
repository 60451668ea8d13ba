// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y);
#include "saxpy.cu"

void run_saxpy(const float* x, float* y, int n, float alpha, int blocks, int threads) {
  saxpy<<<blocks, threads>>>(n, alpha, x + 1, y + 1);
}
