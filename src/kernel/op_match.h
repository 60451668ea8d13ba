// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernel/cpp_signature.h"
#include "kernel/op_schema.h"

namespace upskill {

// Why the function can't implement the operator; empty if nothing speaks against it. Of a wrapped function, only the
// number of arguments is compared.
std::string MismatchOf(const OpSchema& schema, const CppSignature& function, bool is_wrapped);

}  // namespace upskill
