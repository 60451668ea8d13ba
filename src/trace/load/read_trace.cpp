// SPDX-License-Identifier: Apache-2.0
#include "trace/load/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/formats/readers.h"
#include "trace/read/archive.h"
#include "trace/read/detect.h"
#include "trace/read/foreign_file.h"
#include "trace/read/record_parser.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

constexpr std::size_t kFrontBytes = std::size_t{256} * 1024;

RecordReaderPtr MakeReader(TraceFormat format, TraceBuilder& builder) {
  switch (format) {
    case TraceFormat::kClaudeCode:
    case TraceFormat::kClaudeCodeResult:
      return MakeClaudeCodeReader(builder);
    case TraceFormat::kCodexRollout:
      return MakeCodexRolloutReader(builder);
    case TraceFormat::kCodexExec:
      return MakeCodexExecReader(builder);
    case TraceFormat::kGeminiCli:
      return MakeGeminiReader(builder);
    case TraceFormat::kOpenCode:
      return MakeOpenCodeReader(builder);
    case TraceFormat::kPi:
      return MakePiReader(builder);
    case TraceFormat::kCopilot:
      return MakeCopilotReader(builder);
    case TraceFormat::kFastAgent:
      return MakeFastAgentReader(builder);
    case TraceFormat::kAtif:
      return MakeAtifReader(builder);
    case TraceFormat::kInspect:
      return MakeInspectReader(builder);
    case TraceFormat::kSweAgent:
      return MakeSweAgentReader(builder);
    case TraceFormat::kMiniSweAgent:
      return MakeMiniSweAgentReader(builder);
    case TraceFormat::kHfSts:
      return MakeHfStsReader(builder);
    case TraceFormat::kOpenAiMessages:
    case TraceFormat::kAnthropicMessages:
      return MakeChatMessagesReader(builder);
    case TraceFormat::kClaudeCodeExport:
    case TraceFormat::kCursor:
    case TraceFormat::kSpecStory:
    case TraceFormat::kNotes:
      break;
  }
  return nullptr;
}

bool IsTextFormat(TraceFormat format) {
  return format == TraceFormat::kClaudeCodeExport || format == TraceFormat::kCursor ||
         format == TraceFormat::kSpecStory || format == TraceFormat::kNotes;
}

// Whether more than a tenth consists of bytes that don't occur in UTF-8 text.
bool LooksBinary(std::string_view front) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const auto replacements = [&](std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(kReplacement); at != std::string_view::npos; at = text.find(kReplacement, at + 1))
      ++count;
    return count;
  };
  const auto controls = static_cast<std::size_t>(std::count_if(front.begin(), front.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 &&
           std::string_view("\t\n\v\f\r\b\a\x1b").find(c) == std::string_view::npos;
  }));
  return (controls + replacements(ReplaceInvalidUtf8(front)) - replacements(front)) * 10 > front.size();
}

void ReadText(TraceFormat format, std::string_view raw, TraceBuilder& builder) {
  const std::string text = FindInvalidUtf8(raw) ? ReplaceInvalidUtf8(raw) : std::string(raw);
  if (format == TraceFormat::kClaudeCodeExport) {
    ReadClaudeCodeExport(text, builder);
  } else if (format == TraceFormat::kFastAgent) {
    ReadFastAgentText(text, builder);
  } else if (format == TraceFormat::kCursor) {
    ReadCursorMarkdown(text, builder);
  } else if (format == TraceFormat::kSpecStory) {
    ReadSpecStoryMarkdown(text, builder);
  } else {
    ReadNotes(text, builder);
  }
}

// "name, version and 3 more": the keys of an object, to tell the user what a record holds.
std::string KeysOf(const Json& record) {
  constexpr std::size_t kMaxShown = 4;
  if (record.is_array() && record.empty()) return "no entries";
  if (!record.is_object()) return JsonTypeName(record);
  if (record.empty()) return "no keys";
  std::string text;
  std::size_t shown = 0;
  for (const auto& [key, value] : record.items()) {
    if (shown == kMaxShown) break;
    text += (shown++ == 0 ? "" : ", ") + CutToColumns(key, 40);
  }
  if (record.size() > shown) text += fmt::format(" and {} more", record.size() - shown);
  return (record.size() == 1 ? "key " : "keys ") + text;
}

Error NotATrace(const std::string& name, const std::string& what) {
  return InputError(fmt::format("{}: not a trace: it seems to be {}", name, what));
}

Error UnknownRecords(const std::string& name, std::string_view kind, const Json& record) {
  return NotATrace(name, fmt::format("{} of an unknown kind ({}), not messages of an agent; the format 'notes' takes "
                                     "it as text",
                                     kind, KeysOf(record)));
}

