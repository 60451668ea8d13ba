// SPDX-License-Identifier: Apache-2.0
#include "eval/gate.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Two students: haiku, which gains, and glm, which loses. The verdicts are set directly, without samples.
struct JudgedStudents {
  JudgedStudents() {
    run.data = RunData(MakeTestPlan(1, 1, {"haiku", "glm"}));
    run.summary = Summarize(run.data);
    std::vector<StudentVerdict>& verdicts = run.verdicts;
    verdicts.resize(2);
    verdicts[0].word = Verdict::kHelps;
    verdicts[0].lift = 0.36;
    verdicts[0].output_tokens = PairedChange{100.0, 115.0, {}, {}};
    verdicts[0].tokens = PairedChange{200.0, 700.0, {}, {}};
    verdicts[0].cost_usd = PairedChange{0.001, 0.0009, {}, {}};
    verdicts[0].seconds = PairedChange{2.0, 2.0, {}, {}};
    verdicts[1].word = Verdict::kHurts;
    verdicts[1].lift = -0.1;
    verdicts[1].output_tokens = PairedChange{0.0, 10.0, {}, {}};  // a change from nothing has no ratio
    ArmSummary& arm = run.summary.students[0].arms[Arm::kSkill];
    arm.answered = 10;
    arm.passed = 9;
  }

  // Which clauses hold for which student: "haiku:1 glm:0".
  std::string Check(const std::string& text) const {
    const Result<Gate> gate = ParseGate(text);
    if (!gate) return gate.error().message;
    if (const Status known = CheckGateModels(*gate, run.plan()); !known) return known.error().message;
    std::string out;
    for (const GateResult& result : CheckGate(*gate, run))
      out += (out.empty() ? "" : " ") + result.model + (result.passed ? ":1" : ":0");
    return out;
  }

  std::vector<GateResult> Results(const std::string& text) const { return CheckGate(*ParseGate(text), run); }

  JudgedRun run;
};

TEST(ParseGate, Clauses) {
  const Result<Gate> gate = ParseGate(" helps: haiku , glm ;not-hurts:*; tokens<+20%;; lift:haiku>10 ;");
  ASSERT_TRUE(gate.ok());
  ASSERT_THAT(gate->clauses, SizeIs(4));
  EXPECT_EQ(gate->clauses[0].kind, GateClause::Kind::kVerdict);
  EXPECT_EQ(gate->clauses[0].verdict, Verdict::kHelps);
  EXPECT_THAT(gate->clauses[0].models, ElementsAre("haiku", "glm"));
  EXPECT_EQ(gate->clauses[1].kind, GateClause::Kind::kNotVerdict);
  EXPECT_TRUE(gate->clauses[1].models.empty());
  EXPECT_TRUE(gate->clauses[2].less);
  EXPECT_DOUBLE_EQ(gate->clauses[2].bound, 0.2);
  EXPECT_FALSE(gate->clauses[3].less);
  EXPECT_DOUBLE_EQ(gate->clauses[3].bound, 0.1);
  EXPECT_EQ(gate->clauses[3].text, "lift:haiku>10");
}

TEST(ParseGate, ErrorsNameTheProblem) {
  const auto error = [](const std::string& text) { return ParseGate(text).error().message; };
  EXPECT_THAT(error("wins:*"), HasSubstr("gate clause 'wins:*': unknown verdict 'wins'"));
  EXPECT_THAT(error("helps"), HasSubstr("name the models"));
  EXPECT_THAT(error("helps:"), HasSubstr("no model after the colon"));
  EXPECT_THAT(error("joy>3"), HasSubstr("unknown quantity 'joy'"));
  EXPECT_THAT(error("lift>"), HasSubstr("not a number"));
  EXPECT_THAT(error("lift>ten"), HasSubstr("not a number"));
  EXPECT_THAT(error("lift>1e999"), HasSubstr("not a number"));
  EXPECT_THAT(error("tokens<nan%"), HasSubstr("not a number"));
  EXPECT_THAT(error(" ; "), HasSubstr("the gate is empty"));
}

TEST(CheckGate, Verdicts) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("helps:haiku"), "haiku:1");
  EXPECT_EQ(students.Check("helps:*"), "haiku:1 glm:0");
  EXPECT_EQ(students.Check("not-hurts:*"), "haiku:1 glm:0");
  EXPECT_EQ(students.Check("not-undecided:haiku,glm"), "haiku:1 glm:1");
  EXPECT_EQ(students.Check("helps:haiku; hurts:glm"), "haiku:1 glm:1");
  EXPECT_EQ(students.Results("helps:glm")[0].detail, "hurts");
}

TEST(CheckGate, Quantities) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("tokens:haiku<+20%"), "haiku:1");  // of the answer; the prompt's count in the cost
  EXPECT_EQ(students.Check("tokens:haiku<15%"), "haiku:0");   // 15 is not less than 15
  EXPECT_EQ(students.Check("cost:haiku<0"), "haiku:1");
  EXPECT_EQ(students.Check("seconds:haiku>0"), "haiku:0");
  EXPECT_EQ(students.Check("lift>10"), "haiku:1 glm:0");
  EXPECT_EQ(students.Check("lift>-20"), "haiku:1 glm:1");
  EXPECT_EQ(students.Check("pass:haiku>80%"), "haiku:1");
  EXPECT_EQ(students.Results("lift:haiku>10")[0].detail, "+36.0 points");
  EXPECT_EQ(students.Results("pass:haiku>80")[0].detail, "90.0 %");
}

TEST(CheckGate, UnknownQuantitiesDoNotPass) {
  JudgedStudents students;
  for (const char* clause : {"tokens:glm<1000", "cost:glm<1000", "seconds:glm<1000", "pass:glm>0"}) {
    EXPECT_EQ(students.Check(clause), "glm:0") << clause;
    EXPECT_EQ(students.Results(clause)[0].detail, "unknown") << clause;
  }
  students.run.verdicts[1] = {};  // no round was answered in both arms
  EXPECT_EQ(students.Check("not-hurts:glm; undecided:glm; lift:glm<100"), "glm:0 glm:0 glm:0");
}

TEST(CheckGate, AnUnknownModelIsAnError) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("helps:haiku,kimi"), "gate clause 'helps:haiku,kimi': the run has no model 'kimi'");
}

}  // namespace
}  // namespace upskill
