// SPDX-License-Identifier: Apache-2.0
#include "teach/material_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace upskill {
namespace {

using testing::IsEmpty;

TEST(Material, GoesThroughJson) {
  Material material;
  material.requests.push_back("Which header?");
  material.task = "t";
  FixDetail fix{true, "failed", "error", {}, 2, "reason", "works", "call"};
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kReplace, "a.c", "old", "new"}, ""});
  fix.steps.push_back({FixStep::Kind::kEdit, {FileEdit::Kind::kDelete, "b.c", "", ""}, ""});
  fix.steps.push_back({FixStep::Kind::kCommand, {}, "make"});
  fix.steps.push_back({FixStep::Kind::kUserMessage, {}, "go on"});
  material.items.push_back({"d1", MaterialKind::kFix, "text", {"p"}, fix});
  material.items.push_back({"d2", MaterialKind::kCommand, "text", {"p"}});
  const FileEdit patch{FileEdit::Kind::kPatch, "a.c", "", "+x"};
  material.items.push_back(
      {"d3", MaterialKind::kFile, "text", {"p"}, FileDetail{"a.c", true, "x", "y", {patch}, false, 3, ""}});
  material.items.push_back({"d4", MaterialKind::kDeadEnd, "text", {"p"}});
  material.examples.push_back(ParseExample("2 + 2 -> 4"));
  material.existing = {"n", "d", "b", {{"r.md", "x"}}, {}, ""};
  const Json json = MaterialToJson(material);
  const Result<Material> back = MaterialFromJson(json, "x");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(MaterialToJson(*back), json);
  EXPECT_EQ(back->items[3].kind, MaterialKind::kDeadEnd);
  const auto* fixed = std::get_if<FixDetail>(&back->items[0].detail);
  ASSERT_NE(fixed, nullptr);
  EXPECT_EQ(fixed->steps[0].edit.after, "new");
  EXPECT_EQ(fixed->steps[1].edit.kind, FileEdit::Kind::kDelete);
  EXPECT_EQ(fixed->steps[3].kind, FixStep::Kind::kUserMessage);
  EXPECT_EQ(back->examples[0].output, "4");
  EXPECT_FALSE(MaterialFromJson({{"task", 1}}, "x").ok());
  EXPECT_THAT(ParseExample("alone").output, IsEmpty());
}

TEST(Material, ReadsTheEarlierForm) {
  const Json item = {{"id", "d1"},
                     {"kind", "Errors and what fixed them"},
                     {"text", "whole"},
                     {"places", {"a.jsonl:4"}},
                     {"failed", "make"},
                     {"error", "no rule"},
                     {"change", "a:\n-x\n+y"},
                     {"works", "make all"}};
  const Json correction = {
      {"id", "d2"}, {"kind", "Corrections by the person"}, {"text", "no"}, {"places", {"a.jsonl:6"}}};
  const Json json = {
      {"task", "t"}, {"items", {item, correction}}, {"requests", Json::array()}, {"examples", Json::array()}};
  const Result<Material> material = MaterialFromJson(json, "x");
  ASSERT_TRUE(material.ok()) << material.error().message;
  EXPECT_EQ(material->items[0].kind, MaterialKind::kFix);
  const auto* fix = std::get_if<FixDetail>(&material->items[0].detail);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->failed, "make");
  EXPECT_EQ(fix->works, "make all");
  EXPECT_EQ(material->items[1].kind, MaterialKind::kCorrection);
  EXPECT_EQ(ItemsText(*material, 1, 2), "[d2] Correction by the user\nno\n\n");
}

}  // namespace
}  // namespace upskill
