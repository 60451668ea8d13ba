// SPDX-License-Identifier: Apache-2.0
#include "llama/engine_times.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

TEST(EngineTimes, SumsBatchesByWhatTheyEvaluate) {
  EngineTimes times;
  times.Add("waiting", 0, 3.0);
  EXPECT_TRUE(times.Take().empty());  // nothing has been evaluated
  times.AddBatch(500, 2, 1.0);
  times.AddBatch(0, 31, 0.5);
  times.AddBatch(0, 16, 0.25);
  times.AddBatch(0, 1, 0.125);
  const Json table = times.Take();
  EXPECT_EQ(table["prompts"], (Json{{"batches", 1}, {"tokens", 500}, {"seconds", 1.0}}));
  EXPECT_EQ(table["answers of 16 to 31"], (Json{{"batches", 2}, {"tokens", 47}, {"seconds", 0.75}}));
  EXPECT_EQ(table["answers of 1"], (Json{{"batches", 1}, {"tokens", 1}, {"seconds", 0.125}}));
  EXPECT_EQ(table["waiting"]["seconds"], 3.0);
  EXPECT_TRUE(times.Take().empty());
}

}  // namespace
}  // namespace upskill
