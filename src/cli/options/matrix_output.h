// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "report/terminal/matrix.h"
#include "util/result.h"

namespace CLI {
class App;
}

namespace upskill {

// Declares -o of a command that makes a table of skills and models.
void AddMatrixOutputOption(CLI::App& command, std::string& output);

// An error unless the name tells the format. Empty: nothing is to be written.
Status CheckMatrixOutput(const std::string& output);

// Writes the table to the file of -o, in the format that its name tells, and says so (on standard error if standard
// output has a document). `remarks`: a line each, of what the table lacks.
Status WriteMatrixOutput(const Matrix& matrix, const std::vector<std::string>& remarks, double margin,
                         const std::string& output, bool out_has_document, Env& env);

}  // namespace upskill
