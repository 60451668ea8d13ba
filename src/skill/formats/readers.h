// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "skill/formats/converted_suite.h"
#include "util/result.h"

namespace upskill {

// Whether the document is a manifest of the Python tool of the same name: {"scenarios": [{"id", "skills", "tests",
// "judge"}]}, in .upskill/evals.json.
bool IsCiManifest(const Json& document);

// Whether a scenario of the manifest names the skill in this folder.
bool ManifestNames(const Json& manifest, const std::filesystem::path& file, const std::filesystem::path& skill);

// The cases of the scenarios that name the skill in `skill` (of all, if it is empty or none does), with the scenario
// before their ids. Names in the manifest count from its folder, or from the one that has `.upskill`. `read` reads a
// file of cases. Errors: a malformed scenario, a file that leads out of that folder or can't be read.
Result<ConvertedSuite> ConvertCiManifest(
    const Json& manifest, const std::filesystem::path& file, const std::filesystem::path& skill,
    const std::function<Result<ConvertedSuite>(const std::filesystem::path&)>& read);

// The cases of an evals.json, as agentskills.io (docs/skill-creation/evaluating-skills) and skill-creator
// (references/schemas.md) write it: {"skill_name", "evals": [{"id", "prompt", "expected_output", "files",
// "assertions" or "expectations"}]}. Assertions become checks of the judge; files, named from the skill's folder or
// from the file's own, become the case's context. A case that has checks in this program's form is kept as it is.
// `list`: the evals; `lines`: of each.
ConvertedSuite ConvertEvals(const Json& list, const std::vector<std::size_t>& lines, const std::filesystem::path& file);

// Whether the list has a case of that form.
bool HasProseCases(const Json& list);

// One record of a file of lines, or of a list.
struct FileRecord {
  Json json;
  std::string place;  // `FILE:LINE`
};

// Whether the records are samples of Inspect (inspect_ai.dataset.json_dataset): {"input", "target", "choices", "id",
// "metadata", "files"}.
bool HasInspectSamples(const std::vector<FileRecord>& records);

// The target, which Inspect leaves to a scorer that isn't in the file, is what the answer must contain, ignoring case,
// as Inspect's `includes` has it; of several targets, one. With choices, the answer must end with the target's letter,
// as its `choice` has it.
ConvertedSuite ConvertInspectSamples(const std::vector<FileRecord>& records, const std::filesystem::path& file);

// Whether the document is a configuration of promptfoo ({"prompts", "defaultTest", "tests"}) or a list of its tests
// ({"vars", "assert"}). Format: https://www.promptfoo.dev/docs/configuration/reference/.
bool IsPromptfoo(const Json& document);

// A case for each test, prompt and combination of listed variables. Providers are left to `-m`. Prompts, tests and
// values in files are looked for in the file's folder and below; what code would make is a warning. `lines`: of the
// tests. Errors: more than 10,000 cases, no prompt, a file of tests that can't be read.
Result<ConvertedSuite> ConvertPromptfoo(const Json& document, const std::vector<std::size_t>& lines,
                                        const std::filesystem::path& file);

// Whether the list has queries that should, or should not, make an agent load the skill: [{"query",
// "should_trigger"}] (eval_queries.json of agentskills.io, run_eval.py of skill-creator).
bool HasTriggerQueries(const Json& list);

// One case for each, with a check of the type `activates`, which is skipped except where activation is measured.
// Errors: a query that is no text, "should_trigger" that is missing or not true or false, with their places.
Result<ConvertedSuite> ConvertTriggerQueries(const Json& list, const std::vector<std::size_t>& lines,
                                             const std::filesystem::path& file);

// The folder with the cases of `claude plugin eval` for the skill or plugin in `folder`: its evals/, else that of the
// plugin that it is in, or what the plugin's manifest names instead. Empty: there are none.
std::filesystem::path PluginCasesOf(const std::filesystem::path& folder);

// The cases in a folder of them: below it, those with a case.yaml, or with a prompt.md and graders/
// (https://code.claude.com/docs/en/plugin-evals). A grader without a counterpart is a warning, and the case's others
// decide. `skill`: cases whose graders are about the use of other skills are left out; if it isn't a skill, none are.
// Errors: no case, one without a prompt, a file that can't be read.
Result<ConvertedSuite> ConvertPluginCases(const std::filesystem::path& root, const std::filesystem::path& skill);

}  // namespace upskill
