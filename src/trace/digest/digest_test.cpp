// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/claude_session.h"
#include "support/work_meter.h"
#include "trace/digest/excerpt.h"
#include "trace/load/read_trace.h"
#include "util/json.h"
#include "util/rng.h"

namespace upskill {
namespace {

using Session = ClaudeSession;

// Everyday work without any knowledge in it: reading, searching, builds that pass.
void AddNoise(Session& session, Rng& rng, std::size_t bytes) {
  const std::size_t until = session.text().size() + bytes;
  while (session.text().size() < until) {
    const auto n = rng.Next() % 100'000;
    std::string dump;
    for (int i = 0; i < 60; ++i) {
      dump +=
          fmt::format("{:>6}  const value_{} = table[{}] + offset_{};\n", i, rng.Next() % 9999, rng.Next() % 512, i);
    }
    switch (rng.Next() % 8) {
      case 0:
        session.Run(fmt::format("sed -n 1,60p src/part_{}.c", n), dump);
        break;
      case 1:
        session.Call("Read", Json::object({{"file_path", fmt::format("/p/src/part_{}.c", n)}}), dump);
        break;
      case 2:
        session.Run(fmt::format("grep -rn value_{} src | head -60", n), dump);
        break;
      case 3:
        session.Say(fmt::format("Now I look at part {}.", n));
        break;
      case 4:
        session.Say(fmt::format("Part {} is longer because of its table; note that I need to read all of it.", n));
        break;
      case 5:  // a passing error, of little value
        session.Run(fmt::format("make part_{}", n), "error: no space in table\n" + dump, true);
        session.Run(fmt::format("make part_{}", n), "ok\n" + dump);
        break;
      case 6:
        session.Call("Write", Json::object({{"file_path", fmt::format("/p/src/new_{}.c", n)}, {"content", dump}}),
                     "ok");
        break;
      default:
        session.Run(fmt::format("make part_{}", n), "ok\n" + dump);
        break;
    }
  }
}

Trace PlantedTrace(std::vector<std::string>& planted) {
  Rng rng(42);
  Session session;
  session.User("build the kernel package and make all tests pass");
  AddNoise(session, rng, 1'850'000);
  const auto plant = [&](const std::string& text) {
    planted.push_back(text);
    return text;
  };
  std::string long_log(6000, '.');
  for (std::size_t i = 80; i < long_log.size(); i += 81) long_log[i] = '\n';
  for (int i = 0; i < 6; ++i) {
    const std::string test = fmt::format("ctest -R case_{}", i);
    session.Run(test, long_log + "\n" + plant(fmt::format("error: undefined binding zq{}err", i)) + "\n" + long_log,
                true);
    AddNoise(session, rng, 4000);
    session.Call("Edit",
                 Json::object({{"file_path", fmt::format("/p/ext/binding_{}.cpp", i)},
                               {"old_string", "TORCH_LIBRARY(x, m)"},
                               {"new_string", plant(fmt::format("REGISTER_EXTENSION_{}(TORCH_EXTENSION_NAME)", i))}}),
                 "ok");
    session.Run(test, "100% tests passed");
  }
  session.Run("pip install kernels", "/bin/sh: pip: command not found", true);
  session.Run(plant("python3 -m pip install --break-system-packages kernels"), "Successfully installed");
  session.User(plant("no, never edit the generated folder, change build.toml instead"));
  AddNoise(session, rng, 8000);
  session.User(plant("use cuda-capabilities 9.0a, not 9.0"));
  session.Call("Write",
               Json::object({{"file_path", "/p/build.toml"},
                             {"content", "[general]\nname = \"x\"\n" + plant("edition = 5") + "\n[torch]\n" +
                                             plant("minver = \"2.9\"") + "\n"}}),
               "ok");
  session.Call(
      "WebFetch", Json::object({{"url", "https://docs.test/builder"}, {"prompt", "limits"}}),
      "Manual\n" + long_log + "\nwarning: the kernel name " + plant("must not contain underscores") + "\n" + long_log);
  AddNoise(session, rng, 30'000);
  session.Say("The root cause was that " + plant("the stream must come from getCurrentCUDAStream") +
              "; everything else follows from that.");
  session.Run(plant("nix run .#build-and-copy -L"), "built");
  AddNoise(session, rng, 20'000);
  session.Say("All tests pass. " + plant("The package builds with edition 5 and one binding macro."));
  EXPECT_GT(session.text().size(), 1'950'000U);
  return session.Read("planted.jsonl");
}

DigestOptions Condensed() {
  DigestOptions options;
  options.whole = false;
  return options;
}

TEST(DigestTest, DecisiveFactsAreKept) {
  std::vector<std::string> planted;
  std::vector<Trace> traces;
  traces.push_back(PlantedTrace(planted));
  ASSERT_GE(planted.size(), 20U);
  const Digest digest = MakeDigest(traces, {8000});
  EXPECT_LE(digest.tokens, 8000U);
  std::size_t found = 0;
  for (const std::string& text : planted) {
    const bool there = digest.text.find(text) != std::string::npos;
    found += there ? 1 : 0;
    if (!there) std::printf("not recalled: %s\n", text.c_str());
  }
  std::printf("recalled %zu of %zu in %zu tokens\n", found, planted.size(), digest.tokens);
  EXPECT_GE(found * 10, planted.size() * 9);
  EXPECT_NE(digest.text.find("Left out to fit the budget"), std::string::npos);
  EXPECT_EQ(digest.text, MakeDigest(traces, {8000}).text);
}

TEST(DigestTest, StaysWithinTheBudget) {
  std::vector<std::string> planted;
  std::vector<Trace> traces;
  traces.push_back(PlantedTrace(planted));
  for (const std::size_t budget : {300U, 3000U}) EXPECT_LE(MakeDigest(traces, {budget}).tokens, budget) << budget;
}

TEST(DigestTest, FixesCommandsFilesAndProvenance) {
  Session session;
  session.User("make it build");
  session.Run("make test", "a.c:3: error: x undeclared", true);
  session.Call("Write", Json::object({{"file_path", "a.c"}, {"content", "int y;\n"}}), "ok");
  session.Call("Edit", Json::object({{"file_path", "a.c"}, {"old_string", "int y;"}, {"new_string", "int x;"}}), "ok");
  session.Run("make test", "1 passed");
  session.Call("Write", Json::object({{"file_path", "b.c"}, {"content", "never"}}),
               "The user doesn't want to proceed with this tool use. the user said:\nuse a.c only", true);
  session.Run("rm -rf /tmp/q", "rm: denied error", true);
  const std::string text = MakeDigest({session.Read("s.jsonl")}, Condensed()).text;
  EXPECT_NE(text.find("## Errors and what fixed them"), std::string::npos) << text;
  EXPECT_NE(text.find("Failed: make test"), std::string::npos);
  EXPECT_NE(text.find("x undeclared"), std::string::npos);
  EXPECT_NE(text.find("[s.jsonl#3, #"), std::string::npos) << text;
  EXPECT_NE(text.find("make test  (worked 1 of 2 times)"), std::string::npos);
  EXPECT_NE(text.find("a.c (final content, whole, 2 changes)\n  int x;"), std::string::npos) << text;
  EXPECT_EQ(text.find("never\n"), std::string::npos) << "a rejected write does not make a file";
  EXPECT_NE(text.find("use a.c only"), std::string::npos);
  EXPECT_NE(text.find("Failed, not fixed: rm -rf /tmp/q"), std::string::npos);
}

template <typename Detail>
const Detail* DetailOf(const Digest& digest, DigestKind kind, std::size_t number = 0) {
  for (const DigestItem& item : digest.items) {
    if (item.kind == kind && number-- == 0) return std::get_if<Detail>(&item.detail);
  }
  return nullptr;
}

TEST(DigestTest, ItemsAsData) {
  Session session;
  session.User("make it build");
  session.Run("make test", "a.c:3: error: x undeclared", true);
  session.Call("Write", Json::object({{"file_path", "a.c"}, {"content", "int y;\n"}}), "ok");
  session.Call("Edit", Json::object({{"file_path", "a.c"}, {"old_string", "int y;"}, {"new_string", "int x;"}}), "ok");
  session.Say("The root cause was the name of the variable.");
  session.Run("make test V=1", "1 passed");
  session.Call("WebSearch", Json::object({{"query", "limits of make"}}),
               "REMINDER: cite\nMake knows no limits of this kind.");
  session.User("no, keep y");
  session.Run("flub", "flub: command not found", true);
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, Condensed());
  const auto* episode = DetailOf<EpisodeDetail>(digest, DigestKind::kEpisode);
  ASSERT_NE(episode, nullptr);
  EXPECT_EQ(episode->request, "make it build");
  EXPECT_EQ(episode->tools,
            (std::map<std::string, std::size_t>{{"Bash", 2}, {"Edit", 1}, {"WebSearch", 1}, {"Write", 1}}));
  EXPECT_EQ(episode->errors, 1U);
  EXPECT_EQ(episode->outcome, "The root cause was the name of the variable.");
  const auto* fix = DetailOf<FixDetail>(digest, DigestKind::kFix);
  ASSERT_NE(fix, nullptr);
  EXPECT_TRUE(fix->is_command);
  EXPECT_EQ(fix->failed, "make test");
  EXPECT_EQ(fix->error, "a.c:3: error: x undeclared");
  EXPECT_EQ(fix->works, "make test V=1");
  ASSERT_EQ(fix->steps.size(), 2U);
  EXPECT_EQ(fix->steps[0].edit.kind, FileEdit::Kind::kWrite);
  EXPECT_EQ(fix->steps[1].edit.kind, FileEdit::Kind::kReplace);
  EXPECT_EQ(fix->steps[1].edit.path, "a.c");
  EXPECT_EQ(fix->steps[1].edit.before, "int y;");
  EXPECT_EQ(fix->steps[1].edit.after, "int x;");
  EXPECT_EQ(fix->reason, "The root cause was the name of the variable.");
  const auto* file = DetailOf<FileDetail>(digest, DigestKind::kFile);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->path, "a.c");
  EXPECT_EQ(file->content, "int x;\n");
  EXPECT_TRUE(file->whole);
  EXPECT_EQ(file->versions, 2U);
  const auto* command = DetailOf<CommandDetail>(digest, DigestKind::kCommand);
  ASSERT_NE(command, nullptr);
  EXPECT_EQ(command->command, "make test V=1");
  EXPECT_EQ(command->output, "1 passed");
  const auto* fact = DetailOf<FactDetail>(digest, DigestKind::kFact);
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->answer, "Make knows no limits of this kind.");
  const auto* correction = DetailOf<TextDetail>(digest, DigestKind::kCorrection);
  ASSERT_NE(correction, nullptr);
  EXPECT_EQ(correction->text, "no, keep y");
  const auto* dead = DetailOf<DeadEndDetail>(digest, DigestKind::kDeadEnd);
  ASSERT_NE(dead, nullptr);
  EXPECT_EQ(dead->kind, DeadEndDetail::Kind::kFailed);
  EXPECT_EQ(dead->tried, "flub");
  EXPECT_EQ(dead->output, "flub: command not found");
  for (const DigestItem& item : digest.items) {
    ASSERT_FALSE(item.places.empty());
    EXPECT_EQ(item.places.front().source, "s.jsonl");
    EXPECT_NE(digest.text.find(ToText(item.places.front())), std::string::npos);
  }
}

TEST(DigestTest, WhatOnlyLooksLikeFailure) {
  Session session;
  session.User("install it");
  session.Run("cat build.log", "error: of yesterday");
  session.Run("pip3 install x", "Output: error: externally-managed-environment\nError: (none)\nExit Code: 1");
  session.Run("source venv/bin/activate && pip install x", "Output: done\nError: (none)\nExit Code: 0");
  session.User("now write the summary because you are done");
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, Condensed());
  EXPECT_EQ(digest.kept.count(DigestKind::kDeadEnd), 0U) << digest.text;
  EXPECT_EQ(digest.kept.count(DigestKind::kCorrection), 0U) << digest.text;
  const auto* fix = DetailOf<FixDetail>(digest, DigestKind::kFix);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->failed, "pip3 install x");
  EXPECT_EQ(fix->works, "source venv/bin/activate && pip install x");
}

