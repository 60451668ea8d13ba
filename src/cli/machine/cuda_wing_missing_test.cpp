// SPDX-License-Identifier: Apache-2.0
// What a program that was built with UPSKILL_CUDA=OFF says where the wing would be needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/command_line.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kMissing = "this upskill was built without CUDA checks (UPSKILL_CUDA=OFF)";

class CudaWingMissing : public CommandLineTest {};

TEST_F(CudaWingMissing, IsSaidByTheCommandHelpAndDoctor) {
  EXPECT_EQ(Run({"kernel", "check", "reduce.cu"}), 2);
  EXPECT_THAT(error, HasSubstr(kMissing));
  EXPECT_EQ(Run({"help", "checks"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("cuda_compile, cuda_bindings, cuda_run"), HasSubstr(kMissing)));
  EXPECT_LE(Run({"doctor"}), 1);
  EXPECT_THAT(out, HasSubstr(kMissing));
}

TEST_F(CudaWingMissing, ItsChecksAreSkipped) {
  const std::string suite =
      folder.Write("tests.json", R"([{"input": "i", "reference": "r", "checks": [{"type": "cuda_run"}]}])").string();
  Run({"check", suite});
  EXPECT_THAT(out + error, HasSubstr(kMissing));
}

}  // namespace
}  // namespace upskill
