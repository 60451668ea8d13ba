// SPDX-License-Identifier: Apache-2.0
#include "stats/pass_at_k.h"

#include <algorithm>

namespace upskill {

std::optional<double> PassAtK(std::int64_t n, std::int64_t c, std::int64_t k) {
  const std::optional<double> none = PassAllK(n, n - c, k);  // all k fail
  if (!none) return std::nullopt;
  return 1.0 - *none;
}

std::optional<double> PassAllK(std::int64_t n, std::int64_t c, std::int64_t k) {
  if (k < 1 || k > n || c < 0 || c > n) return std::nullopt;
  if (c < k) return 0.0;
  // C(c, k)/C(n, k) is symmetric in k and n − c: use the product with fewer factors.
  const std::int64_t factors = std::min(k, n - c);
  const std::int64_t taken = std::max(k, n - c);
  double product = 1.0;
  for (std::int64_t i = 0; i < factors; ++i) product *= static_cast<double>(n - taken - i) / static_cast<double>(n - i);
  return product;
}

}  // namespace upskill
