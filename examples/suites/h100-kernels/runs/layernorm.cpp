// SPDX-License-Identifier: Apache-2.0
void reference(const float* x, const float* gamma, const float* beta, float* out, int32_t rows, int32_t cols, float epsilon, int32_t threads) {
  for (int r = 0; r < rows; ++r, x += cols, out += cols) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += double(x[c]) / cols;
    for (int c = 0; c < cols; ++c) variance += (x[c] - mean) * (x[c] - mean) / cols;
    for (int c = 0; c < cols; ++c) out[c] = float((x[c] - mean) / std::sqrt(variance + epsilon) * gamma[c] + beta[c]);
  }
}
