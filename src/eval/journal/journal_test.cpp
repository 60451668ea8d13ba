// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/journal.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "eval/journal/cache.h"
#include "support/file_fixture.h"
#include "support/plan_fixture.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

Sample Answer(const std::string& key, const std::string& text = "right 1") {
  Sample sample;
  sample.key = key;
  sample.student = "fake";
  sample.case_id = "case-1";
  sample.response.text = text;
  sample.checks = {{"c", Outcome::kPass, ""}};
  return sample;
}

std::string Key(char letter) { return std::string(64, letter); }

Sample Failure(const std::string& key) {
  Sample sample = Answer(key);
  sample.error = Error{ErrorKind::kUnavailable, "overloaded"};
  return sample;
}

std::string JournalLine(const Sample& sample) { return DumpJson(SampleToJson(sample)) + "\n"; }

std::vector<std::string> TextsOf(const fs::path& folder) {
  const Result<JournalContent> content = ReadJournal(folder);
  EXPECT_TRUE(content.ok());
  std::vector<std::string> texts;
  if (content) {
    for (const Sample& sample : content->samples) texts.push_back(sample.response.text);
  }
  return texts;
}

// A run folder with the given journal.
fs::path WriteRun(const TempFolder& folder, const std::string& name, const std::string& lines) {
  Plan plan = MakeTestPlan(1);
  plan.run = name;
  folder.Write("runs/" + name + "/plan.json", DumpJson(PlanToJson(plan)));
  folder.Write("runs/" + name + "/samples.jsonl", lines);
  return folder.path() / "runs" / name;
}

TEST(Journal, CreateAppendRead) {
  const TempFolder folder;
  const SteppingClock clock;
  Plan plan = MakeTestPlan(2);
  Result<Journal> journal = Journal::Create(folder.path() / "a" / "runs", plan, clock);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_THAT(plan.run, MatchesRegex("2026_11_2[012]_.*-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"));
  EXPECT_THAT(plan.created, MatchesRegex("2026-11-21T10:12:3.Z"));
  EXPECT_EQ(journal->folder(), folder.path() / "a" / "runs" / plan.run);
  const Result<Plan> stored = LoadPlan(journal->folder());
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(PlanToJson(*stored), PlanToJson(plan));
  EXPECT_THAT(TextsOf(journal->folder()), IsEmpty());

  ASSERT_TRUE(journal->Append(Answer(Key('a'), "one\ntwo")).ok());
  EXPECT_THAT(TextsOf(journal->folder()), ElementsAre("one\ntwo"));  // while the journal is open
  ASSERT_TRUE(journal->Append(Failure(Key('b'))).ok());
  ASSERT_TRUE(journal->Sync().ok());
  const Result<JournalContent> content = ReadJournal(journal->folder());
  ASSERT_THAT(content->samples, SizeIs(2));
  EXPECT_FALSE(content->samples[1].ok());
  EXPECT_EQ(content->skipped_lines, 0U);
}

TEST(Journal, ReopenAppends) {
  const TempFolder folder;
  const SteppingClock clock;
  Plan plan = MakeTestPlan(1);
  const fs::path run = [&] {
    Result<Journal> journal = Journal::Create(folder.path(), plan, clock);
    EXPECT_TRUE(journal->Append(Answer(Key('a'), "first")).ok());
    return journal->folder();
  }();
  Result<Journal> journal = Journal::Reopen(run, clock);
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->Append(Answer(Key('b'), "second")).ok());
  EXPECT_THAT(TextsOf(run), ElementsAre("first", "second"));
  EXPECT_EQ(Journal::Reopen(folder.path() / "none", clock).error().kind, ErrorKind::kNotFound);
}

TEST(Journal, RunsAreIgnoredByGitInAFolderOfTheirOwnOnly) {
  const TempFolder folder;
  const SystemClock clock;
  Plan plan = MakeTestPlan(1);
  ASSERT_TRUE(Journal::Create(folder.path() / "runs", plan, clock).ok());
  EXPECT_EQ(*ReadFile(folder.path() / "runs/.gitignore"), "*\n");
  ASSERT_TRUE(Journal::Create(folder.path(), plan, clock).ok());
  EXPECT_FALSE(fs::exists(folder.path() / ".gitignore"));
}

