// SPDX-License-Identifier: Apache-2.0
// Sums, maxima and scans in tiles of 8 lanes, and one atomic for each coalesced group.
#include "program.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;
__global__ void Tiles(const int* in, int* sums, int* scans, int* positive, int n) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = i < n ? in[i] : 0;
  const int sum = cg::reduce(tile, v, cg::plus<int>()), scan = cg::inclusive_scan(tile, v);
  if (i < n) scans[i] = scan;
  if (tile.thread_rank() == 0 && i < n) sums[i / 8] = sum;
  if (v > 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(positive, static_cast<int>(group.size()));
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), sums((n + 7) / 8), scans(n), positive(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(21) - 10;
    sums[i / 8] += in[i];
    scans[i] = in[i] + (i % 8 == 0 ? 0 : scans[i - 1]);
    positive[0] += in[i] > 0;
  }
  Device<int> din(in), dsums(sums.size()), dscans(n), dpositive(std::vector<int>(1, 0));
  Tiles<<<(n + 63) / 64, 64>>>(din, dsums, dscans, dpositive, n);
  return Equal(dsums.Host(), sums, 0) && Equal(dscans.Host(), scans, 0) && Equal(dpositive.Host(), positive, 0);
}
int main() {
  const bool ok = Test(1) && Test(63) && Test(500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
