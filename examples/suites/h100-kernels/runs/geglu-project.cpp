// SPDX-License-Identifier: Apache-2.0
void reference(const float* x, float* out, int32_t rows, int32_t cols) {
  for (int r = 0; r < rows; ++r, x += 2 * cols, out += cols) {
    for (int c = 0; c < cols; ++c) {
      const double gate = x[c];
      out[c] = float(0.5 * gate * (1 + std::tanh(0.7978845608 * (gate + 0.044715 * gate * gate * gate))) * x[cols + c]);
    }
  }
}