TEST(Journal, EachRunHasItsOwnFolder) {
  const TempFolder folder;
  class Still : public SystemClock {
    Wall WallNow() const override { return Wall(std::chrono::seconds(1795255953)); }
  };
  const Still clock;
  for (int i = 0; i < 20; ++i) {
    Plan plan = MakeTestPlan(1);
    ASSERT_TRUE(Journal::Create(folder.path(), plan, clock).ok());
  }
  EXPECT_THAT(FindRuns(folder.path()), SizeIs(20));
}

TEST(Journal, ATornLastLineIsDropped) {
  const TempFolder folder;
  const SteppingClock clock;
  const std::string whole = JournalLine(Answer(Key('a'), "whole"));
  const std::string torn = JournalLine(Answer(Key('b'), "torn"));
  for (const std::size_t length : {std::size_t{1}, torn.size() / 2, torn.size() - 1}) {
    const fs::path run = WriteRun(folder, "r", whole + torn.substr(0, length));
    EXPECT_THAT(TextsOf(run), ElementsAre("whole"));
    Result<Journal> journal = Journal::Reopen(run, clock);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal->Append(Answer(Key('c'), "next")).ok());
    EXPECT_THAT(TextsOf(run), ElementsAre("whole", "next"));
    EXPECT_EQ(ReadJournal(run)->skipped_lines, 0U);
  }
}

TEST(Journal, DamagedLinesAreSkippedAndCounted) {
  const TempFolder folder;
  Json newer = SampleToJson(Answer(Key('n')));
  newer["schema"] = 2;
  const std::string first = JournalLine(Answer(Key('a'), "first"));
  const fs::path run = WriteRun(folder, "r",
                                first + "\n" + "garbage\n" + std::string("\0\0\n", 3) + DumpJson(newer) + "\n" +
                                    first.substr(0, 30) + JournalLine(Answer(Key('b'), "lost behind a torn line")) +
                                    "{\"schema\":1}\n[]\n" + JournalLine(Answer(Key('c'), "last")));
  EXPECT_THAT(TextsOf(run), ElementsAre("first", "last"));
  EXPECT_EQ(ReadJournal(run)->skipped_lines, 7U);
}

TEST(Journal, OverlongLinesAreSkippedAndCounted) {
  const TempFolder folder;
  const auto answer = [](char key, std::size_t size) { return JournalLine(Answer(Key(key), std::string(size, 'x'))); };
  constexpr std::size_t kMost = std::size_t{3} << 20U;
  // Longer than a block, than the limit and several times the limit; at the start, next to each other, and at the end.
  const fs::path run = WriteRun(folder, "r",
                                answer('a', 2 * kMost) + answer('b', 5) + answer('c', kMost) + answer('d', 4 * kMost) +
                                    answer('e', kMost / 2) + answer('f', 7) + answer('g', kMost));
  const Result<JournalContent> content = ReadJournal(run, kMost);
  ASSERT_TRUE(content.ok()) << content.error().message;
  std::vector<std::size_t> sizes;
  for (const Sample& sample : content->samples) sizes.push_back(sample.response.text.size());
  EXPECT_THAT(sizes, ElementsAre(5U, kMost / 2, 7U));
  EXPECT_EQ(content->skipped_lines, 4U);
  EXPECT_THAT(ReadJournal(run)->samples, SizeIs(7));
}

TEST(Journal, LinesLongerThanABlock) {
  const TempFolder folder;
  const SteppingClock clock;
  const std::string text(3U << 20U, 'x');
  Plan plan = MakeTestPlan(1);
  Result<Journal> journal = Journal::Create(folder.path(), plan, clock);
  ASSERT_TRUE(journal->Append(Answer(Key('a'), text)).ok());
  ASSERT_TRUE(journal->Append(Answer(Key('b'), "short")).ok());
  EXPECT_THAT(TextsOf(journal->folder()), ElementsAre(text, "short"));
}

