// SPDX-License-Identifier: Apache-2.0
// `upskill trace …` of files that are damaged, may not be read or are no traces.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/trace_fixture.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(TraceCli, FilesThatAreNoTraces) {
  struct Case {
    fs::path file;
    const char* says;
  };
  fs::create_symlink("loop-b", folder.path() / "loop-a");
  fs::create_symlink("loop-a", folder.path() / "loop-b");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  fs::create_directory(folder.path() / "bare");
  std::string bytes =
      "\x7F"
      "FLE";
  for (int i = 0; i < 4000; ++i) bytes += static_cast<char>((i * 7919) % 256);
  const std::vector<Case> cases = {
      {folder.path() / "none.jsonl", "No such file"},
      {folder.Write("empty.jsonl", ""), "empty.jsonl: the trace is empty"},
      {folder.Write("blank.jsonl", "\n \n"), "blank.jsonl: the trace is empty"},
      {folder.path() / "loop-a", "symbolic links"},
      {folder.path() / "pipe", "not a regular file"},
      {folder.path() / "bare", "no traces in this folder"},
      {folder.Write("program", bytes), "neither UTF-8 text nor"},
      {folder.Write("torn.json", R"({"messages": [{"role": "user", "content": "x"})"), "torn.json:1:47: not JSON"}};
  for (const Case& item : cases) {
    EXPECT_EQ(Show(item.file, {"--strict"}), kUsage) << item.file;
    EXPECT_THAT(error, AllOf(StartsWith("error: "), HasSubstr(item.says)));
    EXPECT_THAT(out, IsEmpty());
  }
  EXPECT_EQ(Show(folder.path() / "torn.json"), kOk) << error;
  EXPECT_THAT(out, HasSubstr("damaged: torn.json:1: "));
  EXPECT_EQ(Show(folder.path() / "program", {"--format", "notes"}), kOk) << error;
}

TEST_F(TraceCli, FilesThatMayNotBeRead) {
  constexpr uid_t kNobody = 65534;
  const fs::path file = folder.Write("secret.jsonl", Session("go"));
  fs::permissions(file, fs::perms::none);
  fs::permissions(folder.path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  const bool root = ::geteuid() == 0;  // may read everything
  if (root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const int code = Show(file);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(code, kUsage);
  EXPECT_THAT(error, HasSubstr("Permission denied"));
}

TEST_F(TraceCli, DamageInTheMiddle) {
  std::string session = Session("go");
  session.insert(session.find('\n') + 1, "{\"type\":\"user\",\n");
  const fs::path file = folder.Write("a.jsonl", session);
  EXPECT_EQ(Show(file, {"--strict"}), kUsage);
  EXPECT_THAT(error, HasSubstr("a.jsonl:2: not JSON"));
  EXPECT_EQ(Show(file), kOk);
  EXPECT_THAT(out, HasSubstr("damaged: a.jsonl:2: not JSON"));
  EXPECT_EQ(Digest({file}), kOk);
  EXPECT_THAT(error, HasSubstr("warning: a.jsonl:2: not JSON"));
}

TEST_F(TraceCli, OtherFilesAreNamed) {
  struct Case {
    const char* name;
    std::string content;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"page.html", "\n<!DOCTYPE html>\n<html><body>Sign in to see this conversation</body></html>\n",
       "a web page (HTML)"},
      {"pointer.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n",
       "a Git LFS pointer; `git lfs pull`"},
      {"byte", "x", "only 1 byte of text"},
      {"link.md", "[](x)", "only 5 bytes of text"},
      {"session.db", std::string("SQLite format 3\0\x10\0", 18), "an SQLite database"},
      {"session.jsonl.gz", "\x1f\x8b\x08", "gzip data"},
      {"metrics.jsonl", "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.4}\n",
       "JSON lines of an unknown kind (keys step, loss)"},
      {"package.json", R"({"name": "x", "version": "1", "private": true, "main": "a", "files": []})",
       "a JSON document of an unknown kind (keys name, version, private, main and 1 more)"},
      {"list.json", R"([{"id": 1}, {"id": 2}])", "a JSON list of an unknown kind (key id)"},
      {"members.json", R"([{"role": "admin"}, {"role": "user", "name": "Ada"}])",
       "a JSON list of an unknown kind (key role)"},
      {"members.jsonl", "{\"role\": \"admin\"}\n{\"role\": \"user\"}\n", "JSON lines of an unknown kind (key role)"},
      {"nulls.jsonl", "null\nnull\nnull\nnull\nnull\n", "JSON lines of an unknown kind (null)"},
      {"numbers.txt", "1048576\n2097152\n4194304\n", "JSON lines of an unknown kind (a number)"},
      {"empty.json", "[]", "a JSON list of an unknown kind (no entries)"}};
  for (const Case& item : cases) {
    EXPECT_EQ(Show(folder.Write(item.name, item.content)), kUsage) << item.name;
    EXPECT_THAT(error, AllOf(StartsWith("error: "), HasSubstr(item.name), HasSubstr(item.says)));
  }
  EXPECT_EQ(Show(folder.path() / "metrics.jsonl", {"--format", "notes"}), kOk) << error;
  EXPECT_EQ(Show(folder.Write("log.txt", "[12:00] started the build\n[12:01] it failed\n")), kOk) << error;
  EXPECT_EQ(Show(folder.Write("page.md", "[](https://example.com/a \"title\") has more about it\n")), kOk) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("plain text"), Not(HasSubstr("damaged"))));
}

TEST_F(TraceCli, FolderWithoutAReadableTrace) {
  fs::create_directory(folder.path() / "pages");
  folder.Write("pages/a.jsonl", "<html></html>");
  folder.Write("pages/b.jsonl", "<html></html>");
  EXPECT_EQ(Show(folder.path() / "pages"), kUsage);
  EXPECT_THAT(error,
              AllOf(StartsWith("error: none of the 2 traces could be read:"), HasSubstr("b.jsonl: not a trace")));
}

}  // namespace
}  // namespace upskill
