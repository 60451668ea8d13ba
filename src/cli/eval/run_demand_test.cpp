// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/run_demand.h"

#include <gmock/gmock.h>

#include "support/fake_model.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Plan PlanWith(std::size_t skill_bytes, int rounds) {
  Plan plan;
  plan.skill.body.assign(skill_bytes, 'x');
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = rounds;
  plan.suite.cases.resize(10);
  return plan;
}

class Priced : public FakeModel {
 public:
  Priced(double usd_per_million, std::int64_t context)
      : FakeModel("m", 1, [](const ChatRequest&, std::size_t) { return std::nullopt; }), own_(FakeModel::info()) {
    own_.price.emplace();
    own_.price->input = usd_per_million;
    own_.context_tokens = context;
  }
  const ModelInfo& info() const override { return own_; }

 private:
  ModelInfo own_;
};

std::vector<std::unique_ptr<Model>> One(double usd_per_million, std::int64_t context = 0) {
  std::vector<std::unique_ptr<Model>> models;
  models.push_back(std::make_unique<Priced>(usd_per_million, context));
  return models;
}

TEST(RunDemand, ASkillThatCannotFitIsRefused) {
  const RunDemand demand = DemandOf(PlanWith(300'000, 1));
  EXPECT_FALSE(CheckSkillFits(demand, One(0.0, 8'192)));
  EXPECT_TRUE(CheckSkillFits(demand, One(0.0, 128'000)));
  EXPECT_TRUE(CheckSkillFits(demand, One(0.0, 0))) << "unknown";
}

TEST(RunDemand, LargeCostsNeedALimit) {
  const RunDemand demand = DemandOf(PlanWith(300'000, 10));  // 100 answers with 100,000 tokens each
  const Result<std::string> refused = CheckCost(demand, One(3.0), false);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("--max-cost"));
  EXPECT_TRUE(CheckCost(demand, One(3.0), true).ok());
  const Result<std::string> noted = CheckCost(demand, One(0.1), false);
  ASSERT_TRUE(noted.ok());
  EXPECT_THAT(*noted, HasSubstr("$1"));
  EXPECT_THAT(*CheckCost(DemandOf(PlanWith(1'500, 1)), One(1.0), false), IsEmpty());
}

}  // namespace
}  // namespace upskill