TEST(DigestTest, ASearchThatFindsNothingIsNoFailure) {
  Session session;
  session.User("look for it");
  session.Run("rg -n teal src", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n", true);
  session.Run("cd src && grep -rn teal .", "Exit code 1", true);
  session.Run("rg -n '(' src", "Exit code: 2\nOutput:\nregex parse error", true);
  const Trace trace = session.Read("s.jsonl");
  const std::vector<DigestItem> items = CollectCalls(trace, 0);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(std::get<DeadEndDetail>(items[0].detail).tried, "rg -n '(' src");
}

TEST(DigestTest, TheFolderOfACommandAndThePlaceOfARepeatedOutput) {
  Session session;
  session.User("build both");
  const std::string output(300, 'x');
  for (const char* folder : {"apps/a", "apps/a", "apps/b"})
    session.Call("shell", Json::object({{"command", "make"}, {"workdir", folder}}), output);
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, {});
  EXPECT_NE(digest.text.find("\n(in apps/a) $ make\n"), std::string::npos) << digest.text;
  EXPECT_NE(digest.text.find("\n(in apps/b) $ make\n"), std::string::npos);
  EXPECT_NE(digest.text.find("\n$ make\n→ [the same output as at s.jsonl#2]"), std::string::npos) << digest.text;
  EXPECT_NE(digest.text.find("[s.jsonl#2] Command"), std::string::npos) << "the item that is named";
}