TEST(Journal, AMissingFileIsAnEmptyJournal) {
  const TempFolder folder;
  EXPECT_THAT(TextsOf(folder.path()), IsEmpty());
  fs::create_directory(folder.path() / "samples.jsonl");
  EXPECT_FALSE(ReadJournal(folder.path()).ok());
}

TEST(Journal, CreateWhereNoFolderCanBeMade) {
  const TempFolder folder;
  const SteppingClock clock;
  const fs::path file = folder.Write("file", "content");
  Plan plan = MakeTestPlan(1);
  const Result<Journal> journal = Journal::Create(file / "runs", plan, clock);
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, AllOf(HasSubstr("creating folder"), HasSubstr("Not a directory")));
  EXPECT_TRUE(fs::is_regular_file(file));
  EXPECT_FALSE(Journal::Create(file, plan, clock).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Journal, AFullDiskIsAnError) {
  const TempFolder folder;
  const SteppingClock clock;
  Result<Journal> journal = Journal::Reopen(folder.path(), clock);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  const FileSizeLimit full(0);
  const Status status = journal->Append(Answer(Key('a')));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kIo);
  EXPECT_THAT(status.error().message, HasSubstr("File too large"));
}

TEST(Journal, OnlyAFileIsRead) {
  const TempFolder folder;
  for (const char* device : {"/dev/zero", "/dev/null"}) {
    std::filesystem::create_symlink(device, folder.path() / "samples.jsonl");
    const Result<JournalContent> content = ReadJournal(folder.path());
    ASSERT_FALSE(content.ok());
    EXPECT_THAT(content.error().message, HasSubstr("samples.jsonl: not a regular file"));
    std::filesystem::remove(folder.path() / "samples.jsonl");
  }
  ASSERT_EQ(::mkfifo((folder.path() / "samples.jsonl").c_str(), 0600), 0);
  EXPECT_FALSE(ReadJournal(folder.path()).ok());
}

TEST(Journal, ALinkIsNotFollowed) {
  const TempFolder folder;
  const SteppingClock clock;
  const fs::path outside = folder.Write("outside", "kept");
  fs::create_directory(folder.path() / "run");
  fs::create_symlink(outside, folder.path() / "run/samples.jsonl");
  EXPECT_FALSE(Journal::Reopen(folder.path() / "run", clock).ok());
  EXPECT_EQ(*ReadFile(outside), "kept");
}

TEST(FindRuns, OldestFirstAndOnlyRuns) {
  const TempFolder folder;
  const fs::path runs = folder.path() / "runs";
  EXPECT_THAT(FindRuns(runs), IsEmpty());
  WriteRun(folder, "2026_01_02_00_00_00-0001", "");
  WriteRun(folder, "2025_01_02_00_00_00-ffff", "");
  folder.Write("runs/notes.txt", "no run");
  fs::create_directory(runs / "2027_01_01_00_00_00-0000");  // without a plan
  EXPECT_THAT(FindRuns(runs), ElementsAre(runs / "2025_01_02_00_00_00-ffff", runs / "2026_01_02_00_00_00-0001"));
  EXPECT_THAT(FindRuns(runs / "notes.txt"), IsEmpty());
}

TEST(FindRuns, WithinOneSecondTheTimeOfWritingDecides) {
  const TempFolder folder;
  const fs::path later = WriteRun(folder, "2026_01_02_00_00_00-0001", "");
  const fs::path earlier = WriteRun(folder, "2026_01_02_00_00_00-ffff", "");
  const fs::path last = WriteRun(folder, "2026_01_02_00_00_01-0000", "");
  const fs::file_time_type now = fs::last_write_time(later / "plan.json");
  fs::last_write_time(earlier / "plan.json", now - std::chrono::milliseconds(20));
  fs::last_write_time(last / "plan.json", now - std::chrono::hours(1));  // perhaps copied: the name counts
  EXPECT_THAT(FindRuns(folder.path() / "runs"), ElementsAre(earlier, later, last));
  EXPECT_EQ(*ResolveRun(folder.path() / "runs", "latest"), last);
}

