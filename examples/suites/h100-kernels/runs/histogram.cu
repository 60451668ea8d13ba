// SPDX-License-Identifier: Apache-2.0
#include "histogram.cu"

void run_histogram(const unsigned char* in, unsigned int* counts, int n, int blocks, int threads) {
  histogram<<<blocks, threads>>>(in, counts, n);
}
