// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss, int classes, int ignored);
#include "cross_entropy.cu"

int main() {
  const unsigned threads[] = {32, 64, 128};
  for (int classes : {1, 10, 64, 131, 301}) {
    for (unsigned block : threads) {
      const int rows = 6, ignored = block == 32 ? -100 : -1;
      Test("%d classes, blocks of %u threads", classes, block);
      std::vector<float> logits = Uniforms(rows * classes, -5, 5);
      for (int c = 0; c < classes; ++c) logits[2 * classes + c] += 20000.0F;
      for (int c = 0; c < classes; ++c) logits[3 * classes + c] -= 500.0F;
      std::vector<int> labels(rows);
      for (int r = 0; r < rows; ++r) labels[r] = int(NextRandom() % classes);
      labels[0] = classes - 1;
      labels[4] = ignored;
      const float* dlogits = Input(logits);
      const int* dlabels = Input(labels);
      float* loss = Output<float>(rows);
      Launch(rows, block, [&] { cross_entropy(dlogits, dlabels, loss, classes, ignored); });
      for (int r = 0; r < rows; ++r) {
        double top = -INFINITY, sum = 0;
        for (int c = 0; c < classes; ++c) top = fmax(top, double(logits[r * classes + c]));
        for (int c = 0; c < classes; ++c) sum += exp(logits[r * classes + c] - top);
        const double expected = r == 4 ? 0 : top + log(sum) - logits[r * classes + labels[r]];
        Compare(loss + r, std::vector<double>{expected}, 0, r == 4 ? 0 : 1e-5 * (1 + fabs(top)), "loss");
      }
    }
  }
  return Finish();
}
