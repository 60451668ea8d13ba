// SPDX-License-Identifier: Apache-2.0
// Checksums of many messages, table in shared memory; checked against the bitwise definition and the published value.
#include "program.cuh"

__global__ void Crc(const unsigned char* bytes, const int* starts, unsigned* out, int messages) {
  __shared__ unsigned table[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  __syncthreads();
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= messages) return;
  unsigned crc = ~0u;
  for (int i = starts[m]; i < starts[m + 1]; ++i) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  out[m] = ~crc;
}
bool Test(int messages) {
  Random random(messages);
  std::vector<unsigned char> bytes = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  std::vector<int> starts = {0, 9};
  for (int m = 1; m < messages; ++m) {
    for (int i = random.Below(60); i > 0; --i) bytes.push_back(static_cast<unsigned char>(random.Below(256)));
    starts.push_back(static_cast<int>(bytes.size()));
  }
  std::vector<unsigned> expected;
  for (int m = 0; m < messages; ++m) {
    unsigned crc = ~0u;
    for (int i = starts[m]; i < starts[m + 1]; ++i) {
      crc ^= bytes[i];
      for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    expected.push_back(~crc);
  }
  Device<unsigned char> dbytes(bytes);
  Device<int> dstarts(starts);
  Device<unsigned> out(messages);
  Crc<<<(messages + 63) / 64, 64>>>(dbytes, dstarts, out, messages);
  const std::vector<unsigned> got = out.Host();
  return Equal(got, expected, 0) && Equal(std::vector<unsigned>(1, got[0]), std::vector<unsigned>(1, 0xCBF43926u), 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(200);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
