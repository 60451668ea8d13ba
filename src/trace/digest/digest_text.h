// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/digest/digest_item.h"

namespace upskill {

// Turns items into text, both for a teacher and for `trace digest`.

const char* DigestKindTitle(DigestKind kind);  // "Errors and what fixed them"
const char* DigestItemTitle(DigestKind kind);  // of one item: "Error and its fix"
// "2 commands", "1 error and fix", "3 error and fix pairs".
std::string CountedItems(std::size_t count, DigestKind kind);

// kWhole: as kFull, but files with all of their content.
enum class ItemForm { kBrief, kFull, kWhole };
std::string ItemText(const DigestItem& item, ItemForm form);

// The number of steps, counted from the last, that fit into a text of a few thousand bytes.
std::size_t CountStepsToKeep(const std::vector<FixStep>& steps);

// "a.jsonl#3, #9, b.jsonl#2"; if there are many, the first ones and the number of others.
std::string PlacesText(const std::vector<EventPlace>& places);

}  // namespace upskill
