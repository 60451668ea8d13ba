// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "teach/draft.h"
#include "teach/known_file.h"
#include "teach/material.h"

namespace upskill {

// The parts of a skill that is extracted without a model. Each rule cites the places that prove it; a part without
// rules says that the recording has nothing of the kind.

// A file that the recording tells something about, and its place.
struct SourcedFile {
  KnownFile file;
  std::string path;  // below the project's folder
  std::string place;
  bool config = false;
};

// The files that were written and still exist, below the folder that most of them are in, by path.
std::vector<SourcedFile> ProjectFiles(const Material& material);
bool IsConfigurationFile(const std::string& path);
// The folder that most of the written files are in, with a slash at its end; empty if they have no absolute paths.
std::string ProjectFolderOf(const Material& material);

// One rule with all of them as a tree, if there are at least two.
Section LayoutPart(const std::vector<SourcedFile>& files);
// One rule for each configuration file, complete ones first, then the smallest; without sections that only repeat the
// keys of an earlier one if `condensed`.
Section ConfigurationPart(const std::vector<SourcedFile>& files, bool condensed);
// How the code makes its functions known to a library, a framework or a program: one example, and the other names.
Section RegistrationPart(const std::vector<SourcedFile>& files);
// Commands that built, tested or ran something and worked.
Section RanCommandsPart(const Material& material);
// Commands that build, test or run something and that the agent only wrote down.
Section ToldCommandsPart(const Material& material);
Section CorrectionsPart(const Material& material);
// Commands that failed, and the change that made them work.
Section FixesPart(const Material& material);
// What the agent stated in answer to the user's questions.
Section AnswersPart(const Material& material);

}  // namespace upskill
