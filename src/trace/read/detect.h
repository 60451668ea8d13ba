// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "trace/format.h"
#include "trace/read/record.h"

namespace upskill {

// How the bytes of a trace are cut into records.
enum class TraceShape { kLines, kDocument, kText, kArchive, kYaml };

struct TraceDetection {
  TraceFormat format = TraceFormat::kNotes;
  TraceShape shape = TraceShape::kText;
};

// Looks at the front of a trace, never at its name. For JSON that is one document (kDocument) the format is decided by
// DetectDocument, once it is parsed.
TraceDetection DetectTrace(std::string_view front);

// The format of a whole JSON document; nothing if it is none of the known ones.
std::optional<TraceDetection> DetectDocument(const Json& document);

// The JSON of a line: without the "data:" of an event stream.
std::string_view RecordInLine(std::string_view line);

}  // namespace upskill
