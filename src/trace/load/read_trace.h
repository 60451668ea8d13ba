// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "trace/format.h"
#include "trace/read/line_source.h"
#include "trace/trace.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

struct TraceReadOptions {
  // A damaged record is an error. Otherwise it becomes a TraceProblem and the rest is read. A torn last line is never
  // an error, because the session may still be running.
  bool strict = false;
  std::optional<TraceFormat> format = std::nullopt;          // overrides detection
  std::size_t max_record_bytes = std::size_t{64} << 20U;     // of one JSONL line
  std::size_t max_document_bytes = std::size_t{256} << 20U;  // of a file read as a whole, or of unpacked data
  const StopFlag* stop = nullptr;                            // greater than 0: ends with kCancelled
};

// Reads one trace of any known format. Error messages name file and line and say what to do.
Result<Trace> ReadTrace(const std::filesystem::path& path, const TraceReadOptions& options);
Result<Trace> ReadTrace(LineSource source, const TraceReadOptions& options);

// The records (or the text) of one kind of trace, without detection: for fuzzing a reader.
Trace ReadTraceAs(TraceFormat format, std::string text);

}  // namespace upskill
