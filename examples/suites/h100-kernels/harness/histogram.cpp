// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void histogram(const unsigned char* in, unsigned int* counts, int n);
#include "histogram.cu"

int main() {
  const unsigned threads[] = {32, 64, 128}, blocks[] = {2, 5, 3};
  for (int n : {1, 100, 1001, 4099}) {
    for (int k = 0; k < 3; ++k) {
      Test("n = %d, %u blocks of %u threads", n, blocks[k], threads[k]);
      std::vector<unsigned char> in(n);
      for (unsigned char& value : in) value = NextRandom() % (k == 1 ? 3 : 256);
      in[0] = 255;
      std::vector<unsigned> counts(256);
      for (unsigned& count : counts) count = NextRandom() % 1000;
      const unsigned char* din = Input(in);
      unsigned* out = InOut(counts);
      Launch(blocks[k], threads[k], [&] { histogram(din, out, n); });
      for (unsigned char value : in) ++counts[value];
      Compare(out, counts, 0, 0, "counts");
    }
  }
  return Finish();
}
