// SPDX-License-Identifier: Apache-2.0
#include "teach/read_parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/fake_teacher.h"
#include "util/temp_folder.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string IdAt(int i) { return fmt::format("d{}", i + 1); }

// `count` items of some 60 tokens, each with a line of its own.
Material LongMaterial(int count) {
  Material material;
  material.task = "build the package";
  for (int i = 0; i < count; ++i) {
    material.items.push_back({IdAt(i),
                              MaterialKind::kCommand,
                              fmt::format("$ make part-{}\n→ {}\nsetting_{} = {}", i, std::string(150, 'x'), i, i * 7),
                              {"s.jsonl#1"},
                              {},
                              "ran and passed"});
  }
  return material;
}

std::string MaterialIn(const ChatRequest& request) { return request.messages.front().text; }

// Notes the last line of each item that it is shown.
std::string NotesOnAll(const ChatRequest& request) {
  Json notes = Json::array();
  std::string id;
  const std::string material = MaterialIn(request);
  for (const std::string_view line : SplitLines(material)) {
    if (line.starts_with("[d")) id = std::string(line.substr(1, line.find(']') - 1));
    if (line.starts_with("setting_")) notes.push_back({{"id", id}, {"note", line}});
  }
  return DumpJson({{"notes", notes}});
}

class ReadParts : public testing::Test {
 protected:
  Result<Material> Read(const Material& material, std::size_t context_tokens, FakeTeacher::Script script) {
    model_.emplace(std::move(script));
    Result<Teacher> teacher = Teacher::Open(*model_, folder_.path() / "calls.jsonl");
    if (!teacher) return teacher.error();
    teacher->set_say([&](const std::string& line) { said_.push_back(line); });
    return FitMaterial(*teacher, material, context_tokens);
  }

  TempFolder folder_;
  std::optional<FakeTeacher> model_;
  std::vector<std::string> said_;
};

TEST_F(ReadParts, WhatFitsIsSentAsItIs) {
  const Material material = LongMaterial(20);
  EXPECT_EQ(CountParts(material, 4000), 1U);
  const Result<Material> read =
      Read(material, 4000, [](const ChatRequest&, std::size_t) -> Result<std::string> { return InputError("asked"); });
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->items, SizeIs(20));
  EXPECT_THAT(model_->requests, SizeIs(0));
}

TEST_F(ReadParts, EveryItemIsShownOnceAndItsNoteKeepsItsId) {
  const Material material = LongMaterial(200);
  const std::size_t parts = CountParts(material, 8000);
  ASSERT_GT(parts, 1U);
  const Result<Material> read =
      Read(material, 8000, [](const ChatRequest& request, std::size_t) { return NotesOnAll(request); });
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(model_->requests, SizeIs(parts));
  std::string all;
  for (const ChatRequest& request : model_->requests) {
    EXPECT_LE(EstimateTokens(MaterialIn(request)), 8000U + 1000U);
    all += MaterialIn(request);
  }
  ASSERT_THAT(read->items, SizeIs(200));
  for (int i = 0; i < 200; ++i) {
    const std::string line = fmt::format("\nsetting_{} = {}\n", i, i * 7);
    const std::size_t at = all.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    EXPECT_EQ(all.find(line, at + 1), std::string::npos) << line;
    const MaterialItem& note = read->items[static_cast<std::size_t>(i)];
    EXPECT_EQ(note.id, IdAt(i));
    EXPECT_EQ(note.text, Trim(line));
    EXPECT_EQ(note.known, "ran and passed");
  }
  EXPECT_THAT(said_.front(), HasSubstr(fmt::format("teacher reads part 1 of {}", parts)));
  EXPECT_THAT(MaterialIn(model_->requests.front()), HasSubstr(fmt::format("This is part 1 of {}", parts)));
}

