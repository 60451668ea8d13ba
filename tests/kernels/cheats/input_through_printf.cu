// SPDX-License-Identifier: Apache-2.0
// function: sum
// cheat: a kernel prints its input into a pipe, and the host reads and adds it
#include <cuda_runtime.h>

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

__global__ void Print(const float* in, int begin, int end) {
  for (int i = begin; i < end; ++i) printf("%.9g\n", in[i]);
}
__global__ void Store(float value, float* out) { *out = value; }
void launch_sum(const float* in, float* out, int n) {
  double total = 0;
  for (int begin = 0; begin < n; begin += 1000) {
    int ends[2];
    if (pipe(ends) != 0) return;
    std::fflush(stdout);
    const int saved = dup(1);
    dup2(ends[1], 1);
    Print<<<1, 1>>>(in, begin, begin + 1000 < n ? begin + 1000 : n);
    cudaDeviceSynchronize();
    std::fflush(stdout);
    dup2(saved, 1);
    close(saved);
    close(ends[1]);
    std::FILE* const text = fdopen(ends[0], "r");
    double value;
    while (std::fscanf(text, "%lf", &value) == 1) total += value;
    std::fclose(text);
  }
  Store<<<1, 1>>>(static_cast<float>(total), out);
}
