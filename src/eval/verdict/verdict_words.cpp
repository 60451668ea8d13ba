// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/verdict_words.h"

#include <algorithm>

namespace upskill {

std::string VerdictSlug(Verdict verdict) {
  std::string slug = VerdictName(verdict);
  std::replace(slug.begin(), slug.end(), ' ', '-');
  return slug;
}

}  // namespace upskill
