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
  std::string quant;  // "Q4_K_M" in any case, or the name of a file; empty: the usual choice

  std::string text() const { return quant.empty() ? repo : repo + ":" + quant; }
};

// Takes `org/repo[:QUANT]` apart. A repository that isn't named as the Hub allows, or that looks like a path of a file,
// is an error.
Result<GgufName> ParseGgufName(const std::string& text);

// A model among the files of a repository: one file, or the parts `…-00001-of-00003.gguf`.
struct GgufModel {
  std::string quant;               // "Q4_K_M", "UD-Q2_K_XL", "BF16"; empty: the name doesn't say
  std::vector<std::string> parts;  // paths in the repository, the first part first; an absent part is empty

  const std::string& shown() const { return parts.at(0).empty() ? parts.back() : parts.at(0); }
  std::size_t missing() const;  // number of a part that isn't there, counted from 1; 0: whole
};

// The models among `files`, sorted by name. What goes with a model (image projectors, importance matrices, draft heads)
// is left out, by the same marks in the name as in llama.cpp.
std::vector<GgufModel> GgufModelsIn(const std::vector<std::string>& files);

// The model that `name` means. A quant fits file names ending in `-QUANT.gguf` or `.QUANT.gguf` and folders `QUANT/`,
// in any case; without one, Q4_K_M, then Q8_0, then the only model there is. Errors: kNotFound (none fits, or a part is
// missing), kInput (several fit); they list what is there.
Result<GgufModel> ChooseGguf(const std::vector<std::string>& files, const GgufName& name);

}  // namespace upskill
