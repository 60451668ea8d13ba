// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/journal/known_student.h"
#include "model/model_spec.h"

namespace upskill {

// How long a student takes for an answer while `parallel` are on their way: rough, since it depends on the machine and
// on what else it does.
struct AnswerTime {
  double seconds = 0.0;
  std::string source;  // for people: "from 12 answers of earlier runs"
};

// `output`: expected tokens of an answer. From earlier runs if there are any; else from a rate that `source` tells.
AnswerTime TimeOfAnswer(const KnownStudent& known, const ModelSpec& spec, double output, int parallel);

}  // namespace upskill
