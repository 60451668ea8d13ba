// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/sim.h"
#include "support/fake_teacher.h"
#include "teach/generate.h"
#include "util/temp_folder.h"

namespace upskill {

// For tests: a generation in a folder of its own, with a simulated student that is as good as the skill's text claims.
class GenerationBench {
 public:
  explicit GenerationBench(FakeTeacher::Script script, const std::string& student = "base=0.2,skill=body,seed=1")
      : teacher_model(std::move(script)) {
    student_spec = student;
    material.task = "add numbers";
    options.cases = 16;
    options.attempts = 5;
    options.candidates = 1;
    options.critique = false;
  }

  Result<GenerateOutcome> Run() {
    Result<std::unique_ptr<Model>> student = MakeSimModel(student_spec, 64);
    EXPECT_TRUE(student.ok());
    Result<Teacher> teacher = Teacher::Open(teacher_model, folder.path() / "calls.jsonl", nullptr, teacher_clock);
    EXPECT_TRUE(teacher.ok());
    GenerateInput input;
    input.material = &material;
    input.options = options;
    input.teacher = &*teacher;
    input.test_teacher = &*teacher;
    input.earlier = earlier;
    input.trials.models = {student->get()};
    input.trials.students = {{"sim:" + student_spec, "student", (*student)->info().identity}};
    input.trials.runs_dir = folder.path() / "runs";
    input.trials.clock = &clock;
    input.trials.stop = &stop;
    input.trials.on_run = on_run;
    input.trials.test_looks_before = test_looks_before;
    return GenerateSkill(input);
  }

  TempFolder folder;
  SystemClock clock;
  const Clock* teacher_clock = nullptr;  // null: the system's
  StopFlag stop = 0;
  FakeTeacher teacher_model;
  std::string student_spec;
  Material material;
  GenerateOptions options;
  std::vector<Case> earlier;
  int test_looks_before = 0;
  std::function<Status(const std::string& stage, const std::string& run)> on_run;
};

// A first draft with the first quality of the list; the other ones as the proposals of one attempt.
inline FakeTeacher::Script AtOnce(std::vector<std::string> qualities) {
  return [qualities = std::move(qualities)](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft " + qualities[0]));
    if (!AsksFor(request, "proposals")) return DumpJson({{"description", "What is left."}});
    Json proposals = Json::array();
    for (std::size_t k = 1; k < qualities.size(); ++k)
      proposals.push_back(ProposalJson("change", "# Adding\n\nRewrite " + std::to_string(k) + " " + qualities[k]));
    return DumpJson({{"proposals", proposals}});
  };
}

// A first draft, then one rewrite an attempt with the quality of the list.
inline FakeTeacher::Script Qualities(std::vector<std::string> qualities) {
  auto next = std::make_shared<std::size_t>(0);
  return [qualities = std::move(qualities), next](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    const std::string mark = qualities[std::min(*next, qualities.size() - 1)];
    ++*next;
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft " + mark));
    return DumpJson(
        {{"proposals", Json::array({ProposalJson("attempt " + std::to_string(*next),
                                                 "# Adding\n\nRewrite " + std::to_string(*next) + " " + mark)})}});
  };
}

}  // namespace upskill
