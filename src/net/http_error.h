// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "net/http_client.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// What an answer that is no success means (reference: the retry rules of the Anthropic and OpenAI clients).
// kind: kUnavailable for 408, 409, 429, 5xx and 529 (x-should-retry decides where it is there); kPermanent for what
// ends all requests to this model (401, 402, 403, 404, insufficient_quota, billing); kInput for what concerns this
// request alone (400, 413, 422 …). The message has the status, the provider's own words (at most 300 characters,
// printable) and the request id. retry_after: what the server asks for, at most 120 s; `now` and the Date header settle
// dates.
Error ErrorOfResponse(const HttpResponse& response, Clock::Wall now);

// The server's wish of when to try again, or nothing.
std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response, Clock::Wall now);

// Whether the error means "too many requests" rather than a fault: 429 (not insufficient_quota), 529, 503 with a wish.
bool IsRateLimit(const HttpResponse& response);

}  // namespace upskill
