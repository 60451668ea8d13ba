// SPDX-License-Identifier: Apache-2.0
void reference(const float* in, float* out, int32_t rows, int32_t cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) out[c * rows + r] = in[r * cols + c];
  }
}
