// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/connection.h"
#include "net/http_client.h"
#include "util/result.h"

namespace upskill {

// Whether the server knows no such model or path, so that the list of its models helps.
bool AsksForModelList(const Error& error);

// Where a server lists its models, after the base URL.
std::string ModelListPath(const Connection& connection);

// What to do about such an error ("; the server has no model 'a'; did you mean 'b'?"), given what the server says when
// it is asked for its models. `path` and `error`: of the request that failed.
std::string ModelListAdvice(const Connection& connection, std::string_view path, const std::string& model,
                            const Error& error, const Result<HttpResponse>& list);

// What to do about a refused key or a server that isn't there; empty about other errors.
std::string ConnectionAdvice(const Connection& connection, const Error& error);

}  // namespace upskill
