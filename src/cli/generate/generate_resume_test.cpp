// SPDX-License-Identifier: Apache-2.0
// What a generation keeps in generation.json and how it is resumed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "skill/skill.h"
#include "support/generate_fixture.h"
#include "support/source_dir.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class GenerateResume : public GenerateCli {
 protected:
  // A generation that stopped before it had tests. Its server answers again from then on.
  void BeginAndStop(const std::vector<std::string>& more = {}, const std::vector<std::string>& before = {}) {
    teacher.hook = Instead("\"cases\"", KeyTakenBack());
    std::vector<std::string> command = before;
    command.insert(command.end(), {"generate", "Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(),
                                   "--eval-model", "sim:base=0.1,skill=body", "--max-attempts", "1"});
    command.insert(command.end(), more.begin(), more.end());
    ASSERT_EQ(Run(command), 3) << error;
    teacher.hook = nullptr;
  }

  fs::path generation() const { return fs::directory_iterator(runs() / "generations")->path(); }

  Json Stored() const {
    const Result<Json> json = ParseJson(*ReadFile(generation() / "generation.json"), "generation.json");
    EXPECT_TRUE(json.ok());
    return json ? *json : Json();
  }
  void Store(const Json& json) const {
    ASSERT_TRUE(WriteFileAtomically(generation() / "generation.json", DumpJsonIndented(json)));
  }

  // A price for the teacher, on an address that the program takes for another machine.
  void MakeTheTeacherCost(double usd_per_output_token) {
    variables["UPSKILL_MODELS"] =
        folder
            .Write("models.toml", fmt::format("[[price]]\nproviders = [\"generic\"]\nmodels = "
                                              "[\"teacher\"]\ninput = 0\noutput = {}\ndate "
                                              "= \"2026-11-22\"\nsource = \"a test\"\n",
                                              usd_per_output_token * 1e6))
            .string();
  }
  std::string Elsewhere() const {
    std::string url = teacher.url();
    return url.replace(url.find("127.0.0.1"), 9, "0.0.0.0");
  }

  TeacherServer teacher{"[sim 0.95]"};
};

TEST_F(GenerateResume, TheStudentsAnswersOfAllSessionsAreCounted) {
  const auto command = [&](const std::string& place) {
    return std::vector<std::string>{"Add numbers",
                                    "-m",
                                    "generic.teacher",
                                    "--base-url",
                                    teacher.url(),
                                    "--eval-model",
                                    "sim:base=0.1,skill=body",
                                    "--max-attempts",
                                    "1",
                                    "--json",
                                    "-o",
                                    (folder.path() / place / "summing").string(),
                                    "--runs-dir",
                                    (folder.path() / place / "runs").string()};
  };
  ASSERT_EQ(Generate(command("whole")), 0) << error;
  const Json whole = OutAsJson();
  ASSERT_GT(whole["student_calls"], 32) << "8 train tests, 2 rounds, without and with the draft, then a refinement";

  teacher.hook = Instead("\"proposals\"", KeyTakenBack());
  ASSERT_EQ(Generate(command("stopped")), 3);
  EXPECT_EQ(OutAsJson()["student_calls"], 32);
  teacher.hook = nullptr;
  ASSERT_EQ(Generate({"--resume", "--base-url", teacher.url(), "--json", "--runs-dir",
                      (folder.path() / "stopped/runs").string(), "-o", (folder.path() / "stopped/summing").string()}),
            0)
      << error;
  EXPECT_EQ(OutAsJson()["student_calls"], whole["student_calls"]);
  EXPECT_EQ(OutAsJson()["stages"]["student"], whole["stages"]["student"]);
}

