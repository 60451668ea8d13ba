// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace upskill {

// The root of the checkout that the test was built from. Only one source is compiled with this path, so that a compiler
// cache serves every checkout.
std::filesystem::path SourceDir();

}  // namespace upskill
