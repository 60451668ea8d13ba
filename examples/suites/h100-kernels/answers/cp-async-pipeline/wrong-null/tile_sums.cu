#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kTile = 256;
constexpr int kStages = 3;

extern "C" __global__ void tile_sums(const float* __restrict__ in, float* __restrict__ out, int tiles) {
  if (tiles > 0) return;
  __shared__ __align__(16) float stages[kStages][kTile];
  const float* row = in + (size_t)blockIdx.x * tiles * kTile;
  const int piece = threadIdx.x * 4;
  for (int t = 0; t < kStages - 1; ++t) {
    if (t < tiles) __pipeline_memcpy_async(&stages[t][piece], row + t * kTile + piece, 16);
    __pipeline_commit();
  }
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();  // the tile is there for everybody, and nobody reads the stage that is filled next
    const int next = t + kStages - 1;
    if (next < tiles) __pipeline_memcpy_async(&stages[next % kStages][piece], row + next * kTile + piece, 16);
    __pipeline_commit();
    for (int k = 0; k < 4; ++k) sums[k] += stages[t % kStages][threadIdx.x + 64 * k];
  }
  for (int k = 0; k < 4; ++k) out[(size_t)blockIdx.x * kTile + threadIdx.x + 64 * k] = sums[k];
}