Status CheckNoteSize(const std::string& name, std::string_view text) {
  constexpr std::size_t kMinNoteBytes = 16;  // the shortest note that tells anything: a few words
  const std::size_t bytes = Trim(text).size();
  if (bytes >= kMinNoteBytes) return {};
  return InputError(fmt::format("{}: not a trace: only {} of text", name, Counted(bytes, "byte")));
}

// Text that merely begins with a bracket isn't: a log line "[12:00] started", a link "[](page)".
bool LooksLikeJson(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with('[')) return text.starts_with('{');
  text = Trim(text.substr(1));
  return text.starts_with('{') || text.starts_with('[') || text.starts_with('"');
}

// What the front shows not to be a trace, for which no format was given.
Status CheckIsTrace(const std::string& name, std::string_view front, const TraceDetection& detected) {
  if (const auto other = ForeignFileKind(front)) return NotATrace(name, *other);
  if (detected.format != TraceFormat::kNotes || detected.shape != TraceShape::kText) return {};
  if (detected.unknown_records) {
    const ParsedRecord first = ParseRecord(RecordInLine(front.substr(0, front.find('\n'))));
    return UnknownRecords(name, "JSON lines", first.value.value_or(Json()));
  }
  if (LooksBinary(front.substr(0, kFrontBytes)))
    return InputError(
        fmt::format("{}: neither UTF-8 text nor a known format; the format 'notes' takes it as text", name));
  return CheckNoteSize(name, front);
}

Error FaultAt(const std::string& name, std::size_t line, const std::string& reason) {
  return InputError(fmt::format("{}:{}: {}", name, line, reason));
}

Status CheckStop(const TraceReadOptions& options) {
  if (options.stop == nullptr || options.stop->load() <= 0) return {};
  return Error{ErrorKind::kCancelled, "stopped"};
}

// Reads JSON lines, holding only one at a time.
Status ReadLines(LineSource& source, const TraceReadOptions& options, RecordReader& reader, TraceBuilder& builder) {
  std::optional<std::pair<std::size_t, std::string>> fault;
  const auto settle = [&]() -> Status {
    if (!fault) return {};
    if (options.strict) return FaultAt(source.name(), fault->first, fault->second);
    builder.NoteProblem(fault->first, fault->second);
    fault.reset();
    return {};
  };
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<LineSource::Line> line, source.Next(options.max_record_bytes));
    if (!line) break;
    RETURN_IF_ERROR(CheckStop(options));
    const std::string_view text = RecordInLine(line->text);
    if (text.empty()) continue;
    RETURN_IF_ERROR(settle());
    if (line->too_long) {
      fault = {line->number, fmt::format("a record of more than {} bytes",
                                         WithThousands(static_cast<long long>(options.max_record_bytes)))};
      RETURN_IF_ERROR(settle());
      continue;
    }
    ParsedRecord parsed = ParseRecord(text);
    if (parsed.value) {
      reader.Add(*parsed.value, line->number);
    } else if (text.front() == ':' || text.substr(0, 6) == "event:" || text == "[DONE]") {
      continue;  // the rest of an event stream
    } else {
      fault = {line->number, fmt::format("{}at byte {}: {}", parsed.fault.is_limit ? "" : "not JSON ",
                                         parsed.fault.offset + 1, parsed.fault.reason)};
    }
  }
  // A torn last line means that the session is still being written.
  if (fault) builder.NoteProblem(fault->first, fault->second + " (the last line; the session may still be running)");
  return {};
}

Result<Json> ParseDocument(std::string_view text, const std::string& name, bool strict, TraceBuilder& builder) {
  text.remove_prefix(StartOfDocument(text));
  ParsedRecord parsed = ParseRecord(text);
  if (parsed.value) return std::move(*parsed.value);
  const TextPosition place = PositionAt(text, parsed.fault.offset);
  if (!strict) {
    const auto closed = CloseTruncatedJson(text, parsed.fault.offset);
    ParsedRecord rest = closed ? ParseRecord(*closed) : ParsedRecord{};
    if (rest.value) {
      builder.NoteProblem(place.line, parsed.fault.reason + "; everything before it was read");
      return std::move(*rest.value);
    }
  }
  return InputError(fmt::format("{}:{}:{}: {}{}", name, place.line, place.column,
                                parsed.fault.is_limit ? "" : "not JSON: ", parsed.fault.reason));
}

void FeedDocument(Json& document, RecordReader& reader) {
  if (document.is_array()) {
    for (Json& record : document) reader.Add(record, 0);
  } else {
    reader.Add(document, 0);
  }
  reader.Finish();
}

