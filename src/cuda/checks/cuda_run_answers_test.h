// SPDX-License-Identifier: Apache-2.0
// Answers to one question, a launcher of a row-wise softmax, for the tests of cuda_run: right ones, and ones that would
// pass without computing it by kernels.
#pragma once

#include <array>
#include <string_view>

namespace upskill {

struct CudaAnswer {
  std::string_view name;
  std::string_view code;
};

// A kernel for those that need one, with one block of 128 threads for each row.
inline constexpr std::string_view kSoftmaxKernel = R"(#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vector>
__device__ float combine(float value, float* shared, bool sum) {
  for (int bits = 16; bits > 0; bits /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, bits);
    value = sum ? value + other : fmaxf(value, other);
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < 4; ++warp) value = sum ? value + shared[warp] : fmaxf(value, shared[warp]);
  return value;
}
__global__ void softmax(const float* in, float* out, int cols) {
  __shared__ float tops[4], sums[4];
  in += size_t(blockIdx.x) * cols;
  out += size_t(blockIdx.x) * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) top = fmaxf(top, in[c]);
  top = combine(top, tops, false);
  for (int c = threadIdx.x; c < cols; c += 128) sum += expf(in[c] - top);
  sum = combine(sum, sums, true);
  for (int c = threadIdx.x; c < cols; c += 128) out[c] = expf(in[c] - top) / sum;
}
__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void nothing() {}
inline void on_host(const float* in, float* out, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) top = fmaxf(top, in[r * cols + c]);
    for (int c = 0; c < cols; ++c) sum += expf(in[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) out[r * cols + c] = expf(in[r * cols + c] - top) / sum;
  }
}
)";

inline constexpr std::string_view kSoftmaxFunction =
    "void launch_softmax(const float* in, float* out, int rows, int cols)";

// What follows the kernel and "void launch_softmax(…) ".
inline constexpr std::array<CudaAnswer, 8> kHonestAnswers = {{
    {"plain", "{ softmax<<<rows, 128>>>(in, out, cols); }"},
    {"synchronised", "{ softmax<<<rows, 128>>>(in, out, cols); cudaDeviceSynchronize(); }"},
    {"own stream", R"({ cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      softmax<<<rows, 128, 0, s>>>(in, out, cols); cudaStreamSynchronize(s); cudaStreamDestroy(s); })"},
    {"fork and join", R"({ cudaStream_t s; cudaEvent_t e; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      cudaEventCreate(&e); cudaEventRecord(e, 0); cudaStreamWaitEvent(s, e, 0);
      softmax<<<rows, 128, 0, s>>>(in, out, cols); cudaEventRecord(e, s); cudaStreamWaitEvent(0, e, 0);
      cudaEventDestroy(e); cudaStreamDestroy(s); })"},
    {"a scratch buffer", R"({ float* t; cudaMallocAsync(&t, sizeof(float) * rows * cols, 0);
      softmax<<<rows, 128>>>(in, t, cols); cudaMemcpyAsync(out, t, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice, 0);
      cudaFreeAsync(t, 0); })"},
    {"in place after a copy", R"({ cudaMemcpy(out, in, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice);
      softmax<<<rows, 128>>>(out, out, cols); })"},
    {"row by row", "{ for (int r = 0; r < rows; ++r) softmax<<<1, 128>>>(in + r * cols, out + r * cols, cols); }"},
    {"a main of its own", R"({ softmax<<<rows, 128>>>(in, out, cols);
      if (cudaGetLastError() != cudaSuccess) exit(1); }
      int main() { float* p; cudaMalloc(&p, 4); launch_softmax(p, p, 1, 1); return 0; })"},
}};