TEST(ResolveRun, Forms) {
  const TempFolder folder;
  const fs::path runs = folder.path() / "runs";
  EXPECT_EQ(ResolveRun(runs, "latest").error().kind, ErrorKind::kNotFound);
  const fs::path old = WriteRun(folder, "2025_01_02_00_00_00-abcd", "");
  const fs::path middle = WriteRun(folder, "2025_01_03_00_00_00-1234", "");
  const fs::path newest = WriteRun(folder, "2026_01_02_00_00_00-abcd", "");
  EXPECT_EQ(*ResolveRun(runs, "latest"), newest);
  EXPECT_EQ(*ResolveRun(runs, "1234"), middle);
  EXPECT_EQ(*ResolveRun(runs, old.filename().string()), old);
  EXPECT_EQ(*ResolveRun(folder.path() / "elsewhere", old.string()), old);
  const Result<fs::path> ambiguous = ResolveRun(runs, "abcd");
  ASSERT_FALSE(ambiguous.ok());
  EXPECT_THAT(ambiguous.error().message,
              AllOf(HasSubstr("ambiguous"), HasSubstr("2025_01_02"), HasSubstr("2026_01_02")));
  for (const std::string name : {"beef", "34", "", "../runs", "2025_01_02", "\x1b[2J"}) {
    const Result<fs::path> run = ResolveRun(runs, name);
    ASSERT_FALSE(run.ok()) << name;
    EXPECT_EQ(run.error().kind, ErrorKind::kNotFound);
    EXPECT_THAT(run.error().message, HasSubstr("upskill runs"));
  }
}

TEST(FindCachedSamples, OnlyAnswersWithAWantedKey) {
  const TempFolder folder;
  WriteRun(folder, "2026_01_01_00_00_00-0001",
           JournalLine(Failure(Key('a'))) + JournalLine(Answer(Key('b'), "b of 1")) +
               JournalLine(Answer(Key('x'), "not wanted")) + "damaged " + Key('c') + "\n" +
               JournalLine(Answer(Key('d'), "torn")).substr(0, 200));
  Sample reused = Answer(Key('a'), "a of 0");
  reused.cached_from = "2025_12_31_00_00_00-0000";
  WriteRun(folder, "2026_01_02_00_00_00-0002", JournalLine(reused) + JournalLine(Answer(Key('b'), "b of 2")));
  const auto found =
      FindCachedSamples(folder.path() / "runs", {{Key('a'), 0}, {Key('b'), 0}, {Key('c'), 0}, {Key('d'), 0}});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found.at(Key('a')).response.text, "a of 0");
  EXPECT_EQ(found.at(Key('a')).cached_from, "2025_12_31_00_00_00-0000");  // the run in which the model gave it
  EXPECT_EQ(found.at(Key('b')).response.text, "b of 2");
  EXPECT_EQ(found.at(Key('b')).cached_from, "2026_01_02_00_00_00-0002");  // the newest
}

TEST(FindCachedSamples, LeavesOutUnreadableRuns) {
  const TempFolder folder;
  const fs::path run = WriteRun(folder, "2026_01_01_00_00_00-0001", JournalLine(Answer(Key('a'), "1")));
  const fs::path broken = WriteRun(folder, "2025_01_01_00_00_00-0001", "");
  fs::remove(broken / "samples.jsonl");
  fs::create_directory(broken / "samples.jsonl");
  const fs::path runs = folder.path() / "runs";
  EXPECT_THAT(FindCachedSamples(runs, {{Key('a'), 0}}), SizeIs(1));
  EXPECT_THAT(FindCachedSamples(folder.path() / "none", {{Key('a'), 0}}), IsEmpty());
  EXPECT_THAT(FindCachedSamples(runs, {}), IsEmpty());
}

