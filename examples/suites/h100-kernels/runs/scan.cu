// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void row_scan(const int* in, int* out, int cols);
#include "row_scan.cu"

void run_row_scan(const int* in, int* out, int rows, int cols, int threads) {
  row_scan<<<rows, threads>>>(in, out, cols);
}
