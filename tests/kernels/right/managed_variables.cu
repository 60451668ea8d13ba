// SPDX-License-Identifier: Apache-2.0
// Managed variables of several sizes beside managed memory and a tree in it, pinned and registered memory.
#include "program.cuh"

struct Node {
  int key;
  Node* left;
  Node* right;
};

constexpr int kQueries = 64;

__managed__ int found;
__managed__ int base = 5;
__managed__ double weights[700];
__device__ int plain = 3;

__global__ void Find(const Node* root, const int* queries, int* hits) {
  const Node* at = root;
  while (at != nullptr && at->key != queries[threadIdx.x]) at = queries[threadIdx.x] < at->key ? at->left : at->right;
  hits[threadIdx.x] = at != nullptr ? base + plain : 0;
  if (at != nullptr) atomicAdd(&found, 1);
}
__global__ void Double() {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 700) weights[i] *= 2;
  if (i == 0) base = 10;
}
__global__ void AddOne(int* values, int n) {
  if (threadIdx.x < n) ++values[threadIdx.x];
}

Node* Make(int key) {
  Node* node = nullptr;
  CHECK(cudaMallocManaged(&node, sizeof(Node)));
  node->key = key;
  node->left = node->right = nullptr;
  return node;
}
void Insert(Node* root, int key) {
  for (Node* at = root;;) {
    Node*& next = key < at->key ? at->left : at->right;
    if (next == nullptr) {
      next = Make(key);
      return;
    }
    at = next;
  }
}
bool Expect(const char* what, double got, double expected) {
  if (got == expected) return true;
  std::printf("%s: %g instead of %g\n", what, got, expected);
  return false;
}

int main() {
  Node* const root = Make(50);
  for (const int key : {25, 75, 10, 30, 60, 90, 5}) Insert(root, key);
  int* queries = nullptr;
  int* hits = nullptr;
  CHECK(cudaMallocManaged(&queries, kQueries * sizeof(int)));
  CHECK(cudaHostAlloc(&hits, kQueries * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < kQueries; ++i) queries[i] = i * 5;
  found = 0;
  for (int i = 0; i < 700; ++i) weights[i] = i;
  Find<<<1, kQueries>>>(root, queries, hits);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  bool ok = Expect("found", found, 8) && Expect("hits", hits[10], 8) && Expect("misses", hits[0], 0);
  Double<<<6, 128>>>();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  ok = ok && Expect("base", base, 10);
  for (int i = 0; i < 700; ++i) ok = ok && Expect("weight", weights[i], 2 * i);
  // The program's own memory, in the middle of other memory.
  int mine[300];
  for (int i = 0; i < 300; ++i) mine[i] = i;
  int* registered = nullptr;
  CHECK(cudaHostRegister(mine + 10, 200 * sizeof(int), cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(&registered, mine + 10, 0));
  AddOne<<<1, 256>>>(registered, 200);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaHostUnregister(mine + 10));
  for (int i = 0; i < 300; ++i) ok = ok && Expect("registered", mine[i], i >= 10 && i < 210 ? i + 1 : i);
  CHECK(cudaFreeHost(hits));
  CHECK(cudaFree(queries));
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
