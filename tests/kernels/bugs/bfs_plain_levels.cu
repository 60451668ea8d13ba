// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7,9 words=levels are claimed by a plain test and store
#include "program.cuh"

__global__ void Expand(const int* first_edge, const int* edges, int* level, int depth, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int e = first_edge[v]; e < first_edge[v + 1]; ++e)
    if (level[edges[e]] < 0) level[edges[e]] = depth + 1;
}
int main() {
  const int n = 200;
  std::vector<int> first(n + 1), edges, start(n, -1), expected(n);
  for (int v = 0; v < n; ++v) {
    edges.push_back((v + 1) % n);
    edges.push_back((v + 2) % n);
    first[v + 1] = static_cast<int>(edges.size());
    expected[v] = (v + 1) / 2;
  }
  start[0] = 0;
  Device<int> dfirst(first), dedges(edges), level(start);
  for (int depth = 0; depth < n; ++depth) Expand<<<4, 64>>>(dfirst, dedges, level, depth, n);
  const bool ok = Equal(level.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
