// SPDX-License-Identifier: Apache-2.0
// c = a transpose(b), 64 x 8, by wgmma; tensor copies bring both matrices swizzled, with zeros beyond k. arch=sm_90a
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
// 64 x 8 x 64 of one warp group: both operands in rows of 128 bytes, swizzled.
constexpr int kDepth = 64;
__device__ unsigned long long Descriptor(const void* matrix, int k) {
  const unsigned long long address = Shared(matrix) + k * 2;
  return (address & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}
__global__ void Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int k) {
  __shared__ alignas(1024) __half as[64 * kDepth];
  __shared__ alignas(1024) __half bs[8 * kDepth];
  __shared__ alignas(8) unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Shared(&full)) : "memory");
  __syncthreads();
  float d[4] = {};
  for (int i = 0; i < k; i += kDepth) {
    if (t == 0) {
      Expect(&full, sizeof(as) + sizeof(bs));
      LoadBox(as, &a, i, 0, &full);
      LoadBox(bs, &b, i, 0, &full);
    }
    Await(&full, i / kDepth % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int j = 0; j < kDepth; j += 16) {
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "l"(Descriptor(as, j)), "l"(Descriptor(bs, j)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    __syncthreads();
  }
  float* to = c + (t / 32 * 16 + t % 32 / 4) * 8 + t % 4 * 2;
  to[0] = d[0], to[1] = d[1], to[64] = d[2], to[65] = d[3];
}
bool Test(int k) {
  Random random(k);
  std::vector<__half> a(64 * k), b(8 * k);
  for (auto& v : a) v = __float2half(random.Uniform());
  for (auto& v : b) v = __float2half(random.Uniform());
  std::vector<double> expected(64 * 8);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * 8 + j] += double(__half2float(a[i * k + l])) * __half2float(b[j * k + l]);
  Device<__half> da(a), db(b);
  Device<float> c(64 * 8);
  const CUtensorMap from_a = Map(da, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, k, 64, kDepth, 64, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap from_b = Map(db, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, k, 8, kDepth, 8, CU_TENSOR_MAP_SWIZZLE_128B);
  Gemm<<<1, 128>>>(from_a, from_b, c, k);
  return Equal(c.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(64) && Test(200);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
