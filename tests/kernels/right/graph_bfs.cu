// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, level by level: vertices are claimed by compare-and-swap and go into the next frontier.
#include "program.cuh"

__global__ void Expand(const int* first_edge, const int* edges, const int* frontier, int count, int* level, int* next,
                       int* next_count, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int v = frontier[i];
  for (int e = first_edge[v]; e < first_edge[v + 1]; ++e) {
    const int w = edges[e];
    if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(next_count, 1)] = w;
  }
}
bool Test(int n, int degree) {
  Random random(n);
  std::vector<int> first_edge(n + 1), edges;
  for (int v = 0; v < n; ++v) {
    for (int d = random.Below(degree + 1); d > 0; --d) edges.push_back(random.Below(n));
    if (v + 1 < n && v % 5 != 4) edges.push_back(v + 1);
    first_edge[v + 1] = static_cast<int>(edges.size());
  }
  edges.push_back(0);  // never empty
  std::vector<int> expected(n, -1), queue(1, 0);
  expected[0] = 0;
  for (size_t q = 0; q < queue.size(); ++q)
    for (int e = first_edge[queue[q]]; e < first_edge[queue[q] + 1]; ++e)
      if (expected[edges[e]] < 0) {
        expected[edges[e]] = expected[queue[q]] + 1;
        queue.push_back(edges[e]);
      }
  std::vector<int> start(n, -1), zeros(n, 0);
  start[0] = 0;
  Device<int> dfirst(first_edge), dedges(edges), level(start), a(zeros), b(zeros), count(1);
  int *frontier = a, *next = b, size = 1;
  for (int depth = 1; size > 0; ++depth) {
    CHECK(cudaMemset(count, 0, sizeof(int)));
    Expand<<<(size + 63) / 64, 64>>>(dfirst, dedges, frontier, size, level, next, count, depth);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&size, count, sizeof size, cudaMemcpyDeviceToHost));
    std::swap(frontier, next);
  }
  return Equal(level.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 0) && Test(50, 2) && Test(1000, 3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
