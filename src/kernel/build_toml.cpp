// SPDX-License-Identifier: Apache-2.0
#include "kernel/build_toml.h"

#include <fmt/format.h>

#include <variant>

#include "kernel/build_reader.h"
#include "kernel/toml_tree.h"

namespace upskill {
namespace {

std::vector<KernelProblem> SortedProblems(const BuildReader& reader) { return ProblemList(reader.problems()).Sorted(); }

// What to say about a file that is in order by an old schema.
KernelProblem OldFormat(const TomlNode& general, BuildSchema schema, const std::string& file) {
  return {file, general.at,
          fmt::format("this is the old {} format, which kernel-builder no longer builds; migrate it with "
                      "`kernel-builder update-build`, or write edition 5 (name, version, edition, license and backends "
                      "in [general])",
                      BuildSchemaName(schema))};
}

ParsedBuildToml ReadWithoutEdition(const TomlNode& document, const TomlNode& general, const std::string& file) {
  BuildReader v4(kSchemaV4, file);
  v4.Read(document);
  ParsedBuildToml parsed = {v4.build(), SortedProblems(v4)};
  if (parsed.problems.empty()) return parsed;
  for (const BuildSchema schema : {kSchemaV3, kSchemaV2, kSchemaV1}) {
    BuildReader old(schema, file);
    old.Read(document);
    if (!old.problems().empty()) continue;
    parsed.build = old.build();
    parsed.problems.insert(parsed.problems.begin(), OldFormat(general, schema, file));
    return parsed;
  }
  for (KernelProblem& problem : parsed.problems) {
    if (problem.message.find("edition") == std::string::npos) {
      problem.message += " (read by the rules before editions, since [general] has no `edition = 5`)";
      break;
    }
  }
  return parsed;
}

}  // namespace

ParsedBuildToml ParseBuildToml(std::string_view text, const std::string& file) {
  const std::variant<TomlNode, KernelProblem> read = ParseTomlTree(text, file);
  if (const auto* problem = std::get_if<KernelProblem>(&read)) return {{}, {*problem}};
  const auto& document = std::get<TomlNode>(read);
  const TomlNode* const general = document.Find("general");
  if (general != nullptr && general->kind == TomlNode::Kind::kTable && general->Find("edition") == nullptr)
    return ReadWithoutEdition(document, *general, file);
  BuildReader reader(kSchemaV5, file);
  reader.Read(document);
  return {reader.build(), SortedProblems(reader)};
}

}  // namespace upskill
