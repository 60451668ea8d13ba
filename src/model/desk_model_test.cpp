// SPDX-License-Identifier: Apache-2.0
#include "model/desk_model.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "model/structured_answer.h"
#include "support/file_fixture.h"
#include "support/model_answers.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class DeskModelTest : public testing::Test {
 protected:
  std::unique_ptr<Model> Open() {
    DeskOptions options;
    options.folder = desk();
    options.say = [this](const std::string& line) { said_.push_back(line); };
    options.look = std::chrono::milliseconds(2);
    options.settle = std::chrono::milliseconds(10);
    return MakeDeskModel(options);
  }
  fs::path desk() const { return folder_.path() / "desk"; }
  std::string FileOf(const std::string& name) const {
    const Result<std::string> text = ReadFile(desk() / name);
    return text ? *text : "";
  }
  void Put(const std::string& name, const std::string& text) const { folder_.Write("desk/" + name, text); }

  TempFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(DeskModelTest, WritesTheRequestAndTakesTheAnswer) {
  const auto model = Open();
  EXPECT_FALSE(fs::exists(desk()));
  EXPECT_EQ(model->info().price->input, 0.0);
  Answers answers(1);
  ChatRequest request = Ask("What is 2 + 2?");
  request.system = "Be brief.";
  model->Start(request, answers.Expect(0));
  EXPECT_THAT(FileOf("0001-request.md"),
              AllOf(StartsWith("<!-- upskill request "), testing::EndsWith(" -->\nBe brief.\n\nWhat is 2 + 2?\n")));
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("0001-answer.md"), HasSubstr("0001-request.md"))));
  Put("0001-answer.md", "\xEF\xBB\xBFIt is 4.\r\n");
  const std::vector<ChatResponse> responses = answers.TakeAll();
  EXPECT_EQ(responses[0].text, "It is 4.");
  EXPECT_EQ(responses[0].cost_usd, 0.0);
}

TEST_F(DeskModelTest, AChatIsShownWhatIsNewToIt) {
  std::string material;
  for (int i = 0; i < 60; ++i)
    material += "d" + std::to_string(i) + ": a line of the material that both requests have\n";
  const auto ask = [&](const std::string& question, bool teacher) {
    ChatRequest request = Ask(question + "\n\n" + material + "\nSo: " + question);
    if (teacher) request.answer_schema = Json{{"type", "object"}};
    return request;
  };
  const auto model = Open();
  Answers answers(5);
  model->Start(ask("Draft a skill.", true), answers.Expect(0));
  model->Start(ask("Review this draft.", true), answers.Expect(1));
  model->Start(ask("A student's question.", false), answers.Expect(2));
  EXPECT_FALSE(fs::exists(desk() / "0001-new.md"));
  const std::string only_new = FileOf("0002-new.md");
  EXPECT_THAT(only_new, AllOf(HasSubstr("\nReview this draft.\n"), HasSubstr("So: Review"), HasSubstr("request 1"),
                              HasSubstr("d59: a line"), testing::Not(HasSubstr("d30: a line")), HasSubstr("JSON")));
  EXPECT_THAT(FileOf("0002-request.md"), HasSubstr("d30: a line")) << "for readers who have seen nothing else";
  EXPECT_FALSE(fs::exists(desk() / "0003-new.md")) << "a student's answers must not come from one chat";
  model->Start(ask(std::string(kForNewChat) + "\n\nWrite tests.", true), answers.Expect(3));
  model->Start(ask("Write more.", true), answers.Expect(4));
  FileOf("0005-request.md");
  EXPECT_FALSE(fs::exists(desk() / "0004-new.md"));
  EXPECT_THAT(FileOf("0005-new.md"), testing::Not(HasSubstr("as in request 4"))) << "another chat has answered it";
  model->Cancel(Model::CancelScope::kRunning);
}

TEST_F(DeskModelTest, AnEmptyFileIsNoAnswerYet) {
  const auto model = Open();
  Answers answers(2);
  model->Start(Ask("First?"), answers.Expect(0));
  model->Start(Ask("Second?"), answers.Expect(1));
  Put("0001-answer.md", "");
  Put("0002-answer.md", "two");
  answers.WaitFor(1);
  EXPECT_THAT(answers.kinds(), ElementsAre("none", "ok"));
  Put("0001-answer.md", "one");
  EXPECT_THAT(TextsOf(answers.TakeAll()), ElementsAre("one", "two"));
}

// As after Ctrl-C or a crash.
TEST_F(DeskModelTest, ALaterSessionContinuesWithTheSameFiles) {
  {
    const auto model = Open();
    Answers answers(2);
    model->Start(Ask("First?"), answers.Expect(0));
    model->Start(Ask("Second?"), answers.Expect(1));
    model->Cancel(Model::CancelScope::kWaiting);
    EXPECT_THAT(answers.kinds(), ElementsAre("cancelled", "cancelled"));
  }
  Put("0002-answer.md", "two");
  said_.clear();
  const auto model = Open();
  Answers answers(2);
  model->Start(Ask("Second?"), answers.Expect(0));
  model->Start(Ask("Third?"), answers.Expect(1));
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("taking answers that are there already"), HasSubstr("0002-answer.md")),
                                 HasSubstr("0003-answer.md")));
  Put("0003-answer.md", "three");
  EXPECT_THAT(TextsOf(answers.TakeAll()), ElementsAre("two", "three"));
}

