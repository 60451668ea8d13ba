// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "trace/digest/digest.h"
#include "trace/digest/excerpt.h"
#include "trace/read/tool_use.h"
#include "util/text.h"

namespace upskill {
namespace {

// What became of one file.
struct FileHistory {
  bool whole = false;  // its content is known from a write
  bool deleted = false;
  std::string first;
  std::string last;
  std::string hunks;  // edits of a file whose content is not known
  std::size_t versions = 0;
  std::size_t event = kNoIndex;  // of the last change
};

bool Worked(const Trace& trace, const Event& call) {
  if (call.partner == kNoIndex) return false;  // no result: not known to have happened
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
    file.hunks.clear();
    return;
  }
  if (edit.kind == FileEdit::Kind::kReplace && file.whole) {
    const std::size_t at = edit.before.empty() ? std::string::npos : file.last.find(edit.before);
    if (at != std::string::npos) {
      file.last.replace(at, edit.before.size(), edit.after);
      return;
    }
  }
  file.hunks += edit.kind == FileEdit::Kind::kReplace ? DiffLines(edit.before, edit.after) : edit.after;
}

DigestItem FileItem(const Trace& trace, const std::string& path, const FileHistory& file) {
  DigestItem item;
  item.kind = DigestKind::kFile;
  std::string body = file.whole ? file.last : file.hunks;
  std::string how = file.whole ? "last version, " : "";
  if (file.whole && !file.hunks.empty()) body += "\n" + file.hunks;
  // The first version shows what the agent thought, the difference what it learnt.
  if (file.whole && file.versions > 1) {
    const std::string diff = DiffLines(file.first, file.last);
    if (!diff.empty() && diff.size() < file.last.size() / 2) {
      body = diff;
      how = "last version against the first, ";
    }
  }
  if (file.deleted) how = "deleted, ";
  item.detail = FileDetail{path, file.whole ? file.last : file.hunks, file.whole, file.deleted, file.versions};
  const std::string head = fmt::format("{} ({}{} change{}{})", path, how, file.versions, file.versions == 1 ? "" : "s",
                                       file.whole || file.deleted ? "" : " of an existing file");
  item.brief = head + (body.empty() ? "" : "\n" + Excerpt(body, 500));
  item.full = head + (body.empty() ? "" : "\n" + Excerpt(body, 6000));
  item.key = "file " + path;
  const double late = static_cast<double>(file.event + 1) / static_cast<double>(trace.events.size());
  item.value = 50 + 20 * late + std::min<double>(8, 2.0 * static_cast<double>(file.versions - 1));
  item.places = {EventPlace(trace, file.event)};
  item.event = file.event;
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
      file.hunks += event.text + "\n";
    }
    if (event.kind != EventKind::kToolCall || !MayWriteFile(event) || !Worked(trace, event)) continue;
    for (const FileEdit& edit : EditsOfCall(event)) {
      if (!edit.path.empty()) Apply(edit, i, files[edit.path]);
    }
  }
  std::vector<DigestItem> items;
  items.reserve(files.size());
  for (const auto& [path, file] : files) items.push_back(FileItem(trace, path, file));
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill
