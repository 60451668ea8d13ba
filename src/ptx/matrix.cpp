// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine.h"

namespace upskill::ptx {

void Machine::LoadMatrix(const Inst&, std::uint32_t) {}
void Machine::Mma(const Inst&, std::uint32_t) {}
void Machine::WmmaAccess(const Inst&, std::uint32_t, bool) {}

}  // namespace upskill::ptx
