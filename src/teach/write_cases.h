// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/suite.h"
#include "teach/executed_case.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Cases for a generated suite, and the reasons why others were rejected.
struct VettedCases {
  std::vector<Case> cases;
  std::vector<std::string> rejected;  // "INPUT: reason"
};

// A request apart from case and white space.
std::string NormalInput(const std::string& text);

// Adds a case if FindCaseWeaknesses (with `run`) finds none and it isn't a duplicate (the same input apart from case
// and white space); otherwise records why it was rejected, and returns the reason. Makes its id unique.
std::string TakeCase(Case test_case, VettedCases& vetted, bool run = false);

// Tags of a case (Case::tags) that the teacher sets: what it asks for (kFileTag, kFunctionTag, kCommandTag,
// kAnswerTag), and whether it transfers the knowledge to something that isn't in the material.
inline constexpr const char* kFileTag = "file";
inline constexpr const char* kFunctionTag = "function";
inline constexpr const char* kCommandTag = "command";
inline constexpr const char* kAnswerTag = "answer";
inline constexpr const char* kTransferTag = "transfer";
// Where cases were also written blind, from the task and documents alone: which are which.
inline constexpr const char* kBlindTag = "blind";
inline constexpr const char* kRecordedTag = "recorded";

// Whether it asks for a file, a function or a command to be produced, and whether it is a transfer.
bool AsksForWork(const Case& test_case);
bool IsTransfer(const Case& test_case);

struct CaseShares {
  std::size_t work = 0;
  std::size_t transfers = 0;
  std::size_t executed = 0;  // whose checks run, compile or validate what the answer delivers
  std::size_t gaps = 0;      // of these, those that ask for a few lines of a given file: what a small student can write
};
// The shares of cases that ask for work and that are transfers, of `total`, rounded up.
CaseShares SharesWanted(std::size_t total);
CaseShares SharesOf(const std::vector<Case>& cases);

// Schema of a teacher's cases: {kind, transfer, input, contains, any_of, not_contains, checks, output_file, reference,
// cites}, and RunSchemas where something can run. `tight`: short cases with `contains` alone, after an answer that was
// cut off or unusable.
Json CasesSchema(std::size_t most, bool tight = false, const TestRunners& runners = {});
Result<Case> CaseFromTeacher(const Json& json);

struct CaseOptions {
  std::size_t cases = 16;  // with those of `had`
  VettedCases had;         // what there is, to which others are added, and what was rejected before
  const Prompts* prompts = &BuiltInPrompts();
  std::size_t context_tokens = kDefaultDigestTokens;
  Teacher* reader = nullptr;  // takes the notes on material that is too long (FitItems); null: the one that writes
  int tries = 3;              // requests for replacements of rejected cases
  bool blind = false;         // must be answered by a chat that has seen nothing of the material before
  bool about_code = false;    // even if the material shows none
};

// Asks the teacher for cases from the task and the material, without showing it a skill. If the material has items, a
// case that cites none of them is rejected. What exceeds the shares of SharesWanted is put aside and asked for again,
// with what is missing; it is used only if the teacher still gives nothing better after all tries. If the material has
// code and something can run here, half of the cases shall run what the answer delivers, three quarters of these on a
// gap; those that fail on their own reference go back to the teacher with what they printed.
Result<VettedCases> WriteCases(Teacher& teacher, const Material& material, const CaseOptions& options);

// Indices of the held-out cases: the fraction `holdout`, drawn by `seed` and the inputs; at least one, and never all of
// two or more cases. Each kind of case (by its tags and by what decides about its answers) has its share of them,
// within one case.
std::vector<std::size_t> HeldOut(const std::vector<Case>& cases, double holdout, std::uint64_t seed);

// A suite of some of the cases.
Suite SuiteOf(const std::vector<Case>& cases, const std::vector<std::size_t>& indices);

}  // namespace upskill
