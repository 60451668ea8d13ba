// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "util/temp_folder.h"

namespace upskill {

// For tests: an agent program of a few lines of shell. It asks its model for one line at a time and does what it says:
//   write NAME WORDS   a file of the workspace
//   read NAME          a file, of the home folder if it isn't in the workspace
//   run COMMAND        a command of the shell
//   hang               it never ends, not even by SIGTERM, and neither does a daemon that it starts
//   done WORDS         the final answer
// If the model doesn't answer, it prints why and exits with 0, as one of the real programs does. Its session is a list
// of messages of OpenAI's format.
inline constexpr std::string_view kFakeAgent = R"agent(#!/bin/bash
prompt=$(cat "$1"); base=${UPSKILL_FAKE_BASE#http://}; model=$2
host=${base%%/*}; path=/${base#*/}
quoted() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g'; }
skills=$(ls "$HOME/.agents/skills" 2>/dev/null | tr '\n' ' ')
messages="{\"role\":\"user\",\"content\":\"$(quoted "$prompt") skills: $skills\"}"
save() { mkdir -p "$HOME/.fake"; printf '{"messages":[%s]}' "$messages" > "$HOME/.fake/session-1.json"; }
number=0
while true; do
  body="{\"model\":\"$model\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"act\"}}],\"messages\":[$messages]}"
  exec 3<>/dev/tcp/${host%%:*}/${host##*:} || { echo "no connection" >&2; exit 1; }
  printf 'POST %s/chat/completions HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s' \
    "$path" "$host" "$UPSKILL_FAKE_KEY" "$(printf '%s' "$body" | wc -c)" "$body" >&3
  answer=$(tr -d '\r' <&3); exec 3>&-
  line=$(printf '%s' "$answer" | sed -n 's/.*"content":"\([^"]*\)".*/\1/p' | head -n 1)
  if [ -z "$line" ]; then echo "the model failed: $(printf '%s' "$answer" | tail -n 1)" >&2; save; exit 0; fi
  number=$((number + 1)); word=${line%% *}; rest=${line#* }; failed=false
  case $word in
    done) messages="$messages,{\"role\":\"assistant\",\"content\":\"$(quoted "$rest")\"}"; save; echo "$rest"; exit 0 ;;
    write) printf '%s\n' "${rest#* }" > "${rest%% *}"; result=written; arguments="{\\\"path\\\":\\\"${rest%% *}\\\"}"; tool=write ;;
    read) file=${rest%% *}; [ -e "$file" ] || file=$HOME/$file; result=$(cat "$file" 2>&1)
          arguments="{\\\"path\\\":\\\"$file\\\"}"; tool=read ;;
    run) result=$(bash -c "$rest" 2>&1) || { failed=true; result="Error: exit status $?: $result"; }
         arguments="{\\\"command\\\":\\\"$(quoted "$(quoted "$rest")")\\\"}"; tool=bash ;;
    hang) save; trap '' TERM; setsid sh -c 'trap "" TERM; while true; do sleep 1; done' & while true; do sleep 1; done ;;
    *) result="Error: unknown word"; arguments='{}'; tool=unknown ;;
  esac
  messages="$messages,{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c$number\",\"type\":\"function\",\"function\":{\"name\":\"$tool\",\"arguments\":\"$arguments\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c$number\",\"is_error\":$failed,\"content\":\"$(quoted "$result")\"}"
done
)agent";

// The program as assets/agents.toml would have it, and its executable in a folder for PATH.
class FakeAgent {
 public:
  FakeAgent() {
    namespace fs = std::filesystem;
    // In a sandbox, commands of root run as another user.
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::permissions(folder_.Write("fake-agent", kFakeAgent), fs::perms(0755));
    folder_.Write("agents.toml", kDescription);
  }

  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path description_file() const { return folder_.path() / "agents.toml"; }

  static constexpr std::string_view kDescription = R"toml([[program]]
id = "fake"
name = "Fake Agent"
agent = "codex"
executable = "fake-agent"
model = "generic.tiny"
protocols = { chat = "chat" }
command = "{program} {prompt} $UPSKILL_FAKE_MODEL"
sessions = [".fake", "session-*.json"]
variables = { UPSKILL_FAKE_BASE = "{base_url}", UPSKILL_FAKE_KEY = "dummy", UPSKILL_FAKE_MODEL = "{model}" }
)toml";

 private:
  TempFolder folder_;
};

}  // namespace upskill
