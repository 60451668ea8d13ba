// SPDX-License-Identifier: Apache-2.0
void reference(const float* a, const float* b, float* out, int32_t n, int32_t blocks, int32_t threads) {
  for (int i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
