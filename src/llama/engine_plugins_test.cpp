// SPDX-License-Identifier: Apache-2.0
#include "llama/engine_plugins.h"

#include <gmock/gmock.h>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Where the engine is linked in, as in these tests, no plug-in is searched for.
TEST(EnginePlugins, NothingToLoadWhereTheEngineIsLinkedIn) { EXPECT_TRUE(LoadEnginePlugins().ok()); }

TEST(EnginePlugins, APluginForGpusThatCannotBeLoadedSaysWhy) {
  const TempFolder folder;
  EXPECT_EQ(LoadGpuPlugin(folder.path()), "");
  folder.Write("libggml-cuda.so", "no library");
  EXPECT_THAT(
      LoadGpuPlugin(folder.path()),
      AllOf(HasSubstr("on the processor, because libggml-cuda.so can't be loaded ("), HasSubstr("file too short")));
  EXPECT_EQ(LoadGpuPlugin("."), "") << "what lies in the current folder isn't loaded";
}

TEST(EnginePlugins, AnEmptyFolderIsADamagedInstallation) {
  const TempFolder folder;
  const Error error = NoEngineError(folder.path(), true);
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr(folder.path().string()), HasSubstr("reinstall upskill")));
}

TEST(EnginePlugins, PluginsThatDoNotFitNameTheMissingInstructions) {
  const TempFolder folder;
  folder.Write("libggml-cpu-haswell.so", "");
  const Error error = NoEngineError(folder.path(), false);
  EXPECT_EQ(error.kind, ErrorKind::kPermanent);
  EXPECT_THAT(error.message, AllOf(HasSubstr("this processor"), HasSubstr("AVX2"), HasSubstr("over the network")));
}

TEST(EnginePlugins, PluginsThatFitButCannotBeLoadedAreADamagedInstallation) {
  const TempFolder folder;
  folder.Write("libggml-cpu-haswell.so", "no library");
  const Error error = NoEngineError(folder.path(), true);
  EXPECT_EQ(error.kind, ErrorKind::kPermanent);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(folder.path().string()), HasSubstr("can't be loaded"), HasSubstr("reinstall upskill")));
}

}  // namespace
}  // namespace upskill