TEST(DigestTest, WhatWorksWhenTheCommandStays) {
  for (const bool sandbox : {false, true}) {
    Session session;
    session.User("build");
    session.Call("Bash", Json::object({{"command", "make"}, {"description", "Build"}}), "error: locked", true);
    Json again = Json::object({{"command", "make"}, {"description", "Build again"}});
    if (sandbox) again["escalated"] = true;
    session.Call("Bash", again, "ok");
    const std::string text = MakeDigest({session.Read("s.jsonl")}, Condensed()).text;
    EXPECT_NE(text.find(sandbox ? R"("escalated":true)" : "Works: the same call again"), std::string::npos) << text;
  }
}

TEST(DigestTest, TheMessageAfterARejectedCallIsACorrection) {
  Session session;
  session.User("move the button");
  session.Call("Edit", Json::object({{"file_path", "a.c"}, {"old_string", "x"}, {"new_string", "y"}}),
               "The user doesn't want to proceed with this tool use.", true);
  session.User("completely outside the bar");
  const auto digest = MakeDigest({session.Read("s.jsonl")}, Condensed());
  const auto* correction = DetailOf<TextDetail>(digest, DigestKind::kCorrection);
  ASSERT_NE(correction, nullptr) << digest.text;
  EXPECT_EQ(correction->text, "completely outside the bar");
}

