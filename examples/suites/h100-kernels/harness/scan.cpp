// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void row_scan(const int* in, int* out, int cols);
#include "row_scan.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int cols : {1, 31, 64, 129, 700}) {
    for (unsigned block : threads) {
      const int rows = 3;
      Test("%d columns, blocks of %u threads", cols, block);
      std::vector<int> in(rows * cols);
      for (int& value : in) value = int(NextRandom() % 2000001) - 1000000;
      const int* din = Input(in);
      int* out = Output<int>(in.size());
      Launch(rows, block, [&] { row_scan(din, out, cols); });
      std::vector<int> expected(in);
      for (int r = 0; r < rows; ++r) {
        for (int c = 1; c < cols; ++c) expected[r * cols + c] += expected[r * cols + c - 1];
      }
      Compare(out, expected, 0, 0);
    }
  }
  return Finish();
}
