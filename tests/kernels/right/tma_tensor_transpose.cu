// SPDX-License-Identifier: Apache-2.0
// Tiles of a matrix come by tensor copies, also across its edges, and leave transposed by others (sm_90).
#include "program.cuh"
#include <cuda.h>
#include <cuda_fp16.h>

__device__ unsigned Shared(const void* pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }
__device__ void Expect(void* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Shared(barrier)), "r"(bytes) : "memory");
}
__device__ void Await(void* barrier, int parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(Shared(barrier)), "r"(parity)
                 : "memory");
  }
}
__device__ void LoadBox(void* to, const CUtensorMap* map, int x, int y, void* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          Shared(to)),
      "l"(map), "r"(x), "r"(y), "r"(Shared(barrier))
      : "memory");
}
// A map of rows of `columns` elements, copied in boxes.
CUtensorMap Map(void* data, CUtensorMapDataType type, int bytes, int columns, int rows, int box_columns, int box_rows,
                CUtensorMapSwizzle swizzle) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                              const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
  const cuuint64_t sizes[2] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t strides[1] = {cuuint64_t(columns) * bytes};
  const cuuint32_t box[2] = {cuuint32_t(box_columns), cuuint32_t(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  const CUresult result = reinterpret_cast<Encode>(encode)(
      &map, type, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("no tensor map: %d\n", int(result));
  return map;
}
constexpr int kTile = 32;
__global__ void Transpose(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(128) float from[kTile][kTile];
  __shared__ alignas(128) float to[kTile][kTile];
  __shared__ alignas(8) unsigned long long full;
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Shared(&full)) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&full, sizeof(from));
    LoadBox(from, &in, x, y, &full);
  }
  Await(&full, 0);
  for (int row = 0; row < kTile; ++row) to[row][threadIdx.x] = from[threadIdx.x][row];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out),
                 "r"(Shared(to)), "r"(y), "r"(x)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
bool Test(int columns, int rows) {
  const std::vector<float> in = Random(columns).Values(size_t(columns) * rows);
  std::vector<float> expected(in.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) expected[x * rows + y] = in[y * columns + x];
  Device<float> din(in), out(in.size());
  const CUtensorMap from = Map(din, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, columns, rows, kTile, kTile,
                               CU_TENSOR_MAP_SWIZZLE_NONE);
  const CUtensorMap to = Map(out, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, rows, columns, kTile, kTile,
                             CU_TENSOR_MAP_SWIZZLE_NONE);
  Transpose<<<dim3((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile), kTile>>>(from, to);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(64, 32) && Test(100, 44);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