TEST(DigestTest, ManyEqualTurnsTakeLinearTime) {
  const auto digest_of = [](std::size_t count) {
    Session session;
    for (std::size_t i = 0; i < count; ++i) {
      session.User("hi");
      session.Say("yo");
    }
    return
        [traces = std::vector<Trace>{session.Read("s.jsonl")}] { EXPECT_FALSE(MakeDigest(traces, {}).text.empty()); };
  };
  EXPECT_LT(GrowthPerDoubling(4000, digest_of), kMaxGrowthPerDoubling);
}

TEST(DigestTest, SeveralTracesAgree) {
  std::vector<Trace> traces;
  for (int i = 0; i < 3; ++i) {
    Session session;
    session.User("build");
    session.Run("cmake --build build -j2", i == 1 ? "error: failed" : "done", i == 1);
    traces.push_back(session.Read(fmt::format("{}.jsonl", i)));
    traces.back().succeeded = i != 1;
  }
  const std::string text = MakeDigest(traces, Condensed()).text;
  EXPECT_NE(text.find("cmake --build build -j2\n  → done [0.jsonl#2, 2.jsonl#2 · ran and passed · in 2 of 3 traces]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1.jsonl: Claude Code · x · 1 turn, 1 tool call, 1 error · failed"), std::string::npos) << text;
}

TEST(ExcerptTest, KeepsTheInformativeLines) {
  std::string text = "first\n";
  for (int i = 0; i < 500; ++i) text += "noise noise noise\n";
  text += "fatal error: no such file\n";
  for (int i = 0; i < 500; ++i) text += "noise noise noise\n";
  text += "last";
  const std::string excerpt = Excerpt(text, 300);
  EXPECT_LE(excerpt.size(), 320U);
  for (const char* part : {"first", "fatal error: no such file", "last"})
    EXPECT_NE(excerpt.find(part), std::string::npos) << excerpt;
}

TEST(ExcerptTest, DiffShowsWhatChanged) {
  EXPECT_EQ(DiffLines("a\nb\nc\n", "a\nB\nc\n"), " a\n-b\n+B\n c\n");
  EXPECT_EQ(DiffLines("", "x\n"), "+x\n");
  EXPECT_EQ(DiffLines("same\n", "same\n"), " same\n");
}

