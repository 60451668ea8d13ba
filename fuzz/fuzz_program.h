// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the fuzzers do with what agent programs send and leave.

// The bytes of a program's connection, and what is made of its requests for the endpoint.
void FuzzProxyRequest(std::string_view input);
std::vector<std::string> ProxyRequestSeeds();

// A model's answer in Gemini's format, streamed and whole.
void FuzzProxyAnswer(std::string_view input);
std::vector<std::string> ProxyAnswerSeeds();

// A user's agents.toml.
void FuzzPrograms(std::string_view input);
std::vector<std::string> ProgramSeeds();

}  // namespace upskill
