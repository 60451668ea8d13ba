// SPDX-License-Identifier: Apache-2.0
// Mapped memory of which the host writes some elements while a kernel writes others, memory beside a registered buffer,
// and pinned buffers that threads fill while others wait for their streams.
#include "program.cuh"

#include <thread>

constexpr int kCount = 1024;
constexpr int kThreads = 3;

__global__ void Set(int* out, int value) { *out = value; }
__global__ void AddOne(int* values) { ++values[blockIdx.x * blockDim.x + threadIdx.x]; }

bool WritesBetween() {
  int* mapped = nullptr;
  CHECK(cudaHostAlloc(&mapped, 3 * sizeof(int), cudaHostAllocMapped));
  std::fill_n(mapped, 3, 0);
  Set<<<1, 1>>>(mapped + 1, 7);
  mapped[0] = 1;
  mapped[2] = 3;
  Set<<<1, 1>>>(mapped + 2, 2);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const bool ok = mapped[0] == 1 && mapped[1] == 7 && mapped[2] == 2;
  CHECK(cudaFreeHost(mapped));
  return ok;
}

bool CopiesBesideRegistered() {
  struct {
    int result[8];
    int buffer[kCount];
  } both = {};
  CHECK(cudaHostRegister(both.buffer, sizeof(both.buffer), cudaHostRegisterDefault));
  const Device<int> device(std::vector<int>{42});
  CHECK(cudaMemcpy(both.result, device, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaHostUnregister(both.buffer));
  return both.result[0] == 42;
}

void UseStream(int* pinned, bool* ok) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  const Device<int> device(kCount);
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < kCount; ++i) pinned[i] = i + round;
    CHECK(cudaMemcpyAsync(device, pinned, kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
    AddOne<<<kCount / 256, 256, 0, stream>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(pinned, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) *ok = *ok && pinned[i] == i + round + 1;
  }
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  bool ok = WritesBetween() && CopiesBesideRegistered();
  bool each[kThreads];
  int* pinned[kThreads];
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) CHECK(cudaMallocHost(&pinned[i], kCount * sizeof(int)));
  for (int i = 0; i < kThreads; ++i) {
    each[i] = true;
    threads.emplace_back(UseStream, pinned[i], &each[i]);
  }
  for (int i = 0; i < kThreads; ++i) {
    threads[i].join();
    ok = ok && each[i];
    CHECK(cudaFreeHost(pinned[i]));
  }
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
