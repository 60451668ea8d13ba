// SPDX-License-Identifier: Apache-2.0
// For the generated program that calls one function of an answer again and again.
#include "runtime.h"

using namespace upskill_runtime;

extern "C" int upskill_next_trial(uint64_t* values, unsigned count) {
  FetchManagedWhenRead();
  if (Failed() != cudaSuccess) return 0;
  return Ask(Request(kUpskillNextTrial), nullptr, values, count * sizeof(*values)).r[0] == 1 ? 1 : 0;
}

extern "C" void upskill_end_trial() {
  SendManaged();
  Ask(Request(kUpskillEndTrial), nullptr, nullptr, 0);
}
