// SPDX-License-Identifier: Apache-2.0
#include "softmax.cu"

void run_softmax(const float* in, float* out, int rows, int cols, int threads) {
  softmax<<<rows, threads>>>(in, out, cols);
}
