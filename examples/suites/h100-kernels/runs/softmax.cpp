// SPDX-License-Identifier: Apache-2.0
void reference(const float* in, float* out, int32_t rows, int32_t cols, int32_t threads) {
  for (int r = 0; r < rows; ++r, in += cols, out += cols) {
    double top = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, double(in[c]));
    for (int c = 0; c < cols; ++c) sum += std::exp(in[c] - top);
    for (int c = 0; c < cols; ++c) out[c] = float(std::exp(in[c] - top) / sum);
  }
}
