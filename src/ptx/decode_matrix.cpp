// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp.
#include "ptx/decoder.h"

namespace upskill::ptx {

Status Decoder::DecodeLdmatrix(const Statement& statement) { return EmitUnsupported(statement); }
Status Decoder::DecodeMma(const Statement& statement) { return EmitUnsupported(statement); }
Status Decoder::DecodeWmma(const Statement& statement) { return EmitUnsupported(statement); }

}  // namespace upskill::ptx
