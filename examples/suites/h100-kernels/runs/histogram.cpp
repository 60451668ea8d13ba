// SPDX-License-Identifier: Apache-2.0
void reference(const uint8_t* in, uint32_t* counts, int32_t n, int32_t blocks, int32_t threads) {
  for (int i = 0; i < n; ++i) ++counts[in[i]];
}
