// SPDX-License-Identifier: Apache-2.0
// A lock of compare-and-swap, one thread a block, guards two plain numbers that must agree.
#include "program.cuh"

__device__ int lock_word = 0;
__global__ void Count(volatile int* numbers, int rounds) {
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(&lock_word, 0, 1) != 0) {
    }
    __threadfence();
    numbers[0] = numbers[0] + 1;
    numbers[1] = numbers[1] + 2;
    __threadfence();
    atomicExch(&lock_word, 0);
  }
}
bool Test(int blocks, int rounds) {
  Device<int> numbers(std::vector<int>(2, 0));
  Count<<<blocks, 32>>>(numbers, rounds);
  return Equal(numbers.Host(), std::vector<int>{blocks * rounds, 2 * blocks * rounds}, 0);
}
int main() {
  const bool ok = Test(1, 3) && Test(7, 20);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