Result<Trace> ReadArchive(LineSource& source, const TraceReadOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, source.ReadAll(options.max_document_bytes));
  TraceBuilder builder(source.name(), TraceFormat::kInspect);
  const RecordReaderPtr reader = MakeInspectReader(builder);
  bool is_log = false;
  const auto wanted = [&](const std::string& name) {
    is_log = is_log || name == "header.json" || name == "_journal/start.json";
    return name == "header.json" || name == "_journal/start.json" || name.rfind("samples/", 0) == 0;
  };
  const auto use = [&](const std::string& name, const std::string& content) -> Status {
    RETURN_IF_ERROR(CheckStop(options));
    Result<Json> document = ParseDocument(content, source.name() + ":" + name, options.strict, builder);
    if (!document && options.strict) return document.error();
    if (!document) {
      builder.NoteProblem(0, document.error().message);
      return {};
    }
    reader->Add(*document, 0);
    return {};
  };
  const Status whole = CheckZipDirectory(bytes, source.name());
  if (!whole && options.strict) return whole.error();
  if (!whole) builder.NoteProblem(0, whole.error().message);
  const ArchiveLimits limits{options.max_document_bytes, options.max_document_bytes * 4};
  const Result<std::size_t> skipped = ReadZipEntries(bytes, source.name(), limits, wanted, use);
  if (!skipped && (options.strict || whole || skipped.error().kind == ErrorKind::kCancelled)) return skipped.error();
  if (!skipped) builder.NoteProblem(0, skipped.error().message);
  if (skipped && *skipped > 0) {
    builder.NoteProblem(0, fmt::format("skipped because of paths outside the archive: {}",
                                       *skipped == 1 ? "1 entry" : fmt::format("{} entries", *skipped)));
  }
  if (!is_log && !whole) return whole.error();
  if (!is_log) {
    return InputError(
        fmt::format("{}: a zip archive without header.json and _journal/start.json is not an Inspect log; "
                    "unpack it and give the files inside",
                    source.name()));
  }
  reader->Finish();
  return builder.Finish();
}

Result<Trace> ReadDocument(LineSource& source, const TraceReadOptions& options) {
  ASSIGN_OR_RETURN(std::string text, source.ReadAll(options.max_document_bytes));
  TraceBuilder trial(source.name(), TraceFormat::kNotes);
  Result<Json> document = ParseDocument(text, source.name(), true, trial);
  if (!document && !options.strict) {
    // What precedes the damage must be a trace; otherwise closing the brackets of any text would make one.
    Result<Json> front = ParseDocument(text, source.name(), false, trial);
    if (front && (options.format || DetectDocument(*front))) document = std::move(front);
  }
  if (!document && LooksLikeJson(text)) return document.error();
  if (!document && !options.format) RETURN_IF_ERROR(CheckNoteSize(source.name(), text));
  const auto detected = document ? DetectDocument(*document) : std::nullopt;
  if (document && !detected && !options.format)
    return UnknownRecords(source.name(), document->is_array() ? "a JSON list" : "a JSON document",
                          document->is_array() && !document->empty() ? document->front() : *document);
  const TraceFormat format = options.format.value_or(detected ? detected->format : TraceFormat::kNotes);
  TraceBuilder builder(source.name(), format);
  if (document) {
    for (const TraceProblem& problem : trial.trace().problems) builder.NoteProblem(problem.line, problem.message);
  }
  const RecordReaderPtr reader = MakeReader(format, builder);
  if (document && reader != nullptr) {
    text.clear();
    text.shrink_to_fit();
    if (format == TraceFormat::kClaudeCode && document->is_object() && SessionLinesIn(*document).is_array()) {
      Json lines = SessionLinesIn(*document);
      document = std::move(lines);
    }
    FeedDocument(*document, *reader);
  } else {
    ReadText(TraceFormat::kNotes, text, builder);
  }
  return builder.Finish();
}

Result<Trace> ReadYaml(LineSource& source, TraceFormat format, const TraceReadOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, source.ReadAll(std::min(options.max_document_bytes, kMaxYamlBytes)));
  ASSIGN_OR_RETURN(Json document, ParseYaml(text, source.name()));
  TraceBuilder builder(source.name(), format);
  const RecordReaderPtr reader = MakeReader(format, builder);
  FeedDocument(document, *reader);
  return builder.Finish();
}

// Codex stores a subagent in a rollout of its own, in the folder of the day on which it began.
std::optional<std::filesystem::path> RolloutOf(const std::string& thread, const std::filesystem::path& session) {
  const std::filesystem::path month = session.parent_path().parent_path();
  const std::filesystem::path& folder =
      session.parent_path().filename().string().size() == 2 ? month : session.parent_path();
  std::error_code code;
  std::filesystem::recursive_directory_iterator entry(folder, code);
  for (const std::filesystem::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
    if (entry.depth() > 0) entry.disable_recursion_pending();
    if (entry->path() != session && entry->path().filename().string().ends_with("-" + thread + ".jsonl"))
      return entry->path();
  }
  return std::nullopt;
}

