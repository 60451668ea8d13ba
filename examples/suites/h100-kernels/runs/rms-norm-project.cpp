// SPDX-License-Identifier: Apache-2.0
void reference(const float* x, const float* weight, float* out, int32_t rows, int32_t cols, float epsilon) {
  for (int r = 0; r < rows; ++r, x += cols, out += cols) {
    double squares = 0;
    for (int c = 0; c < cols; ++c) squares += double(x[c]) * x[c] / cols;
    for (int c = 0; c < cols; ++c) out[c] = float(x[c] / std::sqrt(squares + epsilon) * weight[c]);
  }
}
