// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "audit/audit.h"
#include "install/install.h"
#include "util/result.h"

namespace upskill {

struct AuditedSkill {
  std::string path;  // as it was given or found
  std::string name;  // of its folder or archive
  std::vector<AuditFinding> findings;
  std::vector<std::string> problems;  // of the file whose waivers were applied, with its name and line
};

// Audits a skill's folder or archive. Waivers are those of `waivers` or, if it is empty, of audit-waivers.txt in the
// folder that the skill's folder is in, and none with "/dev/null": never of a file inside the skill, which its author
// writes. Error: the skill or the waivers can't be read.
Result<AuditedSkill> AuditFolder(const std::string& path, const std::string& waivers);

// "scripts/setup.sh:3".
std::string PlaceText(const AuditFinding& finding);

// An error that names the severe findings of a skill that is about to be installed; waivers don't count, because they
// may come with the skill.
Status CheckAudit(const SkillFiles& skill, const InstallSource& source);

}  // namespace upskill
