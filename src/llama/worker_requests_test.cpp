// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_requests.h"

#include <gmock/gmock.h>

#include <string>

#include "llama/worker_protocol.h"

namespace upskill {
namespace {

// The `models` of each message `share` that is to be sent.
std::string Shares(WorkerRequests& requests) {
  MessageReader reader(1U << 20U);
  reader.Add(requests.TakeOutgoing());
  std::string shares;
  while (true) {
    const auto message = reader.Next();
    if (!message || !*message) return shares;
    if (StringAt(**message, "type") == "share") shares += std::to_string(JsonGet<int>(**message, "models", 0)) + " ";
  }
}

TEST(WorkerRequests, EachWorkerLearnsHowManyWorkAtTheSameTime) {
  WorkerRequests requests;
  requests.ShareProcessors(1);  // as a worker assumes
  EXPECT_EQ(Shares(requests), "");
  requests.ShareProcessors(3);
  requests.ShareProcessors(3);
  requests.ShareProcessors(2);
  EXPECT_EQ(Shares(requests), "3 2 ");
  requests.FailAll({ErrorKind::kUnavailable, "crashed"});
  EXPECT_EQ(Shares(requests), "2 ");
  requests.ShareProcessors(1);
  EXPECT_EQ(Shares(requests), "1 ");
  requests.FailAll({ErrorKind::kUnavailable, "crashed"});
  EXPECT_EQ(Shares(requests), "");
}

}  // namespace
}  // namespace upskill
