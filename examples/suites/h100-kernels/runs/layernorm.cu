// SPDX-License-Identifier: Apache-2.0
// The signature that the question asks for.
extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* out, int cols,
                                      float epsilon);
#include "layer_norm.cu"

void run_layer_norm(const float* x, const float* gamma, const float* beta, float* out, int rows, int cols, float epsilon, int threads) {
  layer_norm<<<rows, threads>>>(x, gamma, beta, out, cols, epsilon);
}