// Claude Code stores subagents in separate files: <session>/subagents/agent-<id>.jsonl.
std::vector<std::filesystem::path> SubagentFiles(const std::filesystem::path& session) {
  std::vector<std::filesystem::path> files;
  std::error_code code;
  const std::filesystem::path folder = session.parent_path() / session.stem() / "subagents";
  for (std::filesystem::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("agent-", 0) == 0 && name.rfind("agent-acompact-", 0) != 0 &&
        entry->path().extension() == ".jsonl") {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// `session`: where the subagents' files are looked for; may be empty.
Result<Trace> ReadFrom(LineSource& source, const TraceReadOptions& options, const std::filesystem::path& session) {
  ASSIGN_OR_RETURN(const std::string_view front, source.Peek(kFrontBytes, options.max_record_bytes));
  if (Trim(front).empty()) {
    return InputError(fmt::format("{}: the trace is empty", source.name()));
  }
  TraceDetection detected = DetectTrace(front);
  if (!options.format) RETURN_IF_ERROR(CheckIsTrace(source.name(), front, detected));
  if (options.format && IsTextFormat(*options.format) && detected.shape != TraceShape::kArchive) {
    detected.format = *options.format;
    detected.shape = TraceShape::kText;
  } else if (options.format && *options.format != detected.format && detected.shape != TraceShape::kArchive &&
             detected.shape != TraceShape::kDocument) {
    detected.format = *options.format;
    detected.shape = TraceShape::kLines;
  }
  if (detected.shape == TraceShape::kArchive) return ReadArchive(source, options);
  if (detected.shape == TraceShape::kDocument) return ReadDocument(source, options);
  if (detected.shape == TraceShape::kYaml) return ReadYaml(source, detected.format, options);
  TraceBuilder builder(source.name(), detected.format);
  if (detected.shape == TraceShape::kText) {
    ASSIGN_OR_RETURN(const std::string text, source.ReadAll(options.max_document_bytes));
    ReadText(detected.format, text, builder);
    return builder.Finish();
  }
  const RecordReaderPtr reader = MakeReader(detected.format, builder);
  CHECK(reader != nullptr);
  RETURN_IF_ERROR(ReadLines(source, options, *reader, builder));
  if (detected.format == TraceFormat::kCodexRollout && !session.empty()) {
    for (std::size_t i = 0; i < builder.trace().subagents.size(); ++i) {  // which may start more
      const std::string thread = builder.trace().subagents[i].id;
      const auto path = RolloutOf(thread, session);
      if (!path) continue;
      ASSIGN_OR_RETURN(LineSource lines, LineSource::OpenFile(*path));
      const RecordReaderPtr subagent = MakeCodexRolloutReader(builder, thread);
      RETURN_IF_ERROR(ReadLines(lines, options, *subagent, builder));
      subagent->Finish();
    }
  }
  if (detected.format == TraceFormat::kClaudeCode && !session.empty()) {
    for (const std::filesystem::path& path : SubagentFiles(session)) {
      ASSIGN_OR_RETURN(LineSource subagent, LineSource::OpenFile(path));
      RETURN_IF_ERROR(ReadLines(subagent, options, *reader, builder));
    }
  }
  reader->Finish();
  return builder.Finish();
}

}  // namespace

Result<Trace> ReadTrace(const std::filesystem::path& path, const TraceReadOptions& options) {
  ASSIGN_OR_RETURN(LineSource source, LineSource::OpenFile(path));
  return ReadFrom(source, options, path);
}

Result<Trace> ReadTrace(LineSource source, const TraceReadOptions& options) { return ReadFrom(source, options, ""); }

Trace ReadTraceAs(TraceFormat format, std::string text) {
  TraceBuilder builder("fuzz", format);
  if (IsTextFormat(format)) {
    ReadText(format, text, builder);
    return builder.Finish();
  }
  const RecordReaderPtr reader = MakeReader(format, builder);
  ParsedRecord whole = ParseRecord(text);
  if (whole.value) {
    FeedDocument(*whole.value, *reader);
    return builder.Finish();
  }
  LineSource source = LineSource::FromText(std::move(text), "fuzz");
  const TraceReadOptions options;
  // Lenient reading from memory never fails; the trace lists what was damaged.
  const Status status = ReadLines(source, options, *reader, builder);
  CHECK(status.ok());
  reader->Finish();
  return builder.Finish();
}

}  // namespace upskill
