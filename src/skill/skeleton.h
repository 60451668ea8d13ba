// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// What `upskill init` writes to be replaced, and `upskill validate --strict` finds where it wasn't.
inline constexpr const char* kSkeletonDescription =
    "Says in a sentence what the skill does. Use it when the user asks for this, or works with these files.";
inline constexpr const char* kSkeletonInstruction =
    "Write what a model needs to know and doesn't know yet: the names, values and steps that it gets wrong without "
    "the\n"
    "skill. Leave out what it does right anyway.\n";
inline constexpr const char* kSkeletonExample = "the answer of this skill is 42\n";
inline constexpr const char* kSkeletonQuestion = "What is the answer of this skill?";

}  // namespace upskill
