// SPDX-License-Identifier: Apache-2.0
#include "tile_sums.cu"

void run_tile_sums(const float* in, float* out, int rows, int tiles) {
  tile_sums<<<rows, 64>>>(in, out, tiles);
}