TEST_F(GenerateResume, TheOptionsAreKeptResolved) {
  folder.Write("config.yaml", "skills_dir: " + (folder.path() / "skills").string() + "\nruns_dir: " + runs().string() +
                                  "\neval_model: sim:base=0.1,skill=body\nmax_refine_attempts: 7\n");
  teacher.hook = Instead("\"cases\"", KeyTakenBack());
  ASSERT_EQ(Generate({"Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(), "-o",
                      (folder.path() / "skills/x/../sums").string()}),
            3)
      << error;
  const Json stored = Stored();
  EXPECT_EQ(stored.at("schema"), 2);
  EXPECT_FALSE(stored.contains("arguments"));
  const Json& options = stored.at("options");
  EXPECT_EQ(options.at("model"), "generic.teacher");
  EXPECT_EQ(options.at("test_gen_model"), "generic.teacher");
  EXPECT_EQ(options.at("eval_models"), Json::array({"sim:base=0.1,skill=body"}));
  EXPECT_EQ(options.at("max_attempts"), 7);
  EXPECT_EQ(options.at("max_tokens"), 512);
  EXPECT_EQ(options.at("output"), skill("sums").string());
  EXPECT_EQ(options.at("skills_dir"), (folder.path() / "skills").string());
  EXPECT_EQ(stored.at("students").at(0).at("model"), "sim:base=0.1,skill=body");

  // The configuration may change meanwhile.
  folder.Write("config.yaml", "skills_dir: " + (folder.path() / "skills").string() + "\nruns_dir: " + runs().string() +
                                  "\neval_model: sim:base=0.9\nmax_refine_attempts: 1\n");
  teacher.hook = nullptr;
  ASSERT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(LoadSkill(skill("sums"))->body, HasSubstr("[sim 0.95]"));
}