TEST_F(DeskModelTest, EqualQuestionsWithOtherSeedsAreOtherRequests) {
  Answers answers(2);
  const auto model = Open();
  model->Start(Ask("First?", 8, 0.7, 1), answers.Expect(0));
  model->Start(Ask("First?", 8, 0.7, 2), answers.Expect(1));
  EXPECT_NE(FileOf("0002-request.md"), "");
}

TEST_F(DeskModelTest, AStructuredAnswerIsAskedForAgain) {
  Answers filler(1);
  const auto model = Open();
  ChatRequest request = Ask("How many legs has a dog?");
  request.answer_schema =
      Json::parse(R"({"type":"object","properties":{"legs":{"type":"integer"}},"required":["legs"]})");
  model->Start(Ask("First?"), filler.Expect(0));  // answers put there from now on are to requests of this session
  Put("0002-answer.md", "four");
  Put("0003-answer.md", "Here it is:\n\n```json\n{\"legs\": 4}\n```\n");
  const Result<ChatResponse> response = GenerateStructured(*model, request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->parsed, (Json{{"legs", 4}}));
  EXPECT_THAT(FileOf("0003-request.md"), AllOf(HasSubstr("fit this JSON schema"), HasSubstr("# Your earlier answer")));
}

TEST_F(DeskModelTest, OneModelAtATimeUsesAFolder) {
  Answers answers(1);
  const auto first = Open();
  const auto second = Open();
  first->Start(Ask("First?"), answers.Expect(0));
  const Result<ChatResponse> response = Generate(*second, Ask("Second?"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, HasSubstr("in use by another upskill"));
}

// After the largest number there would be none.
TEST_F(DeskModelTest, NumbersThatNoDeskReachesAreNotOurs) {
  Put("2147483647-request.md", "");
  Put("0002-request.md", "");
  Put("03-request.md", "");
  Answers answers(1);
  const auto model = Open();
  model->Start(Ask("First?"), answers.Expect(0));
  EXPECT_NE(FileOf("0003-request.md"), "");
}

TEST_F(DeskModelTest, AnAnswerLeftBehindAnswersNoOtherRequest) {
  Put("0001-answer.md", "of a request that was deleted");
  Answers answers(1);
  const auto model = Open();
  model->Start(Ask("First?"), answers.Expect(0));
  EXPECT_NE(FileOf("0002-request.md"), "");
  Put("0002-answer.md", "one");
  EXPECT_THAT(TextsOf(answers.TakeAll()), ElementsAre("one"));
}

TEST_F(DeskModelTest, TheCheckLeavesNothingBehind) {
  EXPECT_TRUE(CheckDeskFolder(desk() / "a" / "b").ok());
  EXPECT_FALSE(fs::exists(desk()));
  Put("0001-request.md", "mine");
  EXPECT_TRUE(CheckDeskFolder(desk()).ok());
  EXPECT_EQ(FileOf("0001-request.md"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(desk()), fs::directory_iterator()), 1);
}

TEST_F(DeskModelTest, TheCheckNamesWhatIsWrong) {
  const auto error = [](const fs::path& folder) {
    const Status checked = CheckDeskFolder(folder);
    return checked ? "" : checked.error().message;
  };
  folder_.Write("file", "x");
  EXPECT_THAT(error(folder_.path() / "file"), HasSubstr("file"));
  EXPECT_THAT(error(folder_.path() / "file/desk"), HasSubstr("Not a directory"));
  EXPECT_THAT(error(folder_.path() / std::string(300, 'x')), HasSubstr("File name too long"));
  EXPECT_THAT(error("/proc/desk"), HasSubstr("/proc/desk"));
  {
    const FileSizeLimit full(0);
    EXPECT_THAT(error(desk()), HasSubstr("File too large"));
  }
  EXPECT_FALSE(fs::exists(desk()));
  Answers answers(1);
  const auto model = Open();
  model->Start(Ask("First?"), answers.Expect(0));
  EXPECT_THAT(error(desk()), HasSubstr("in use by another upskill"));
}

TEST_F(DeskModelTest, OtherFilesAreLeftAlone) {
  Put("notes-request.md", "mine");
  Put("0007-request.md", "not a request of ours");
  Answers answers(1);
  const auto model = Open();
  model->Start(Ask("First?"), answers.Expect(0));
  EXPECT_NE(FileOf("0008-request.md"), "");
  EXPECT_EQ(FileOf("0007-request.md"), "not a request of ours");
}

}  // namespace
}  // namespace upskill
