// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace upskill {

// The whole life of a worker process: loads the model, answers requests (worker_protocol.h) until the program closes
// the socket. main() calls it at once when the program is started with kWorkerArgument and a model file. Returns the
// exit code.
int RunEngineWorker(const std::filesystem::path& model);

}  // namespace upskill
