// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "model/model.h"
#include "util/result.h"

namespace upskill {

struct DeskOptions {
  std::filesystem::path folder;
  int parallel = 0;  // open requests; 0: the default
  // Gets a line for the user when an answer is awaited. Called on the thread that starts the request. May be empty.
  std::function<void(const std::string& line)> say;
  std::chrono::milliseconds look{200};     // how often answers are looked for
  std::chrono::milliseconds settle{1000};  // an answer is complete when its file hasn't changed for so long
};

// `desk:FOLDER`: a model behind files. Each request is written to NNNN-request.md, a readable Markdown file; somebody,
// or some program, puts the answer beside it as NNNN-answer.md. A request that is in the folder already, answered or
// not, keeps its number, so that a later session continues with the same files. No request is ever deleted.
//
// Owns the folder, which is created for the first request, and the thread that looks for answers. `done` is called on
// that thread. One model at a time may use a folder: requests of another one get an error. Every Cancel cancels all
// requests; their files stay.
// An answer that is there before its request is made in this session is taken, and `say` is told of the first one.
std::unique_ptr<Model> MakeDeskModel(const DeskOptions& options);

// Whether requests could be written to the folder now: it is a folder, or can be created, isn't full, and nobody else
// uses it. Leaves nothing behind.
Status CheckDeskFolder(const std::filesystem::path& folder);

}  // namespace upskill
