// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_record.h"

#include <gmock/gmock.h>

#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

JobRecord Example() {
  JobRecord record;
  record.created = "2026-11-21T10:12:33Z";
  record.engine = "slurm:gpu";
  record.shards = 4;
  record.job_options = {"gres=gpu:1"};
  record.arguments = {"--seed=7", "--model=haiku"};
  record.submissions = {{"upskill-x-1", "42", {1, 2, 3, 4}}, {"upskill-x-2", "", {3}}};
  record.max_cost_usd = 1.5;
  record.gate = "helps:*";
  record.counted = true;
  return record;
}

TEST(JobRecord, IsReadAsItWasWritten) {
  const TempFolder folder;
  ASSERT_TRUE(StoreJobRecord(folder.path(), Example()).ok());
  const Result<JobRecord> read = LoadJobRecord(folder.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(DumpJson(JobRecordToJson(*read)), DumpJson(JobRecordToJson(Example())));
}

TEST(JobRecord, WhatThisProgramDoesNotWriteIsAnError) {
  const auto damaged = [](const char* key, Json value) {
    Json json = JobRecordToJson(Example());
    json[key] = std::move(value);
    return !JobRecordFromJson(json, "jobs.json").ok();
  };
  EXPECT_TRUE(damaged("version", 2));
  EXPECT_TRUE(damaged("engine", ""));
  EXPECT_TRUE(damaged("shards", 0));
  EXPECT_TRUE(damaged("shards", 1'000'000));
  EXPECT_TRUE(damaged("shards", -4));
  EXPECT_TRUE(damaged("shards", 2.5));
  EXPECT_TRUE(damaged("created", 7));
  EXPECT_TRUE(damaged("gate", Json::array()));
  EXPECT_TRUE(damaged("counted", "yes"));
  EXPECT_TRUE(damaged("arguments", "--seed=7"));
  EXPECT_TRUE(damaged("job_options", Json::array({1})));
  EXPECT_TRUE(damaged("max_cost_usd", -1));
  EXPECT_TRUE(damaged("max_tokens", "many"));
  EXPECT_TRUE(damaged("submissions", Json::object()));
  EXPECT_TRUE(damaged("submissions", Json::array({{{"name", "someone-elses"}, {"id", "1"}, {"shards", {1}}}})));
  EXPECT_TRUE(damaged("submissions", Json::array({{{"name", "upskill-x-1"}, {"id", "1"}, {"shards", {2, 1}}}})));
  EXPECT_TRUE(damaged("submissions", Json::array({{{"name", "upskill-x-1"}, {"id", "1"}, {"shards", {5}}}})));
  EXPECT_TRUE(damaged("submissions", Json::array({{{"name", "upskill-x-1"}, {"id", "1"}, {"shards", {-1}}}})));
  EXPECT_FALSE(JobRecordFromJson(Json::array(), "jobs.json").ok());
}

TEST(JobRecord, AnIdIsUnknownOrPossible) {
  const auto reads = [](Json id) {
    Json json = JobRecordToJson(Example());
    json["submissions"][0]["id"] = std::move(id);
    return JobRecordFromJson(json, "jobs.json").ok();
  };
  EXPECT_TRUE(reads(nullptr));
  EXPECT_TRUE(reads("42"));
  EXPECT_TRUE(reads("upskill-x-1"));
  for (const char* id : {"", "-1", "--all", "4 2", "4\n2", "42;reboot", "$(id)", "\xc3\xa9"})
    EXPECT_FALSE(reads(id)) << id;
  EXPECT_FALSE(reads(std::string(65, '1')));
  EXPECT_FALSE(reads(42));
  EXPECT_FALSE(reads(-42));
  EXPECT_FALSE(reads(Json::array()));
}

}  // namespace
}  // namespace upskill
