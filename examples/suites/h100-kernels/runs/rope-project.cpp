// SPDX-License-Identifier: Apache-2.0
void reference(float* x, const int64_t* positions, const float* cos, const float* sin, int32_t tokens, int32_t heads, int32_t half) {
  for (int t = 0; t < tokens; ++t) {
    for (int h = 0; h < heads; ++h, x += 2 * half) {
      for (int i = 0; i < half; ++i) {
        const double a = x[i], b = x[half + i], c = cos[positions[t] * half + i], s = sin[positions[t] * half + i];
        x[i] = float(a * c - b * s);
        x[half + i] = float(b * c + a * s);
      }
    }
  }
}