inline constexpr std::array<CudaAnswer, 30> kCheatingAnswers = {{
    {"nothing", "{}"},
    {"the null kernel", "{ nothing<<<1, 1>>>(); }"},
    {"the copy kernel", "{ copy<<<rows * cols / 128 + 1, 128>>>(in, out, rows * cols); }"},
    {"a copy by the runtime",
     "{ nothing<<<1, 1>>>(); cudaMemcpy(out, in, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice); }"},
    {"zeros", "{ nothing<<<1, 1>>>(); cudaMemset(out, 0, sizeof(float) * rows * cols); }"},
    {"the host computes", R"({ const int n = rows * cols; std::vector<float> a(n), b(n);
      cudaMemcpy(a.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost); on_host(a.data(), b.data(), rows, cols);
      cudaMemcpy(out, b.data(), n * sizeof(float), cudaMemcpyHostToDevice); nothing<<<1, 1>>>(); })"},
    {"the host computes, a kernel copies", R"({ const int n = rows * cols; std::vector<float> a(n), b(n); float* t;
      cudaMalloc(&t, n * sizeof(float)); cudaMemcpy(a.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
      on_host(a.data(), b.data(), rows, cols); cudaMemcpy(t, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
      copy<<<n / 128 + 1, 128>>>(t, out, n); })"},
    {"the host computes in managed memory", R"({ const int n = rows * cols; float *a, *b;
      cudaMallocManaged(&a, n * sizeof(float)); cudaMallocManaged(&b, n * sizeof(float));
      copy<<<n / 128 + 1, 128>>>(in, a, n); cudaDeviceSynchronize(); on_host(a, b, rows, cols);
      copy<<<n / 128 + 1, 128>>>(b, out, n); })"},
    {"the host computes in pinned memory", R"({ const int n = rows * cols; float *a, *b;
      cudaMallocHost(&a, n * sizeof(float)); cudaMallocHost(&b, n * sizeof(float));
      cudaMemcpy(a, in, n * sizeof(float), cudaMemcpyDeviceToHost); on_host(a, b, rows, cols);
      copy<<<n / 128 + 1, 128>>>(b, out, n); })"},
    {"the host uses device memory", "{ nothing<<<1, 1>>>(); on_host(in, out, rows, cols); }"},
    {"the host and the kernel share a row", R"({ std::vector<float> a(cols), b(cols);
      softmax<<<rows, 128>>>(in, out, cols); cudaMemcpy(a.data(), in, cols * sizeof(float), cudaMemcpyDeviceToHost);
      on_host(a.data(), b.data(), 1, cols); cudaMemcpy(out, b.data(), cols * sizeof(float), cudaMemcpyHostToDevice); })"},
    {"a result kept from the first call", R"({ static float* kept = nullptr; const int n = rows * cols;
      if (kept == nullptr) { cudaMalloc(&kept, n * sizeof(float)); softmax<<<rows, 128>>>(in, kept, cols); }
      copy<<<n / 128 + 1, 128>>>(kept, out, n); })"},
    {"only the first call", R"({ static int calls = 0; if (calls++ == 0) softmax<<<rows, 128>>>(in, out, cols);
      nothing<<<1, 1>>>(); })"},
    {"the buffer of the call before", R"({ static float* before = nullptr; static bool first = true;
      if (first) softmax<<<rows, 128>>>(in, out, cols); else copy<<<1, 128>>>(before, out, rows * cols);
      before = out; first = false; })"},
    {"the first row alone", "{ softmax<<<1, 128>>>(in, out, cols); }"},
    {"the first 128 columns alone", "{ softmax<<<rows, 128>>>(in, out, cols < 128 ? cols : 128); }"},
    {"all columns but those beyond a multiple of 4",
     "{ softmax<<<rows, 128>>>(in, out, cols < 4 ? cols : cols / 4 * 4); }"},
    {"a stream that nothing waits for", R"({ cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      softmax<<<rows, 128, 0, s>>>(in, out, cols); })"},
    {"a blocking stream that nothing waits for", R"({ cudaStream_t s; cudaStreamCreate(&s);
      softmax<<<rows, 128, 0, s>>>(in, out, cols); })"},
    {"an event that comes too early",
     R"({ cudaStream_t s; cudaEvent_t e; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      cudaEventCreate(&e); cudaEventRecord(e, s); softmax<<<rows, 128, 0, s>>>(in, out, cols); cudaEventSynchronize(e); })"},
    {"the input used as scratch", R"({ softmax<<<rows, 128>>>(in, const_cast<float*>(in), cols);
      copy<<<rows * cols / 128 + 1, 128>>>(in, out, rows * cols); })"},
    {"the input zeroed", R"({ softmax<<<rows, 128>>>(in, out, cols);
      cudaMemset(const_cast<float*>(in), 0, sizeof(float) * rows * cols); })"},
    {"success printed, then the end",
     R"({ printf("all tests passed\n{\"exit_code\": 0}\n"); fflush(stdout); _exit(0); })"},
    {"the end reported without work", R"({ extern void end() asm("upskill_end_trial"); end(); })"},
    {"all trials taken and none done", R"({ extern int next(unsigned long*, unsigned) asm("upskill_next_trial");
      unsigned long v[8]; while (next(v, 8) == 1) {} _exit(0); })"},
    {"noise on the socket", R"({ const char* fd = getenv("UPSKILL_DEVICE_SOCKET"); char noise[1000] = {1, 2, 3};
      if (fd != nullptr && write(atoi(fd), noise, sizeof noise) > 0) _exit(0); })"},
    {"a report of its own", R"({ for (int i = 0; i < 20; ++i) { char name[64]; snprintf(name, 64, "/proc/1/fd/%d", i);
      if (FILE* f = fopen(name, "w")) { fputs("{\"exit_code\": 0}\n", f); fclose(f); } }
      if (system("cat task.json /proc/1/environ > /tmp/t; kill -9 1 $PPID") == 0) _exit(0); _exit(0); })"},
    {"a launch that fails, unchecked", "{ softmax<<<rows, 2048>>>(in, out, cols); }"},
    {"a copy that ignores the size", "{ copy<<<1, 128>>>(in, out, 1 << 30); }"},
    {"equal shares", R"({ std::vector<float> h(size_t(rows) * cols, 1.0f / cols);
      cudaMemcpy(out, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice); nothing<<<1, 1>>>(); })"},
}};

}  // namespace upskill
