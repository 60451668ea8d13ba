// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// The files of a desk (model/desk_model.h): NNNN-request.md, NNNN-new.md and NNNN-answer.md.
inline constexpr std::uint64_t kMaxDeskFileBytes = 16ULL << 20U;

std::string DeskRequestName(int number);
std::string DeskNewName(int number);
std::string DeskAnswerName(int number);

struct DeskNumbers {
  std::set<int> requests;
  int last = 0;  // of a request or an answer: one whose request was deleted must not answer another one
};
Result<DeskNumbers> DeskNumbersIn(const std::filesystem::path& folder);

// What is new in a request to a chat that has the earlier ones, if there is such a file; otherwise, and if `whole`, the
// request itself.
std::filesystem::path DeskFileToPaste(const std::filesystem::path& folder, int number, bool whole = false);

// Whether it has the line kForNewChat (model/structured_answer.h).
bool IsForNewChat(std::string_view request);

// The hexadecimal key by which a later session recognizes a request.
std::string DeskKeyOf(std::string_view request);

// The first line of a request's file, and the key in it; nothing for other files.
std::string DeskMark(const std::string& key);
std::optional<std::string> DeskKeyIn(std::string_view file);

// `request` for a chat that has seen `earlier`: at least ten lines and 2,000 bytes in a row that one of those has, too,
// are replaced by a line that says so. Empty if nothing is replaced.
struct DeskEarlier {
  int number = 0;
  std::string text;
};
std::string DeskNewText(std::string_view request, const std::vector<DeskEarlier>& earlier);

// An answer: valid UTF-8, without a byte order mark and white space around it. May be empty.
std::string DeskAnswerText(std::string_view file);

}  // namespace upskill
