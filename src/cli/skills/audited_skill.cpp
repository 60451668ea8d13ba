// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/audited_skill.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "audit/readable_text.h"
#include "audit/waivers.h"
#include "install/skill_archive.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxWaiverBytes = std::uint64_t{1} << 20U;

Result<FileMap> FilesOf(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return ReadAuditedFolder(path);
  ASSIGN_OR_RETURN(SkillFiles skill, ReadSkillSource(path, EvaluationFiles::kIncluded));
  return std::move(skill.files);
}

}  // namespace

Result<AuditedSkill> AuditFolder(const std::string& path, const std::string& waivers) {
  AuditedSkill skill;
  skill.path = path;
  std::error_code code;
  const fs::path absolute = fs::weakly_canonical(fs::absolute(path, code), code);
  skill.name = fs::is_directory(absolute, code) ? absolute.filename().string() : absolute.stem().string();
  ASSIGN_OR_RETURN(const FileMap files, FilesOf(path));
  skill.findings = AuditSkill(files, BuiltInAuditRules());
  if (waivers == "/dev/null") return skill;
  const fs::path file = waivers.empty() ? FolderOf(absolute) / "audit-waivers.txt" : fs::path(waivers);
  if (waivers.empty() && !fs::is_regular_file(fs::symlink_status(file, code))) return skill;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxWaiverBytes));
  ASSIGN_OR_RETURN(const std::vector<Waiver> parsed, ParseWaivers(text, file.string(), BuiltInAuditRules()));
  for (const std::string& problem : ApplyWaivers(parsed, skill.name, skill.findings))
    skill.problems.push_back(fmt::format("{}:{}", file.string(), problem));
  return skill;
}

std::string PlaceText(const AuditFinding& finding) {
  const std::string file = ExcerptLine(WithVisibleCharacters(finding.file), 80);
  return finding.line > 0 ? fmt::format("{}:{}", file, finding.line) : file;
}

Status CheckAudit(const SkillFiles& skill, const InstallSource& source) {
  constexpr std::size_t kShown = 5;
  // What a link leads to is read as a whole, with what is left out of copies.
  FileMap linked;
  if (source.mode == InstallMode::kLink) {
    ASSIGN_OR_RETURN(linked, FilesOf(source.path.string()));
  }
  const std::vector<AuditFinding> findings =
      AuditSkill(source.mode == InstallMode::kLink ? linked : skill.files, BuiltInAuditRules());
  const std::size_t severe = CountFindings(findings, Severity::kSevere);
  if (severe == 0) return {};
  std::string message = fmt::format("{} has {}:", skill.name, Counted(severe, "severe finding"));
  for (std::size_t i = 0; i < std::min(severe, kShown); ++i) {
    message += fmt::format("\n  {} {} ({}): {}", PlaceText(findings[i]), findings[i].reason, findings[i].rule,
                           findings[i].excerpt);
  }
  if (severe > kShown) message += fmt::format("\n  and {} more", severe - kShown);
  return InputError(message + "\nif you have read them and trust the skill, add --accept-findings");
}

}  // namespace upskill
