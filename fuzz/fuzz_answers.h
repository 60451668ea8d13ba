// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with what checks read: answers, what programs say of them, and schemas.

void FuzzAnswerFiles(std::string_view input);
void FuzzJudgment(std::string_view input);  // a judged text in the first line, then the judge's answer
void FuzzLabels(std::string_view input);
void FuzzAnswerData(std::string_view input);  // a path of data in the first line, then JSON, TOML or YAML
void FuzzJsonSchema(std::string_view input);  // [schema, value]
void FuzzCompilerOutput(std::string_view input);

}  // namespace upskill