// Agents such as Codex name a folder with each call.
TEST(DigestTest, CondensedDigestsNameTheFolders) {
  std::string lines = R"({"type":"session_meta","payload":{"id":"s","cwd":"/home/d/w"}})"
                      "\n";
  const auto add = [&](const Json& payload) {
    lines += DumpJson(Json::object({{"type", "response_item"}, {"payload", payload}})) + "\n";
  };
  const Json request = Json::object({{"type", "input_text"}, {"text", "build it"}});
  add(Json::object({{"type", "message"}, {"role", "user"}, {"content", Json::array({request})}}));
  for (const char* folder : {"/home/d/w", "/home/d/w/apps/x"}) {
    const Json arguments = Json::object({{"command", Json::array({"make", folder})}, {"workdir", folder}});
    add(Json::object(
        {{"type", "function_call"}, {"name", "shell"}, {"arguments", DumpJson(arguments)}, {"call_id", folder}}));
    add(Json::object({{"type", "function_call_output"}, {"call_id", folder}, {"output", "done"}}));
  }
  const Result<Trace> trace = ReadTrace(LineSource::FromText(lines, "s.jsonl"), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::string text = MakeDigest({*trace}, Condensed()).text;
  EXPECT_NE(text.find("- Working directory: /home/d/w [s.jsonl#1"), std::string::npos) << text;
  EXPECT_NE(text.find("- (in /home/d/w/apps/x) make /home/d/w/apps/x"), std::string::npos) << text;
  EXPECT_NE(text.find("- make /home/d/w\n"), std::string::npos) << text;
}

TEST(DigestTest, WhatAWholeTraceCutsIsCounted) {
  Session session;
  session.User("search the manual");
  session.Call("search_manual", Json::object({{"text", std::string(5000, 'x')}}), "nothing");
  const Digest digest = MakeDigest({session.Read("s.jsonl")}, {});
  ASSERT_TRUE(digest.whole);
  EXPECT_EQ(digest.cut_items, 1U);
  EXPECT_EQ(digest.cut_characters, 5000U + std::string_view(R"({"text":""})").size() - 4000U - 3U);
  EXPECT_NE(KeptLine(digest).find(" tokens, whole but for 1,008 characters cut from 1 long item: "), std::string::npos)
      << KeptLine(digest);
}

// What a command writes into a file is shown as that file.
TEST(DigestTest, WhatIsCutFromCommandsThatWriteFilesIsCounted) {
  const auto kept_line = [](const std::string& command) {
    Session session;
    session.User("set it up");
    session.Run(command, "done");
    const Digest digest = MakeDigest({session.Read("s.jsonl")}, {});
    EXPECT_TRUE(digest.whole);
    return KeptLine(digest);
  };
  const std::string text(3000, 'x');
  EXPECT_NE(kept_line("cat > /p/a.txt <<'EOF'\n" + text + "\nEOF").find(" tokens, nothing left out: "),
            std::string::npos);
  const std::string line = kept_line("cat > /p/a.txt <<'EOF'\nshort\nEOF\n./configure --with=" + text + " --now");
  EXPECT_NE(line.find(" tokens, whole but for 2,6"), std::string::npos) << line;
  EXPECT_NE(line.find(" characters cut from 1 long item: "), std::string::npos) << line;
}

TEST(DigestTest, CommandsThatMoveFilesDoNotTryThem) {
  const auto known = [](const std::string& command) {
    Session session;
    session.User("add an icon");
    session.Call("Write", Json::object({{"file_path", "/p/icon.xml"}, {"content", "<icon/>\n"}}), "ok");
    session.Run(command, "");
    const std::string text = MakeDigest({session.Read("s.jsonl")}, {}).text;
    const std::size_t at = text.find("File · ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(known("cp /p/icon.xml /p/b.xml && chmod 644 /p/b.xml; cd /p"), "File · only written");
  EXPECT_EQ(known("cp /p/icon.xml /p/b.xml && xmllint /p/icon.xml"), "File · ran and passed");
}

TEST(DigestTest, AnAbandonedRequestIsNoRequest) {
  Session session;
  session.User("Rename the parser");
  session.User("Don't keep the old name");
  session.User("Keep the name");
  Trace trace = session.Read("s.jsonl");
  trace.events.at(1).abandoned = true;
  for (const DigestItem& item : MakeDigest({trace}, Condensed()).items) {
    const bool told = item.kind == DigestKind::kEpisode || item.kind == DigestKind::kCorrection;
    EXPECT_FALSE(told && item.event == 1) << item.text;
  }
}

// Every file is looked for in every command that may have tried it out.
TEST(DigestTest, ManyFilesAndCommandsTakeLinearTime) {
  const auto digest_of = [](std::size_t count) {
    Session session;
    session.User("write the files and try them out");
    for (std::size_t i = 0; i < count; ++i) {
      session.Call("Write", Json::object({{"file_path", fmt::format("/p/a{}.py", i)}, {"content", "x\n"}}), "ok");
      session.Run(fmt::format("mv b{} b{}", i, i + 1), "");
      session.Run(fmt::format("python3 c{}.py", i), "done");
    }
    return [traces = std::vector<Trace>{session.Read("s.jsonl")}] {
      EXPECT_FALSE(MakeDigest(traces, Condensed()).text.empty());
    };
  };
  EXPECT_LT(GrowthPerDoubling(700, digest_of), kMaxGrowthPerDoubling);
}

}  // namespace
}  // namespace upskill
