// SPDX-License-Identifier: Apache-2.0
#include "net/ca_bundle.h"

#include <gmock/gmock.h>

#include <array>

#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

TEST(CaBundle, TheFirstPlaceThatIsAFile) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "a");
  const std::array<fs::path, 4> places = {folder.path() / "none", folder.path() / "a", folder.Write("b.pem", ""),
                                          folder.Write("c.pem", "")};
  const CaBundle bundle = FirstCaBundle(places);
  EXPECT_EQ(bundle.file, folder.path() / "b.pem");
  EXPECT_FALSE(bundle.missing);
}

TEST(CaBundle, NoneIsMissing) {
  const std::array<fs::path, 1> places = {"/none/there.pem"};
  EXPECT_TRUE(FirstCaBundle(places).missing);
  EXPECT_THAT(NoCaBundleError().message, ::testing::HasSubstr("ca-certificates"));
}

}  // namespace
}  // namespace upskill
