// SPDX-License-Identifier: Apache-2.0
#include "util/stored_json.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <string>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// The message of the fault that reading causes.
std::string FaultOf(const Json& json, const std::function<void(const StoredJson&)>& read) {
  try {
    read(StoredJson(json));
  } catch (const StoredJsonFault& fault) {
    return fault.what();
  }
  return "none";
}

TEST(StoredJson, ReadsWhatIsThere) {
  const Json json = Json::parse(R"({"name": "n", "flag": true, "count": 3, "rate": 0.5, "list": ["a", "b"]})");
  const StoredJson stored(json);
  EXPECT_EQ(stored.at("name").text(), "n");
  EXPECT_TRUE(stored.at("flag").flag());
  EXPECT_EQ(stored.at("count").number<std::uint64_t>(), 3U);
  EXPECT_EQ(stored.at("rate").number<double>(), 0.5);
  EXPECT_THAT(stored.at("list").texts(), ElementsAre("a", "b"));
  EXPECT_EQ(stored.at("list").element(1).text(), "b");
  EXPECT_THAT(stored.at("list").elements(), SizeIs(2));
  EXPECT_TRUE(stored.has("name"));
  EXPECT_FALSE(stored.has("nothing"));
  EXPECT_FALSE(stored.at("name").has("length"));
}

TEST(StoredJson, FaultsNameThePlaceAndRepeatNothing) {
  const Json json = Json::parse(R"({"students": [{"name": "x"}, {"name": "secret", "runs": 1e300}], "on": null})");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("run"); }), "run: missing");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("students").element(0).at("runs"); }),
            "students[0].runs: missing");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("students").elements().at(1).at("name").flag(); }),
            "students[1].name: expected true or false, not a string");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("students").element(1).at("runs").number<int>(); }),
            "students[1].runs: the number is out of range");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("students").element(2); }), "students[2]: missing");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("on").text(); }), "on: expected a string, not null");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("on").number<int>(); }),
            "on: expected a number, not null");
  EXPECT_EQ(FaultOf(json, [](const StoredJson& all) { all.at("on").elements(); }), "on: expected a list, not null");
  EXPECT_EQ(FaultOf(Json::array(), [](const StoredJson& all) { all.at("run"); }), "expected an object, not a list");
}

}  // namespace
}  // namespace upskill
