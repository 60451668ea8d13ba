// SPDX-License-Identifier: Apache-2.0
// Hugging Face Session Trace Simple Format (hub-docs, docs/hub/session-traces-format.md).
#include "trace/formats/chat_message.h"
#include "trace/formats/readers.h"

namespace upskill {
namespace {

class HfStsReader : public RecordReader {
 public:
  explicit HfStsReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    const std::string type = StringAt(record, "type");
    if (type == "session") {
      builder_.SetSession(StringAt(record, "id"));
      builder_.SetTitle(StringAt(record, "name"));
      builder_.SetAgent(StringAt(record, "harness"));
      return;
    }
    Json* const message = FindMember(record, "message");
    if (type != "message" || message == nullptr) {
      builder_.NoteUnknown(record.is_object() ? type : "not an object", record, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(*message, "timestamp");
    builder_.NoteModel(StringAt(*message, "model"));
    if (!AddChatMessage(builder_, *message, stamp))
      builder_.NoteUnknown("role " + StringAt(*message, "role"), *message, line);
  }

 private:
  TraceBuilder& builder_;
};

}  // namespace

RecordReaderPtr MakeHfStsReader(TraceBuilder& builder) { return std::make_unique<HfStsReader>(builder); }

}  // namespace upskill
