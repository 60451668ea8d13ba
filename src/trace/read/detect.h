// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "trace/format.h"
#include "trace/read/record.h"

namespace upskill {

// How a trace is divided into records.
enum class TraceShape { kLines, kDocument, kText, kArchive, kYaml };

struct TraceDetection {
  TraceFormat format = TraceFormat::kNotes;
  TraceShape shape = TraceShape::kText;
  bool unknown_records = false;  // JSON lines, but of no known format; `format` is kNotes
};

// Detects the format from the front of a trace, never from its name. For a single JSON document (kDocument),
// DetectDocument decides once it is parsed.
TraceDetection DetectTrace(std::string_view front);

// The format of a whole JSON document; nothing if it is unknown.
std::optional<TraceDetection> DetectDocument(const Json& document);

// Where the JSON document begins: `opencode export` may print a line about its progress first.
std::size_t StartOfDocument(std::string_view text);

// Whether the object is of a session of Qwen Code, whose messages are Gemini CLI's.
bool IsQwenRecord(const Json& record);

// The JSON in a line, without the "data:" of an event stream.
std::string_view RecordInLine(std::string_view line);

// The list of records in the document of a claude.ai/code session, each as in a line of Claude Code's files; not an
// array if there is none.
const Json& SessionLinesIn(const Json& document);

}  // namespace upskill
