// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/result.h"

namespace upskill {

// A model in a repository of GGUFs on the Hugging Face Hub.
struct GgufName {
  std::string repo;   // org/name
  std::string quant;  // "Q4_K_M" in any case, or the name of a file; empty: the default choice

  std::string text() const { return quant.empty() ? repo : repo + ":" + quant; }
};

// Parses `org/repo[:QUANT]`. A repository name that the Hub doesn't allow, or that looks like a file's path, is an
// error.
Result<GgufName> ParseGgufName(const std::string& text);

// A model among the files of a repository: one file, or the parts `…-00001-of-00003.gguf`.
struct GgufModel {
  std::string quant;               // "Q4_K_M", "UD-Q2_K_XL", "BF16"; empty: not part of the name
  std::vector<std::string> parts;  // paths in the repository of the parts that exist, in order; not empty
  std::size_t part_count = 1;      // that it should have; names may claim any number
  std::size_t missing = 0;         // number of the first missing part, from 1; 0: none

  const std::string& shown() const { return parts.at(0); }
};

// The models among `files`, sorted by name. Files that belong to a model (image projectors, importance matrices, draft
// heads) are left out, recognized by name as in llama.cpp.
std::vector<GgufModel> GgufModelsIn(const std::vector<std::string>& files);

// The model that `name` refers to. A quantization matches file names ending in `-QUANT.gguf` or `.QUANT.gguf` and
// folders `QUANT/`, in any case; without one, Q4_K_M, then Q8_0, then the only model there is. Errors: kNotFound (none
// matches, or a part is missing), kInput (several match); they list the available models.
Result<GgufModel> ChooseGguf(const std::vector<std::string>& files, const GgufName& name);

}  // namespace upskill
