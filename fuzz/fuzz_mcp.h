// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with one input that has to do with an MCP server; they abort if an invariant is broken.

void FuzzMcp(std::string_view input);          // what a server writes
void FuzzMcpResponse(std::string_view input);  // what a server at a URL answers: status, headers, empty line, body
void FuzzMcpHeader(std::string_view input);    // a header for a server at a URL, with variables in its value

}  // namespace upskill
