// SPDX-License-Identifier: Apache-2.0
#include "block_sum.cu"

void run_block_sum(const float* in, float* out, int n, int blocks, int threads) {
  block_sum<<<blocks, threads>>>(in, out, n);
}
