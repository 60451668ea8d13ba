// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with one input on its way to the engine and back.

// The contents of a conversation, separated by lines of `---`: their special texts are hidden and found again.
void FuzzSpecialTexts(std::string_view input);

// The same through chat templates: only the template writes special tokens, and every text arrives as it was.
void FuzzChatTemplate(std::string_view input);

// What a worker process writes: messages, each after its length, or a single message.
void FuzzWorkerMessages(std::string_view input);

}  // namespace upskill
