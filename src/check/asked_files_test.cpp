// SPDX-License-Identifier: Apache-2.0
#include "check/asked_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Case CaseWith(const std::string& check, const std::string& input = "i", const std::string& more = "") {
  const Result<Suite> suite =
      ParseSuite(R"([{"input": ")" + input + R"(", )" + more + R"("checks": [)" + check + "]}]", "t");
  if (suite) return suite->cases.front();
  ADD_FAILURE() << suite.error().message;
  return {};
}

std::string Tested(const std::string& name, const std::string& text) {
  return R"({"type": "command", "command": "run )" + name + R"(", "files": {")" + name + R"(": ")" + text + R"("}})";
}

TEST(AskedFiles, AreThoseThatTestsImport) {
  EXPECT_THAT(
      AskedFiles(CaseWith(Tested("test_it.py", R"(import json, os\nfrom ready import wait\nassert wait(1) == 2)"))),
      ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.py", R"(import sys, ready as r, pytest)"))), ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.py", R"(from app.ready import wait)"))), ElementsAre("app/ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("test/a.test.mjs", R"(import {w} from '../ready.mjs'\nimport fs from 'fs')"))),
              ElementsAre("ready.mjs"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.js", R"(const r = require('./ready'))"))), ElementsAre("ready.js"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.c", R"(#include <stdio.h>\n#include \"ready.h\"\n)"))),
              ElementsAre("ready.h"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.rb", R"(require 'json'\nrequire_relative 'ready')"))),
              ElementsAre("ready.rb"));
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.py", R"(import subprocess\nsubprocess.run(['sh', './ready.sh']))"))),
              ElementsAre("ready.sh"));
}

TEST(AskedFiles, AreThoseThatTestsOfTheCaseImport) {
  EXPECT_THAT(
      AskedFiles(CaseWith(R"({"type": "command", "command": "pytest"})", "i",
                          R"("context": {"files": {"tests/test_it.py": "import ready", "a.py": "import b"}}, )")),
      ElementsAre("ready.py"));
}

TEST(AskedFiles, AreThoseThatCommandsName) {
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "command", "command": "cat *.txt; python3 ready.py > out.txt"})")),
              ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "command", "command": "python3 -m ready 3"})")), ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "command", "command": "python3 -c 'from ready import f; f()'"})")),
              ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "all", "checks": [{"type": "command", "command": "cc a.c -o a.out"}]})")),
              ElementsAre("a.c"));
}

TEST(AskedFiles, AreNotThoseThatTheCaseHas) {
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "command", "command": "python3 main.py answer.md"})", "i",
                                  R"("context": {"files": {"main.py": "import x"}}, )")),
              IsEmpty());
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "contains", "values": "x"})", "Write ready.py")), IsEmpty());
}

TEST(AskedFiles, AreThoseThatTheInputNames) {
  EXPECT_THAT(AskedFiles(CaseWith(Tested("t.py", R"(import thirdparty, ready)"), "Write the module ready")),
              ElementsAre("ready.py"));
  EXPECT_THAT(AskedFiles(CaseWith(R"({"type": "command", "command": "make test"})", "Write ready.c")),
              ElementsAre("ready.c"));
}

class UnnamedBlock : public testing::TestWithParam<const char*> {};

TEST_P(UnnamedBlock, IsTheFileThatTestsImport) {
  if (!DefaultSandbox().Available()) GTEST_SKIP();
  const Case test_case = CaseWith(Tested("test_it.py", R"(import sys\nfrom ready import two\nassert two() == 2)"));
  Case python = test_case;
  python.checks[0].options["command"] = "python3 test_it.py";
  const Result<CaseChecks> checks = CaseChecks::Make(python);
  ASSERT_TRUE(checks.ok());
  const std::vector<CheckResult> results = checks->Run(GetParam());
  EXPECT_TRUE(AllPass(results)) << results.front().detail;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, UnnamedBlock,
    testing::Values("```python\ndef two(): return 2\n```\n", "```\ndef two(): return 2\n```\n",
                    "Here it is:\n\n~~~py\ndef two(): return 2\n~~~\nIt returns 2.",
                    "`ready.py`:\n```\ndef two(): return 2\n```", "```text\ndef two(): return 2\n```\n",
                    "```python\ndef two(): return 2\n```\nRun it:\n```bash\npython3 ready.py\n```\n"));

}  // namespace
}  // namespace upskill
