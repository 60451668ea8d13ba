// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/api_key.h"
#include "model/catalog.h"
#include "model/model_spec.h"
#include "net/http_client.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/secret.h"

namespace upskill {

// What network models need of the world.
struct NetworkOptions {
  std::vector<std::string>
      base_urls;                 // of --base-url: for the providers `generic` and `openresponses`; several form a pool
  int parallel = 0;              // -j: most requests at once; 0: the default
  const Clock* clock = nullptr;  // must outlive the models
  std::shared_ptr<HttpClient> client;  // shared by all models of the process: one thread for all of them
  const Catalog* catalog = nullptr;    // needed while a model is opened only
  VariableLookup variable;             // the environment
  bool needs_key = true;               // false: nothing will be asked of the model, only its ModelInfo is wanted
};

// Where the requests of a model go and what opens the door.
struct Connection {
  Provider provider;
  std::vector<std::string> base_urls;  // without a slash at the end
  Secret key;
  bool local = false;  // all of them are on this machine
  std::string hosts;   // of base URLs other than the provider's own: "localhost:8080"; else empty
  bool long_context = false;
};

Result<Connection> ConnectionOf(const ModelSpec& spec, const NetworkOptions& options);

// A request with the provider's headers and the key.
HttpRequest NewRequest(const Connection& connection);

}  // namespace upskill
