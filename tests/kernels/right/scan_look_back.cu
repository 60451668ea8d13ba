// SPDX-License-Identifier: Apache-2.0
// Inclusive sums of a long array in one pass: each block publishes its sum, then looks back through those before it.
#include "program.cuh"

struct Status {
  int state;
  int aggregate;
  int prefix;
};  // state: 0 nothing yet, 1 aggregate, 2 prefix
__device__ int ticket;
__global__ void Scan(const int* in, int* out, Status* status, int n) {
  __shared__ int tile, before;
  __shared__ int values[128];
  const int t = threadIdx.x;
  if (t == 0)
    tile = atomicAdd(&ticket, 1);  // in the order in which blocks start, so that nobody waits for one that hasn't
  __syncthreads();
  const int i = tile * 128 + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < 128; offset *= 2) {
    const int left = t >= offset ? values[t - offset] : 0;
    __syncthreads();
    values[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    volatile Status* own = status + tile;
    int sum = 0;
    own->aggregate = values[127];
    __threadfence();
    atomicExch(&status[tile].state, 1);
    for (int p = tile - 1; p >= 0; --p) {
      volatile Status* other = status + p;
      int state;
      do state = atomicAdd(&status[p].state, 0);
      while (state == 0);
      __threadfence();
      if (state == 2) {
        sum += other->prefix;
        break;
      }
      sum += other->aggregate;
    }
    own->prefix = sum + values[127];
    __threadfence();
    atomicExch(&status[tile].state, 2);
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + values[t];
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(10);
    expected[i] = in[i] + (i == 0 ? 0 : expected[i - 1]);
  }
  const int blocks = (n + 127) / 128, zero = 0;
  CHECK(cudaMemcpyToSymbol(ticket, &zero, sizeof zero));
  Device<int> din(in), out(n);
  Device<Status> status(std::vector<Status>(blocks, {0, 0, 0}));
  Scan<<<blocks, 128>>>(din, out, status, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(129) && Test(3000) && Test(10001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
