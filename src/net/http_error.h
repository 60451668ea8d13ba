// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "net/http_client.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// Turns a response without success into an error (reference: the retry rules of the Anthropic and OpenAI clients).
// kind: kUnavailable for 408, 409, 429, 5xx and 529 (x-should-retry decides if present); kPermanent for what ends all
// requests to this model (401, 402, 403, 404, insufficient_quota, billing, a delay of more than 10 minutes); kInput for
// what concerns this request alone (400, 413, 422 …). The message has the status, the provider's message (one line, at
// most 300 columns) and the request ID. cause: what failed, by status, by time (a server that is overloaded says so at
// once) and by the provider's words for answers that it rejected. retry_after: the delay that the server asks for, at
// most 120 s; dates are relative to the Date header, else to `now`.
Error ErrorOfResponse(const HttpResponse& response, Clock::Wall now);

// The delay that the server asks for, or nothing.
std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response, Clock::Wall now);

// Whether the response means "too many requests" rather than a fault: 429 (not insufficient_quota), 529, 503 with a
// delay.
bool IsRateLimit(const HttpResponse& response);

}  // namespace upskill
