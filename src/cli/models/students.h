// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "model/batch/batch_notes.h"
#include "model/model.h"
#include "net/http_client.h"
#include "util/result.h"
#include "util/written_tokens.h"

namespace upskill {

struct ModelOptions {
  int parallel = 0;                        // -j; 0: the model's own default
  std::vector<std::string> base_urls;      // where plain model names go
  std::shared_ptr<HttpClient> client;      // of all network models of the process
  bool quiet = false;                      // no note that hashing a model's file takes long
  std::shared_ptr<WrittenTokens> written;  // of models in process; may be null
  bool needs_key = true;                   // false: the model will not be asked anything (--dry-run)

  // Through the providers' Batch APIs; batches are noted in this file.
  struct Batches {
    std::filesystem::path notes;
    BatchNotes::Use use = BatchNotes::Use::kShared;
    bool shared = true;
  };
  std::optional<Batches> batches;
};

// Opens the model that a model string names. Errors say what is known or missing.
Result<std::unique_ptr<Model>> OpenModel(const std::string& spec, const ModelOptions& options, const Env& env);

// An error if two are the same: a student's answers are found by its model. `specs` are parallel to the models.
Status CheckModelsDiffer(const std::vector<std::unique_ptr<Model>>& models, const std::vector<std::string>& specs);

// Whether the model can be a teacher at all, as far as that can be told before it is asked. Errors: a simulated
// student, which writes nothing; a command whose program is not there.
Status CheckCanTeach(const std::string& spec, const ModelOptions& options, const Env& env);

// A cost limit can be held only when the model's price is known.
Status CheckPriceIsKnown(const Model& model, const std::string& spec);

}  // namespace upskill
