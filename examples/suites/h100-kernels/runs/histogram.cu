// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void histogram(const unsigned char* in, unsigned int* counts, int n);
#include "histogram.cu"

void run_histogram(const unsigned char* in, unsigned int* counts, int n, int blocks, int threads) {
  histogram<<<blocks, threads>>>(in, counts, n);
}
