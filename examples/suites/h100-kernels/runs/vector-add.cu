// SPDX-License-Identifier: Apache-2.0
#include "vector_add.cu"

void run_vector_add(const float* a, const float* b, float* out, int n, int blocks, int threads) {
  vector_add<<<blocks, threads>>>(a, b, out, n);
}