TEST_F(ReadParts, AnItemLongerThanAPartIsDivided) {
  Material material = LongMaterial(1);
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += fmt::format("setting_{} = {}\n", i, i * 7);
  material.items.front().text = lines;
  std::string shown;
  const Result<Material> read = Read(material, 3000, [&](const ChatRequest& request, std::size_t) {
    shown += MaterialIn(request);
    return DumpJson({{"notes", Json::array({{{"id", "d1"}, {"note", "noted"}}})}});
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  for (int i = 0; i < 3000; ++i) EXPECT_THAT(shown, HasSubstr(fmt::format("setting_{} = {}\n", i, i * 7)));
  EXPECT_THAT(shown, HasSubstr("(piece 2 of "));
  ASSERT_THAT(read->items, SizeIs(1));
  EXPECT_EQ(read->items.front().text, "noted") << "equal notes are one";
}

TEST_F(ReadParts, StoredNotesAreNotPaidForAgain) {
  const Material material = LongMaterial(200);
  const auto script = [](const ChatRequest& request, std::size_t) { return NotesOnAll(request); };
  ASSERT_TRUE(Read(material, 8000, script).ok());
  said_.clear();
  const Result<Material> again = Read(material, 8000, script);
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(model_->requests, SizeIs(0));
  EXPECT_THAT(said_, SizeIs(0));
  EXPECT_THAT(again->items, SizeIs(200));
}

TEST_F(ReadParts, NotesThatAreTooLongAreCondensed) {
  const Material material = LongMaterial(200);
  const Result<Material> read = Read(material, 2000, [](const ChatRequest& request, std::size_t) {
    const bool first = MaterialIn(request).find("$ make") != std::string::npos;
    Json notes = Json::array();
    const std::string shown = MaterialIn(request);
    for (const std::string_view line : SplitLines(shown)) {
      if (!line.starts_with("[d")) continue;
      const std::string id(line.substr(1, line.find(']') - 1));
      notes.push_back({{"id", id}, {"note", first ? "long " + std::string(90, 'y') : "short " + id}});
    }
    return DumpJson({{"notes", notes}});
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_LE(EstimateTokens(ItemsText(*read, 0, read->items.size())), 2000U);
  EXPECT_THAT(ItemsText(*read, 0, read->items.size()), HasSubstr("short d1"));
}

TEST_F(ReadParts, APartWithoutUsableNotesIsReadInHalves) {
  const Material material = LongMaterial(200);
  const std::size_t parts = CountParts(material, 8000);
  const Result<Material> read = Read(material, 8000, [](const ChatRequest& request, std::size_t) {
    const std::string text = MaterialIn(request);
    const bool whole_first =
        text.find("This is part 1 of ") != std::string::npos && text.find(" half of") == std::string::npos;
    return whole_first ? "I can't" : NotesOnAll(request);
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->items, SizeIs(200));
  EXPECT_THAT(model_->requests, SizeIs(parts + 2 + 2)) << "two repairs, two halves";
}

TEST_F(ReadParts, ATeacherWithoutNotesIsNotAskedForever) {
  const Result<Material> read =
      Read(LongMaterial(400), 4000, [](const ChatRequest&, std::size_t) { return std::string("I can't"); });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kInput);
  EXPECT_THAT(read.error().message, HasSubstr("notes on part 1 of "));
  EXPECT_LE(model_->requests.size(), 15U);
}

TEST_F(ReadParts, WithoutCharactersInHalves) {
  Material material = LongMaterial(1);
  material.items.front().text = std::string(20'000, 'a');
  for (std::size_t i = 0; i < 20'000; i += 4) material.items.front().text.replace(i, 4, "日a");
  const Result<Material> read = Read(material, 1000, [&](const ChatRequest& request, std::size_t) {
    EXPECT_FALSE(FindInvalidUtf8(MaterialIn(request)));
    return DumpJson({{"notes", Json::array()}});
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->items, SizeIs(0));
  EXPECT_GT(model_->requests.size(), 6U);
  EXPECT_THAT(MaterialIn(model_->requests.back()), Not(HasSubstr("\xEF\xBF\xBD")));
}

}  // namespace
}  // namespace upskill
