// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/digest/digest_item.h"

namespace upskill {

// The only place where items become text, for a teacher and for `trace digest`.

const char* DigestKindTitle(DigestKind kind);  // "Errors and what fixed them"
// "2 commands", "1 error and fix", "3 error and fix pairs".
std::string CountedItems(std::size_t count, DigestKind kind);

enum class ItemForm { kBrief, kFull };
std::string ItemText(const DigestItem& item, ItemForm form);

// The steps that an item should keep: the last ones, as many as a text of a few thousand bytes has room for.
std::size_t CountStepsToKeep(const std::vector<FixStep>& steps);

// "a.jsonl#3, #9, b.jsonl#2"; of many the first ones and their number.
std::string PlacesText(const std::vector<EventPlace>& places);

}  // namespace upskill