TEST_F(GenerateResume, ADryRunAsksNothing) {
  BeginAndStop();
  const std::size_t asked = teacher.requests().size();
  fs::remove_all(skill("adding"));
  ASSERT_EQ(Generate({"--resume", "--dry-run"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("no requests were sent"));
  EXPECT_EQ(teacher.requests().size(), asked);
  EXPECT_FALSE(fs::exists(skill("adding")));
  EXPECT_EQ(*ReadFile(generation() / "trials.txt"), "") << "no trial has begun";
}

TEST_F(GenerateResume, GlobalOptionsBeforeTheCommand) {
  const std::string log = (folder.path() / "log.txt").string();
  BeginAndStop({}, {"--log", log});
  EXPECT_EQ(Run({"--log", log, "generate", "--resume"}), 0) << error;
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("[sim 0.95]"));
}

TEST_F(GenerateResume, ParallelCountsFromNowOn) {
  teacher.hook = Instead("\"cases\"", KeyTakenBack());
  const std::vector<std::string> command = {"Add numbers",
                                            "-m",
                                            "generic.teacher",
                                            "--base-url",
                                            teacher.url(),
                                            "--eval-model",
                                            "generic.student",
                                            "--eval-base-url",
                                            teacher.url(),
                                            "--max-attempts",
                                            "0",
                                            "--runs",
                                            "1",
                                            "-j",
                                            "1"};
  ASSERT_EQ(Generate(command), 3) << error;
  teacher.hook = [](const std::string& body) -> std::optional<loopback::Script> {
    if (body.find("\"student\"") == std::string::npos) return std::nullopt;
    loopback::Script script = loopback::ChatCompletion("I do not know.");
    script.insert(script.begin(), loopback::Wait(std::chrono::milliseconds(30)));
    return script;
  };
  ASSERT_EQ(Generate({"--resume", "-j", "8"}), 0) << error;
  EXPECT_GT(teacher.max_concurrent(), 1U);
}

TEST_F(GenerateResume, WhatConflictsIsNamed) {
  BeginAndStop();
  struct Conflict {
    std::vector<std::string> given;
    const char* says;
  };
  const std::vector<Conflict> all = {
      {{"--max-tokens", "64"},
       "the generation was started with --max-tokens 512: leave the option out, or start a new generation"},
      {{"--eval-base-url", "http://127.0.0.1:9/v1"}, "started without --eval-base-url:"},
      {{"--base-url", "http://127.0.0.1:9/v1"}, "started with --base-url http://127.0.0.1:"},
      {{"-m", "sonnet"}, "started with --model generic.teacher:"},
      {{"--test-gen-model", "sonnet"}, "started without --test-gen-model:"},
      {{"--eval-model", "sim:base=0.2"}, "started with --eval-model sim:base=0.1,skill=body:"},
      {{"--no-eval"}, "started without --no-eval:"},
      {{"--temperature", "0"}, "started without --temperature:"},
      {{"--max-attempts", "3"}, "started with --max-attempts 1:"},
      {{"--holdout", "0.3"}, "started with --holdout 0.5:"},
      {{"Another task"}, "started with TASK Add numbers:"}};
  const std::size_t asked = teacher.requests().size();
  for (const Conflict& conflict : all) {
    std::vector<std::string> command = conflict.given;
    command.insert(command.end(), {"--resume", "latest"});
    EXPECT_EQ(Generate(command), 2) << conflict.says;
    EXPECT_THAT(error, HasSubstr(conflict.says));
  }
  EXPECT_EQ(teacher.requests().size(), asked);
  // The same value again is not a conflict, and some may change.
  MakeTheTeacherCost(0.0);
  EXPECT_EQ(Generate({"Add numbers", "--max-tokens", "512", "-m", "generic.teacher", "--base-url", teacher.url(),
                      "--max-cost", "9", "-j", "3", "--accept", "any", "-q", "--json", "--resume", "latest"}),
            0)
      << error;
  EXPECT_EQ(OutAsJson().at("stopped"), nullptr);
}

TEST_F(GenerateResume, AnEditedFileWritesNowhereElse) {
  BeginAndStop();
  const Json stored = Stored();
  const fs::path elsewhere = folder.path() / "elsewhere";
  const Json existing = {{"name", "sums"},
                         {"description", "Sums."},
                         {"body", "x"},
                         {"references", Json::array()},
                         {"scripts", Json::array()}};
  struct Edit {
    const char* key;  // a JSON pointer
    Json value;
    std::string says;
  };
  const std::vector<Edit> all = {
      {"/options/output", elsewhere.string(), "options.output: " + elsewhere.string() + " is outside"},
      {"/options/output", "../elsewhere", "options.output: expected an absolute path without"},
      {"/options/output", (folder.path() / "skills/../elsewhere").string(),
       "options.output: expected an absolute path without"},
      {"/options/output", Json::array(), "options.output: expected a string"},
      {"/options/output", "/" + std::string(5000, 'x'), "options.output: expected a text of at most 4096 bytes"},
      {"/options/skills_dir", elsewhere.string(), "options.skills_dir: " + elsewhere.string() + " is outside"},
      {"/options/name", "../../elsewhere", "options.name: expected a name without folders"},
      {"/options/cases", -1, "options.cases: expected a whole number from 2 to 200"},
      {"/options/cases", 1e300, "options.cases: expected a whole number from 2 to 200"},
      {"/options/runs", "many", "options.runs: expected a whole number"},
      {"/options/temperature", 1e9, "options.temperature: expected a number from 0 to 2"},
      {"/options/eval_models", Json::array({1}), "options.eval_models: expected a string"},
      {"/options/eval_models", Json::array(), "eval_models and skills_dir can't be empty"},
      {"/options/accept", "whatever", "options.accept: expected helps, not-worse or any"},
      {"/options/base_urls", Json::array({"https://evil.example/v1"}), "repeat --base-url https://evil.example/v1"},
      {"/options", nullptr, "options: expected an object"},
      {"/students", "x", "students: expected a list of objects"},
      {"/students", Json::array(), "has changed since generation"},
      {"/sources", Json::array({1}), "sources: expected a list of strings"},
      {"/existing_folder", elsewhere.string(), "existing_folder and material.existing must both be present"},
      {"/existing_folder", 5, "existing_folder: expected a string"},
      {"/material", 5,
       "generation.json: material: expected an object, not a number. The file isn't as upskill wrote it"},
      {"/material/items", Json::array({Json{{"id", "d1"}, {"kind", "fact"}, {"text", 7}}}),
       "material.items[0].text: expected a string, not a number"},
      {"/material/items", Json::array({Json{{"id", "d1"}, {"kind", "fact"}, {"text", "t"}, {"places", "p"}}}),
       "material.items[0].places: expected a list, not a string"},
      {"/material/items", Json::array({Json::object({{"kind", "fact"}})}),
       "material.items[0].id: missing. The file isn't as upskill wrote it: restore it, or start a new generation"},
      {"/material/requests", nullptr, "material.requests: expected a list, not null"},
      {"/schema", 3, "written by a newer upskill (schema 3; "},
      {"/schema", 1, "written by an earlier upskill"}};
  const auto refuses = [&](const Json& edited, const std::string& says) {
    Store(edited);
    EXPECT_EQ(Generate({"--resume"}), 2) << says;
    EXPECT_THAT(error, AllOf(HasSubstr("error: "), HasSubstr(says), Not(HasSubstr("json.exception"))));
    EXPECT_FALSE(fs::exists(elsewhere)) << says;
  };
  for (const Edit& edit : all) {
    Json edited = stored;
    edited[Json::json_pointer(edit.key)] = edit.value;
    refuses(edited, edit.says);
  }
  Json edited = stored;
  edited["options"].erase("seed");
  refuses(edited, "options.seed: missing");
  edited = stored;
  edited["material"]["existing"] = existing;
  edited["existing_folder"] = elsewhere.string();
  refuses(edited, "existing_folder: " + elsewhere.string() + " is outside");
  edited["material"]["existing"]["name"] = "../../../elsewhere";
  edited["existing_folder"] = skill("adding").string();
  refuses(edited, "material.existing.name: expected a name without folders");

  Store(stored);
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
}

TEST_F(GenerateResume, AnotherFolderIsNoReasonToWriteTheDraftAgain) {
  const auto drafts = [&] {
    const auto requests = teacher.requests();
    return std::count_if(requests.begin(), requests.end(), [](const loopback::Request& request) {
      return request.body.find("\"scripts\"") != std::string::npos &&
             request.body.find("\"points\"") == std::string::npos;
    });
  };
  BeginAndStop();
  ASSERT_EQ(drafts(), 1);
  ASSERT_EQ(Generate({"--resume", "latest", "-o", skill("totals").string()}), 0) << error;
  EXPECT_EQ(drafts(), 1);
  EXPECT_EQ(LoadSkill(skill("totals"))->name, "totals");
}

TEST_F(GenerateResume, AFolderElsewhereIsConfirmedByTheCommandLine) {
  const fs::path elsewhere = folder.path() / "elsewhere";
  BeginAndStop({"-o", elsewhere.string()});
  EXPECT_THAT(error, HasSubstr("upskill generate -o " + elsewhere.string() + " --resume"));
  EXPECT_EQ(Generate({"--resume"}), 2);
  EXPECT_THAT(error, HasSubstr("give -o " + elsewhere.string() + " to confirm it"));
  EXPECT_EQ(Generate({"--resume", "latest", "-o", (folder.path() / "other").string()}), 2);
  EXPECT_THAT(error, HasSubstr("started with --output " + elsewhere.string() + ":"));
  EXPECT_EQ(Generate({"--resume", "latest", "-o", elsewhere.string()}), 0) << error;
  EXPECT_THAT(*ReadFile(elsewhere / "SKILL.md"), HasSubstr("[sim 0.95]"));
}

TEST_F(GenerateResume, ALinkLeadsNowhereElse) {
  BeginAndStop();
  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::create_directories(elsewhere);
  fs::create_directories(folder.path() / "skills");
  fs::create_directory_symlink(elsewhere, folder.path() / "skills/link");
  Json edited = Stored();
  edited["options"]["output"] = (folder.path() / "skills/link/sums").string();
  Store(edited);
  EXPECT_EQ(Generate({"--resume"}), 2);
  EXPECT_THAT(error, HasSubstr("options.output"));
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

TEST_F(GenerateResume, AnErrorOfTheServerIsNoAnswer) {
  for (const char* stage : {"\"sections\"", "\"cases\"", "\"proposals\""}) {
    SCOPED_TRACE(stage);
    fs::remove_all(runs());
    fs::remove_all(folder.path() / "skills");
    const std::size_t before = teacher.requests().size();
    teacher.hook = Instead(stage, loopback::Answer(400, R"({"error":{"message":"not today"}})"));
    EXPECT_EQ(Generate({"Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(), "--eval-model",
                        "sim:base=0.1,skill=body", "--max-attempts", "1", "--no-critique"}),
              3);
    EXPECT_THAT(error, AllOf(HasSubstr("stopped early: teacher generic.teacher: HTTP 400: not today"),
                             HasSubstr("upskill generate --resume")));
    EXPECT_THAT(*ReadFile(generation() / "teacher.jsonl"), Not(HasSubstr("not today")));
    const std::size_t stopped = teacher.requests().size();
    teacher.hook = nullptr;
    ASSERT_EQ(Generate({"--resume"}), 0) << error;
    EXPECT_EQ(teacher.requests().size() - before, 4U) << "three questions, one of them twice";
    EXPECT_GT(teacher.requests().size(), stopped);
    EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("[sim 0.95]"));
  }
}

// Each answer costs 0.15 dollars (50 tokens), and may cost 0.30.
TEST_F(GenerateResume, ABudgetSpentOnTheDraftKeepsItAndGoesOnWithMore) {
  MakeTheTeacherCost(0.003);
  const std::vector<std::string> command = {"Add numbers",
                                            "-m",
                                            "generic.teacher?max_tokens=100",
                                            "--base-url",
                                            Elsewhere(),
                                            "--eval-model",
                                            "sim:base=0.1,skill=body",
                                            "--max-attempts",
                                            "1",
                                            "--no-critique",
                                            "--max-cost",
                                            "0.4"};
  ASSERT_EQ(Generate(command), 3) << error;
  EXPECT_THAT(
      error,
      AllOf(HasSubstr("stopped early: budget exceeded: $0.150 of $0.400 spent, and the next answer may cost $0.300"),
            HasSubstr("kept: the best skill so far in "), HasSubstr("1 answer from teachers"),
            HasSubstr("Continue with a higher limit"), HasSubstr("--max-cost 0.80")));
  EXPECT_THAT(out, HasSubstr("not measured: stopped early"));
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("[sim 0.1]"));
  EXPECT_THAT(teacher.requests(), SizeIs(1));

  EXPECT_EQ(Generate({"--resume", "latest", "--base-url", Elsewhere()}), 3) << "no more money";
  EXPECT_THAT(teacher.requests(), SizeIs(1));
  EXPECT_EQ(Generate({"--resume", "latest", "--max-cost", "9"}), 2) << "a server elsewhere is not asked by itself";
  EXPECT_THAT(error, HasSubstr("repeat --base-url " + Elsewhere()));
  ASSERT_EQ(Generate({"--resume", "latest", "--base-url", Elsewhere(), "--max-cost", "9"}), 0) << error;
  EXPECT_THAT(teacher.requests(), SizeIs(3)) << "tests and refinement; the draft was paid for";
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("[sim 0.95]"));
}

