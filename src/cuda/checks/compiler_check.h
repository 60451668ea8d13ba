// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/text_checks.h"
#include "cuda/device/kernel_runner.h"
#include "sandbox/sandbox.h"

namespace upskill {

// Which sources of an answer a check compiles.
struct SourceChoice {
  std::string_view what;       // for messages: CUDA source
  std::string_view suffix;     // of the files' paths: .cu
  std::string_view unnamed;    // the file that a block without a name becomes: answer.cu
  std::string_view languages;  // of such a block, separated by blanks
  std::string_view marker;     // which such a block contains
};

// The paths of the sources, among the files of the answer, to which an unnamed one is added: the subject's file, else
// all that fit the choice. Empty if the answer has none; MissingSource judges that.
std::vector<std::string> ChooseSources(const CheckSubject& subject, const SourceChoice& choice,
                                       const CheckedAnswer& answer, std::map<std::string, std::string>& files);
CheckResult MissingSource(const CheckSubject& subject, const SourceChoice& choice, const CheckedAnswer& answer);
// Why sources that don't compile aren't judged, if they are Python that compiles CUDA code itself (load_inline); empty
// for any others.
std::string WhyInlinePython(const std::vector<std::string>& sources, const std::map<std::string, std::string>& files);

// A check that compiles sources of the answer in the sandbox: the subject's file, else all that fit the choice. It is
// skipped where a compiler is missing.
class CompilerCheck : public Check {
 public:
  // The sandbox outlives the check.
  CompilerCheck(CheckSubject subject, SourceChoice choice, const Sandbox& sandbox)
      : subject_(std::move(subject)), choice_(choice), sandbox_(sandbox) {}

  CheckResult Run(const CheckedAnswer& answer) const final;
  std::string WhyItCannotPass() const final;

 protected:
  const Sandbox& sandbox() const { return sandbox_; }

 private:
  // What is missing here, and what to do; empty if nothing is.
  virtual std::string WhatIsMissing() const = 0;
  // Makes the command that compiles these sources, and adds the files that it needs to those of the answer. It first
  // prints the compilers' versions on a line of their own.
  virtual void Prepare(const std::vector<std::string>& sources, SandboxCommand& command) const = 0;
  // Of sources that compile: what is wrong with them all the same; empty if nothing is.
  virtual std::string FindProblem(const SandboxOutcome& run) const = 0;
  // Why an error of the compiler doesn't tell whether the answer is wrong; empty if it does.
  virtual std::string WhyUnclear(std::string_view error) const;

  std::string WhyNot() const;

  CheckSubject subject_;
  SourceChoice choice_;
  const Sandbox& sandbox_;
};

}  // namespace upskill
