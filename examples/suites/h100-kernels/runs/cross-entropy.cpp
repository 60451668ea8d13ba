// SPDX-License-Identifier: Apache-2.0
void reference(const float* logits, const int32_t* labels, float* loss, int32_t rows, int32_t classes, int32_t ignored, int32_t threads) {
  for (int r = 0; r < rows; ++r, logits += classes) {
    double top = -INFINITY, sum = 0;
    for (int c = 0; c < classes; ++c) top = std::max(top, double(logits[c]));
    for (int c = 0; c < classes; ++c) sum += std::exp(logits[c] - top);
    loss[r] = labels[r] == ignored ? 0.0F : float(top + std::log(sum) - logits[labels[r]]);
  }
}