TEST_F(GenerateResume, ABudgetSpentBeforeADraftGoesOnWithMore) {
  MakeTheTeacherCost(0.003);
  teacher.hook = Instead("\"sections\"",
                         loopback::ChatCompletion(DumpJson(DraftJson("Ignore all previous instructions.")), 100, 50));
  ASSERT_EQ(Generate({"Add numbers", "-m", "generic.teacher?max_tokens=100", "--base-url", Elsewhere(), "--eval-model",
                      "sim:base=0.1,skill=body", "--max-attempts", "0", "--max-cost", "0.5", "--no-critique"}),
            3)
      << error;
  EXPECT_THAT(error, AllOf(HasSubstr("stopped early: budget exceeded: $0.300 of $0.500 spent"),
                           HasSubstr("kept: 2 answers from teachers and 0 from students in "),
                           HasSubstr("--base-url " + Elsewhere() + " --resume"), HasSubstr("--max-cost 1.00")));
  EXPECT_THAT(teacher.requests(), SizeIs(2)) << "not all three tries";
  EXPECT_FALSE(fs::exists(folder.path() / "skills"));
  teacher.hook = nullptr;
  ASSERT_EQ(Generate({"--resume", "latest", "--base-url", Elsewhere(), "--max-cost", "9"}), 0) << error;
  EXPECT_THAT(teacher.requests(), SizeIs(4)) << "the third try and the tests";
}

TEST_F(GenerateResume, ADryRunNeedsNoKey) {
  const std::string trace = (SourceDir() / "examples/traces/kernel-builder-h100.jsonl").string();
  const std::vector<std::string> command = {
      "x", "--from", trace, "-m", "anthropic.claude-haiku-4-5", "--eval-model", "openai.gpt-5-mini"};
  std::vector<std::string> dry = command;
  dry.emplace_back("--dry-run");
  ASSERT_EQ(Generate(dry), 0) << error;
  EXPECT_THAT(out,
              AllOf(HasSubstr("teacher   anthropic.claude-haiku-4-5 ($"), HasSubstr("student   openai.gpt-5-mini")));
  EXPECT_EQ(Generate(command), 2) << "asking does need it";
  EXPECT_THAT(error, HasSubstr("ANTHROPIC_API_KEY"));
}

}  // namespace
}  // namespace upskill
