// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "trace/read/builder.h"
#include "trace/read/record.h"

namespace upskill {

// Turns the records of one format into events. A record is a line of a JSONL file, an element of a JSON list, or a
// whole JSON document; readers move texts out of it. No record is an error: unknown ones are counted.
class RecordReader {
 public:
  RecordReader() = default;
  virtual ~RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  virtual void Add(Json& record, std::size_t line) = 0;
  virtual void Finish() {}
};

using RecordReaderPtr = std::unique_ptr<RecordReader>;

// The builder must outlive the reader.
RecordReaderPtr MakeClaudeCodeReader(TraceBuilder& builder);  // sessions and print mode
RecordReaderPtr MakeCodexRolloutReader(TraceBuilder& builder, const std::string& subagent = "");
RecordReaderPtr MakeCodexExecReader(TraceBuilder& builder);
RecordReaderPtr MakeGeminiReader(TraceBuilder& builder);
RecordReaderPtr MakeOpenCodeReader(TraceBuilder& builder);
RecordReaderPtr MakePiReader(TraceBuilder& builder);
RecordReaderPtr MakeCopilotReader(TraceBuilder& builder);
RecordReaderPtr MakeFastAgentReader(TraceBuilder& builder);
RecordReaderPtr MakeAtifReader(TraceBuilder& builder);
RecordReaderPtr MakeInspectReader(TraceBuilder& builder);  // a log, or one sample of an archive
RecordReaderPtr MakeSweAgentReader(TraceBuilder& builder);
RecordReaderPtr MakeMiniSweAgentReader(TraceBuilder& builder);
RecordReaderPtr MakeChatMessagesReader(TraceBuilder& builder);  // OpenAI and Anthropic
RecordReaderPtr MakeHfStsReader(TraceBuilder& builder);

// Text formats.
void ReadClaudeCodeExport(std::string_view text, TraceBuilder& builder);
void ReadFastAgentText(std::string_view text, TraceBuilder& builder);
void ReadCursorMarkdown(std::string_view text, TraceBuilder& builder);
void ReadSpecStoryMarkdown(std::string_view text, TraceBuilder& builder);
void ReadNotes(std::string_view text, TraceBuilder& builder);

}  // namespace upskill
