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

// The environment of network models.
struct NetworkOptions {
  std::vector<std::string>
      base_urls;     // from --base-url: for the providers `generic` and `openresponses`; several form a pool
  int parallel = 0;  // -j: maximum of concurrent requests; 0: the default
  const Clock* clock = nullptr;        // must outlive the models
  std::shared_ptr<HttpClient> client;  // shared by all models of the process: one thread for all of them
  const Catalog* catalog = nullptr;    // needed only while a model is opened
  VariableLookup variable;             // the environment
  bool needs_key = true;               // false: no request will be sent, only ModelInfo is needed
};

// Where the requests of a model are sent, and its key.
struct Connection {
  Provider provider;
  std::vector<std::string> base_urls;  // without a trailing slash
  Secret key;
  std::string key_source;  // the variable or file that it comes from; empty for a default key
  bool local = false;      // all of them are on this machine
  std::string hosts;       // of base URLs other than the provider's own: "localhost:8080"; else empty
  std::string servers;     // all base URLs, sorted, without user names and passwords
  bool long_context = false;
};

Result<Connection> ConnectionOf(const ModelSpec& spec, const NetworkOptions& options);

// A request with the provider's headers and the key.
HttpRequest NewRequest(const Connection& connection);

}  // namespace upskill
