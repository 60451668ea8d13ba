// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/terminal/matrix.h"

namespace upskill {

// A matrix as a file. Names in it are those of skills and models, which may come from anywhere: none is markup, a link
// or a formula in any of these.

// One row for each skill and model that were measured.
std::string MatrixCsv(const Matrix& matrix);

// `remarks`: a line each, such as which skills are missing.
std::string MatrixMarkdown(const Matrix& matrix, const std::vector<std::string>& remarks,
                           double margin = VerdictOptions().margin);

// One page without scripts and network, at most kMostMatrixPage bytes: what it leaves out it says.
std::string MatrixHtml(const Matrix& matrix, const std::vector<std::string>& remarks,
                       double margin = VerdictOptions().margin);
inline constexpr std::size_t kMostMatrixPage = std::size_t{4} << 20U;

}  // namespace upskill
