// SPDX-License-Identifier: Apache-2.0
#include "teach/stage_lines.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

TEST(StageLines, OneIsSingular) {
  Candidate candidate;
  candidate.skill.name = "adding";
  candidate.tokens = 1;
  Draft draft;
  draft.sections = {{"Rules", {{"Add.", {"d1"}}}}};
  Material material;
  material.items.push_back({"d1", MaterialKind::kFact, "Add.", {}});
  BodyTarget target;
  target.estimated = false;
  EXPECT_EQ(DraftLine(candidate, draft, {}, material, target), "adding · 1 token · 1 rule, all citing a source");
  EXPECT_EQ(DraftLine(candidate, draft, {"Build:\n\n```\nmake\n``` (d1)"}, material, target),
            "adding · 1 token · 1 rule, left out 1 rule without content or support in the material: \"Build: ``` "
            "make ``` (d1)\"");
  EXPECT_EQ(SplitLine(0, 1), "only one test: it is held out, so nothing is refined");
  EXPECT_EQ(SplitLine(1, 1), "1 train test, 1 held out");
  EXPECT_EQ(SplitLine(8, 8), "8 train tests, 8 held out");
  candidate.kind = "draft";
  EXPECT_EQ(VerdictLine(candidate, 1), "candidate 0 (draft), measured once on the held-out test");
  EXPECT_EQ(VerdictLine(candidate, 8), "candidate 0 (draft), measured once on the 8 held-out tests");
}

TEST(StageLines, WhyACandidateWasScreenedOut) {
  Candidate candidate;
  candidate.kind = "shorter";
  EXPECT_EQ(ScreenedOutStatus(candidate, {0, 3}), "screened out: only 0 of the 3 passing answers still pass");
  EXPECT_EQ(ScreenedOutStatus(candidate, {1, 3}), "screened out: only 1 of the 3 passing answers still passes");
  EXPECT_EQ(ScreenedOutStatus(candidate, {0, 1}), "screened out: the only passing answer no longer passes");
  candidate.kind = "edit";
  EXPECT_EQ(ScreenedOutStatus(candidate, {2, 3}),
            "screened out: 2 answers to the failing tests pass, 3 before the change");
  EXPECT_EQ(ScreenedOutStatus(candidate, {1, 1}),
            "screened out: 1 answer to the failing tests passes, 1 before the change");
}

}  // namespace
}  // namespace upskill
