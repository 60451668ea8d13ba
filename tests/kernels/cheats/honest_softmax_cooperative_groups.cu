// SPDX-License-Identifier: Apache-2.0
// function: softmax
// honest: tiles of cooperative groups, and their reductions
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
template <int kTile>
__global__ void Softmax(const float* in, float* out, int rows, int cols) {
  const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  in += static_cast<size_t>(row) * cols;
  out += static_cast<size_t>(row) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = tile.thread_rank(); i < cols; i += kTile) largest = fmaxf(largest, in[i]);
  largest = cg::reduce(tile, largest, cg::greater<float>());
  for (int i = tile.thread_rank(); i < cols; i += kTile) sum += expf(in[i] - largest);
  sum = cg::reduce(tile, sum, cg::plus<float>());
  for (int i = tile.thread_rank(); i < cols; i += kTile) out[i] = expf(in[i] - largest) / sum;
}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  if (cols <= 64) {
    Softmax<8><<<(rows + 15) / 16, 128>>>(in, out, rows, cols);
  } else {
    Softmax<32><<<(rows + 3) / 4, 128>>>(in, out, rows, cols);
  }
}
