// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss, int classes, int ignored);
#include "cross_entropy.cu"

void run_cross_entropy(const float* logits, const int* labels, float* loss, int rows, int classes, int ignored, int threads) {
  cross_entropy<<<rows, threads>>>(logits, labels, loss, classes, ignored);
}
