// SPDX-License-Identifier: Apache-2.0
void reference(const float* x, float* y, int32_t n, float alpha, int32_t blocks, int32_t threads) {
  for (int i = 1; i <= n; ++i) y[i] = float(double(alpha) * x[i] + y[i]);
}
