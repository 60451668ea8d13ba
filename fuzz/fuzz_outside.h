// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with one input that comes from another program or from the user's files.

void FuzzHubListing(std::string_view input);      // the Hub's list of a repository's files
void FuzzConfig(std::string_view input);          // upskill.config.yaml
void FuzzKeys(std::string_view input);            // keys.toml
void FuzzAgentConfig(std::string_view input);     // fastagent.config.yaml
void FuzzEnvFile(std::string_view input);         // .env
void FuzzEvaluationFile(std::string_view input);  // cases in the files of other tools, as JSON, lines of JSON and YAML
void FuzzCatalog(std::string_view input);         // models.toml
void FuzzMessageFraming(std::string_view input);  // headers of a response, "name: value" in each line

}  // namespace upskill
