// SPDX-License-Identifier: Apache-2.0
void reference(const float* in, int8_t* out, float* scales, int32_t rows, int32_t cols, int32_t threads) {
  for (int r = 0; r < rows; ++r, in += cols, out += cols) {
    float top = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, std::fabs(in[c]));
    scales[r] = top == 0 ? 1.0F : top / 127;
    for (int c = 0; c < cols; ++c) out[c] = int8_t(std::clamp(std::rint(double(in[c]) / scales[r]), -127.0, 127.0));
  }
}