TEST(FindCachedSamples, LeavesOutRunsThatDontOfferTheirAnswersHoweverTheirPlanIsWritten) {
  const TempFolder folder;
  const fs::path run = WriteRun(folder, "2026_01_01_00_00_00-0001", JournalLine(Answer(Key('a'))));
  Plan plan = MakeTestPlan(1);
  plan.offers_cache = false;
  const Json json = PlanToJson(plan);
  for (const std::string& text : {DumpJson(json), DumpJsonIndented(json), json.dump(1, '\t')}) {
    folder.Write("runs/2026_01_01_00_00_00-0001/plan.json", text);
    EXPECT_THAT(FindCachedSamples(run.parent_path(), {{Key('a'), 0}}), IsEmpty()) << text.substr(0, 40);
  }
}

// A retried timeout counts against a verdict in every run that uses the answer (eval/verdict/missing.h).
TEST(FindCachedSamples, FailedAttemptsComeAlong) {
  const TempFolder folder;
  WriteRun(folder, "2026_01_01_00_00_00-0001",
           JournalLine(Failure(Key('a'))) + JournalLine(Failure(Key('a'))) + JournalLine(Answer(Key('b'))) +
               JournalLine(Answer(Key('a'))));
  const auto found = FindCachedSamples(folder.path() / "runs", {{Key('a'), 0}, {Key('b'), 0}});
  EXPECT_THAT(found.at(Key('a')).failed_before, SizeIs(2));
  EXPECT_THAT(found.at(Key('b')).failed_before, IsEmpty());
}

// Local time goes back in autumn and on the way west.
TEST(FindRuns, InTheOrderOfUtc) {
  const TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& created) {
    folder.Write("runs/" + name + "/plan.json",
                 R"({"schema": 1, "run": ")" + name + R"(", "created": ")" + created + "\"}");
    return folder.path() / "runs" / name;
  };
  const fs::path later = write("2026_10_25_02_10_00-0001", "2026-10-25T01:10:00Z");
  const fs::path earlier = write("2026_10_25_02_50_00-0002", "2026-10-25T00:50:00Z");
  const fs::path broken = write("2020_01_01_00_00_00-0003", "yesterday");
  EXPECT_THAT(FindRuns(folder.path() / "runs"), ElementsAre(broken, earlier, later));
  EXPECT_EQ(*ResolveRun(folder.path() / "runs", "latest"), later);
}

TEST(FindCachedSamples, LeavesOutAnswersOfAnotherModelUnderTheSameName) {
  const TempFolder folder;
  const auto by = [](Sample sample, const std::string& model) {
    sample.response.served_model = model;
    return JournalLine(sample);
  };
  WriteRun(folder, "2026_01_01_00_00_00-0001",
           by(Answer(Key('a')), "m-old") + by(Answer(Key('b')), "m-old") + by(Answer(Key('c')), "m-new") +
               by(Answer(Key('x')), "other-old"));
  WriteRun(folder, "2026_01_02_00_00_00-0002", by(Answer(Key('b')), "m-new") + by(Answer(Key('d')), "m-pool"));
  WriteRun(folder, "2026_01_03_00_00_00-0003", by(Answer(Key('y')), "other-new"));
  const auto found = FindCachedSamples(folder.path() / "runs",
                                       {{Key('a'), 0}, {Key('b'), 0}, {Key('c'), 0}, {Key('d'), 0}, {Key('x'), 1}});
  EXPECT_FALSE(found.contains(Key('a'))) << "the newest run has no answer by this model";
  EXPECT_EQ(found.at(Key('b')).response.served_model, "m-new");
  EXPECT_TRUE(found.contains(Key('c')));
  EXPECT_TRUE(found.contains(Key('d'))) << "a pool may serve several models";
  EXPECT_TRUE(found.contains(Key('x'))) << "each student by itself";
}

}  // namespace
}  // namespace upskill
