// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "trace/digest/digest_item.h"
#include "trace/read/tool_use.h"

namespace upskill {
namespace {

// The history of one file.
struct FileHistory {
  bool whole = false;  // the content is known from a write
  bool deleted = false;
  std::string first;
  std::string last;
  std::vector<FileEdit> edits;  // if the content is unknown, or doesn't match them
  std::size_t versions = 0;
  std::size_t event = kNoIndex;  // of the last change
};

bool Worked(const Trace& trace, const Event& call) {
  if (call.partner == kNoIndex) return false;  // without a result it may not have happened
  const CallStatus status = trace.events[call.partner].status;
  return status == CallStatus::kOk || status == CallStatus::kUnknown;
}

void Apply(const FileEdit& edit, std::size_t event, FileHistory& file) {
  ++file.versions;
  file.event = event;
  file.deleted = edit.kind == FileEdit::Kind::kDelete;
  if (edit.kind == FileEdit::Kind::kWrite) {
    if (!file.whole) file.first = edit.after;
    file.whole = true;
    file.last = edit.after;
    file.edits.clear();
    return;
  }
  if (edit.kind == FileEdit::Kind::kReplace && file.whole) {
    const std::size_t at = edit.before.empty() ? std::string::npos : file.last.find(edit.before);
    if (at != std::string::npos) {
      file.last.replace(at, edit.before.size(), edit.after);
      return;
    }
  }
  file.edits.push_back(edit);
}

DigestItem FileItem(const Trace& trace, const std::string& path, FileHistory file) {
  DigestItem item;
  item.kind = DigestKind::kFile;
  item.key = "file " + path;
  const double late = static_cast<double>(file.event + 1) / static_cast<double>(trace.events.size());
  item.value = 50 + 20 * late + std::min<double>(8, 2.0 * static_cast<double>(file.versions - 1));
  item.places = {PlaceOf(trace, file.event)};
  item.event = file.event;
  if (file.versions < 2) file.first.clear();
  item.detail =
      FileDetail{path,         file.whole,   std::move(file.last), std::move(file.first), std::move(file.edits),
                 file.deleted, file.versions};
  return item;
}

}  // namespace

std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index) {
  std::map<std::string, FileHistory> files;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.abandoned) continue;
    if (event.kind == EventKind::kFileChange && event.partner == kNoIndex && !event.path.empty()) {
      FileHistory& file = files[event.path];
      ++file.versions;
      file.event = i;
      file.edits.push_back({FileEdit::Kind::kPatch, event.path, "", event.text + "\n"});
    }
    if (event.kind != EventKind::kToolCall || !MayWriteFile(event) || !Worked(trace, event)) continue;
    for (const FileEdit& edit : EditsOfCall(event)) {
      if (!edit.path.empty()) Apply(edit, i, files[edit.path]);
    }
  }
  std::vector<DigestItem> items;
  items.reserve(files.size());
  for (auto& [path, file] : files) items.push_back(FileItem(trace, path, std::move(file)));
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill
