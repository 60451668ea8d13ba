// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "check/data_text.h"
#include "skill/check_types.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Makes a check of one type from what a suite states. Errors: those of MakeCheck.
using CheckMaker = Result<std::unique_ptr<Check>> (*)(const CheckSpec& spec, CaseParts& parts);

struct CheckMakerRow {
  CheckKind kind;
  CheckMaker make;
};

// Why checks of a type without a maker are skipped.
inline constexpr const char* kWingMissing = "this upskill was built without CUDA checks (UPSKILL_CUDA=OFF)";

// The registry: for each type of kCheckTypes, what makes its checks. nullptr if nothing in this program does: the type
// belongs to a wing that it was built without.
CheckMaker FindCheckMaker(CheckKind kind);

// Adds the makers of a wing. Call it before other threads make checks; again, it changes nothing.
void AddCheckMakers(std::span<const CheckMakerRow> makers);

// The numbers in a text that stand on their own, not within words such as SXM5 or sm_90: decimal, with a sign ('-' or
// U+2212), commas between groups of three digits, a fraction, an exponent. With a unit, only those that it follows,
// after at most one space; its case counts. Not those that no double can hold.
std::vector<double> NumbersIn(std::string_view text, std::string_view unit);

// `number`: the last number of the text (with the `unit`, if one is given) is the `value`, within `tolerance`
// (absolute) or `relative_tolerance` (of the value's size), whichever allows more; by default 1e-9 of it. Or it is from
// `minimum` to `maximum`. Errors: none of value, minimum and maximum; both kinds; a negative tolerance; minimum above
// maximum; a wrong type.
Result<std::unique_ptr<Check>> MakeNumber(const CheckSpec& spec, CaseParts& parts);

// `json_value`, `toml_value`, `yaml_value`: one of the values at the path `at` (DataPath) equals `equals` (numbers by
// their value, objects regardless of the order of keys), is in the list `one_of`, or is a string, number or flag whose
// text the RE2 `pattern` matches anywhere; with `exists` (true by default) alone, there is a value, or with false,
// none. A YAML scalar equals the text that it is, and the number that it is as a whole. The data is the file, or the
// block or text that the answer consists of (DataInAnswer). Errors: no `at`, two of the four conditions, a wrong type,
// a bad path or pattern.
Result<std::unique_ptr<Check>> MakeValueCheck(DataFormat format, const CheckSpec& spec, CaseParts& parts);

// `json_schema`: the data fits `schema` (CheckJsonSchema has the keywords). Errors: no schema, or one that isn't an
// object or flag, or has a `pattern` that RE2 rejects.
Result<std::unique_ptr<Check>> MakeJsonSchema(const CheckSpec& spec, CaseParts& parts);

// `tool_call`: how often a student that works in a workspace has called a tool (`tool`: its name, or a list of names,
// any of which counts), at least `minimum` and at most `maximum` times; by default at least once, or with a `maximum`
// alone any number up to it. Only calls count whose `arguments` have the given members (objects within them too;
// everything else must be equal), or whose arguments as text match the RE2 `pattern`. It is skipped where there are no
// calls to look at, and where what was stored of long arguments doesn't decide. Errors: no tool, a member of the wrong
// type, a `maximum` below the `minimum`, arguments of more than 16 KiB, a pattern that RE2 rejects.
Result<std::unique_ptr<Check>> MakeToolCall(const CheckSpec& spec, CaseParts& parts);

// `kernel_builder`: the answer's files are a project that Hugging Face's kernel-builder would build, as far as their
// text shows (JudgeKernelProject). The project is the folder of `file`, else of the build.toml with the shortest path;
// an answer without one may have it as its only block of TOML. Options:
//   require       what is judged beside build.toml: "sources", "layout", "bindings". By default all of them if the
//   answer
//                 has other files of a project, else none.
//   capabilities  compute capabilities that the project must have code for, such as "9.0"
//   backends      backends that it must list
//   edition       the lowest edition of build.toml: 4 (the default) or 5
// The first five problems are named. Errors: options of the wrong type, or with unknown values.
Result<std::unique_ptr<Check>> MakeKernelBuilder(const CheckSpec& spec, CaseParts& parts);

// `all`, `any` and `at_least`: other checks as one. It is skipped if the outcome depends on members that are skipped.
// `at_least` passes if the weights of the members that pass add up to `count`. Errors: those of the members; `count`
// missing, not positive, or above the sum of all weights.
Result<std::unique_ptr<Check>> MakeGroup(CheckKind kind, const CheckSpec& spec, CaseParts& parts);

// A check that can't run here.
std::unique_ptr<Check> MakeSkipped(const CheckSpec& spec);

}  // namespace upskill
