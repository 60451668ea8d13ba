#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripted_model.py SCRIPT: a model server on loopback for tests of real agent programs.

SCRIPT is JSON: {"turns": [TURN, ...], "status": 200}. A turn has "say" (text) and one of "write": [path, text], "run":
command, "skill": name, "tool": [server, tool, arguments] (of an MCP server), done with whichever tool the request offers. The turn follows from the request: the model's own
turns in it are counted; after the last turn it is repeated. Requests without tools (titles) are answered "A title".
Speaks Anthropic Messages, Chat Completions, Responses and Gemini, streaming or not. The first line on standard output is
the URL.
"""
import http.server
import itertools
import json
import pathlib
import re
import sys

WRITE = {"write", "write_file", "create_file"}
RUN = {"bash", "exec_command", "shell", "shell_command", "run_shell_command"}
SKILL = {"skill", "activate_skill"}
READ = {"read", "read_file"}
NUMBERS = itertools.count(1)  # programs take answers and calls with the same id for one


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


class Conversation:
    """A request: the tools that it offers (name -> schema), and how many turns of the model it holds."""

    def __init__(self, kind, body):
        self.body, self.text, self.tools, self.spaces = body, "\n".join(texts(body)), {}, {}
        if kind == "gemini":
            for group in body.get("tools") or []:
                for tool in group.get("functionDeclarations") or []:
                    self.tools[tool["name"]] = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            made = [content.get("role") == "model" for content in body.get("contents") or []]
        elif kind == "responses":
            items = body.get("input") if isinstance(body.get("input"), list) else []
            offered = list(body.get("tools") or [])
            for item in items:
                if item.get("type") == "additional_tools":
                    offered += item.get("tools") or []
            for tool in offered:
                if tool.get("type") == "function":
                    self.tools[tool["name"]] = tool.get("parameters") or {}
                for own in tool.get("tools") or [] if tool.get("type") == "namespace" else []:
                    self.spaces["%s__%s" % (tool["name"], own["name"])] = (own["name"], tool["name"])
            made = [item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning") for item in items]
        else:
            for tool in body.get("tools") or []:
                function = tool.get("function") or tool
                self.tools[function["name"]] = function.get("parameters") or function.get("input_schema") or {}
            made = [message.get("role") == "assistant" for message in body.get("messages") or []]
        self.turn = sum(1 for is_made, _ in itertools.groupby(made) if is_made)

    def find(self, names):
        return next((name for name in self.tools if name.lower() in names), None)

    def arguments(self, name, values):
        """The values under the tool's own names for them; what else it requires is filled in."""
        schema = self.tools[name]
        properties, out = schema.get("properties") or {}, {}
        for candidates, value in values:
            out[next((c for c in candidates if c in properties), candidates[0])] = value
        for key in schema.get("required") or []:
            out.setdefault(key, {"boolean": False, "array": [], "object": {}, "integer": 1, "number": 1}.get(
                (properties.get(key) or {}).get("type"), key))
        return out

    def absolute(self, path):
        folder = re.search(r"[Ww]orking directory(?: is)?:? *`?(/[^\s`<,]+)|<cwd>(/[^<]+)</cwd>|"
                           r"Workspace Directories:\**\n *- (/[^\n]+)", self.text)
        return "/workspace/" + path if folder is None else next(g for g in folder.groups() if g).rstrip(".") + "/" + path

    def call(self, turn):
        """(tool, arguments) and its namespace, if it has one; or nothing."""
        if "write" in turn:
            path, text = turn["write"]
            if tool := self.find(WRITE):
                return tool, self.arguments(tool, [(("file_path", "filePath", "path"), self.absolute(path)),
                                                   (("content", "text"), text)])
            return self.shell("printf '%%s' '%s' > '%s'" % (text, path))
        if "tool" in turn:
            server, own, values = turn["tool"]
            tool = next((name for name in [*self.tools, *self.spaces] if server in name and name.endswith(own)), None)
            name, *space = self.spaces.get(tool, (tool,))
            return (name, values, *space) if tool else None
        if "skill" in turn:
            if tool := self.find(SKILL):
                return tool, self.arguments(tool, [(("skill", "name"), turn["skill"])])
            found = re.search(r"[^\s\"'`<>()]*/%s/SKILL\.md" % re.escape(turn["skill"]), self.text)
            path = found.group(0) if found else turn["skill"] + "/SKILL.md"
            # Codex shortens the folders of skills and gives a table of them.
            if root := re.search(r"`%s` = `([^`]+)`" % re.escape(path.split("/")[0]), self.text):
                path = root.group(1) + path[path.index("/"):]
            if tool := self.find(READ):
                return tool, self.arguments(tool, [(("file_path", "filePath", "path"), path)])
            return self.shell("cat '%s'" % path)
        return self.shell(turn["run"]) if "run" in turn else None

    def shell(self, command):
        tool = self.find(RUN)
        if tool is None:
            return None
        kind = ((self.tools[tool].get("properties") or {}).get("command") or {}).get("type")
        value = ["bash", "-lc", command] if kind == "array" else command
        return tool, self.arguments(tool, [(("command", "cmd"), value)])


# Each protocol: (events of a stream, the whole answer) for a text and a call.

def messages(say, call):
    usage = {"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    blocks = [{"type": "text", "text": say}] if say else []
    if call:
        blocks.append({"type": "tool_use", "id": "toolu_%d" % next(NUMBERS), "name": call[0], "input": call[1]})
    whole = {"id": "msg_%d" % next(NUMBERS), "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
             "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": dict(whole, content=[], stop_reason=None)}
    for index, block in enumerate(blocks):
        blank = {"input": {}} if block["type"] == "tool_use" else {"text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if block["type"] == "tool_use"
                 else {"type": "text_delta", "text": block["text"]})
        yield "content_block_start", {"index": index, "content_block": dict(block, **blank)}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 10}}
    yield "message_stop", {}
    yield None, whole


def chat(say, call):
    base = {"id": "chatcmpl-1", "created": 1, "model": "scripted"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    calls = [{"id": "call_%d" % next(NUMBERS), "type": "function",
              "function": {"name": call[0], "arguments": json.dumps(call[1])}}] if call else []
    finish = "tool_calls" if call else "stop"
    delta = {"role": "assistant", "content": say}
    if calls:
        delta["tool_calls"] = [dict(calls[0], index=0)]
    chunk = dict(base, object="chat.completion.chunk")
    yield "", dict(chunk, choices=[{"index": 0, "delta": delta, "finish_reason": None}])
    yield "", dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
    yield "", dict(chunk, choices=[], usage=usage)
    yield "", "[DONE]"
    message = {"role": "assistant", "content": say, **({"tool_calls": calls} if calls else {})}
    yield None, dict(base, object="chat.completion", usage=usage,
                     choices=[{"index": 0, "message": message, "finish_reason": finish}])


def responses(say, call):
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
    output = []
    if say:
        output.append({"id": "msg_%d" % next(NUMBERS), "type": "message", "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": say, "annotations": []}]})
    if call:
        output.append({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_%d" % next(NUMBERS),
                       "name": call[0], "arguments": json.dumps(call[1]), **({"namespace": call[2]} if call[2:] else {})})
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "scripted", "status": "completed",
             "output": output, "usage": usage}
    yield "response.created", {"response": dict(whole, status="in_progress", output=[], usage=None)}
    for index, item in enumerate(output):
        yield "response.output_item.added", {"output_index": index, "item": dict(item, status="in_progress")}
        if item["type"] == "message":
            yield "response.output_text.delta", {"output_index": index, "item_id": item["id"], "content_index": 0, "delta": say}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": whole}
    yield None, whole


def gemini(say, call):
    parts = ([{"text": say}] if say else []) + ([{"functionCall": {"name": call[0], "args": call[1]}}] if call else [])
    whole = {"candidates": [{"content": {"role": "model", "parts": parts or [{"text": ""}]}, "index": 0, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
             "modelVersion": "scripted"}
    yield "", whole
    yield None, whole


PATHS = {"/responses": ("responses", responses), "/chat/completions": ("chat", chat), "/messages": ("messages", messages),
         "enerateContent": ("gemini", gemini)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = {}

    def log_message(self, *arguments):
        pass

    def reply(self, status, content_type, data):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, "application/json", b'{"object": "list", "data": []}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            return self.reply(200, "application/json", b'{"input_tokens": 100, "totalTokens": 100}')
        kind, answer = next(entry for end, entry in PATHS.items() if path.endswith(end))
        if self.script.get("status", 200) != 200:
            error = {"error": {"message": "scripted failure", "type": "api_error", "code": self.script["status"]}}
            return self.reply(self.script["status"], "application/json", json.dumps(error).encode())
        conversation = Conversation(kind, body)
        turns = self.script["turns"]
        turn = turns[min(conversation.turn, len(turns) - 1)] if conversation.tools else {"say": "A title"}
        events = list(answer(turn.get("say", ""), conversation.call(turn)))
        whole = events.pop()[1]
        if not body.get("stream") and not path.endswith(":streamGenerateContent"):
            return self.reply(200, "application/json", json.dumps(whole).encode())
        stream = ""
        for name, value in events:
            text = value if isinstance(value, str) else json.dumps(dict(value, **({"type": name} if name else {})))
            stream += ("event: %s\n" % name if name else "") + "data: %s\n\n" % text
        return self.reply(200, "text/event-stream", stream.encode())


if __name__ == "__main__":
    Handler.script = json.loads(pathlib.Path(sys.argv[1]).read_text())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print("http://127.0.0.1:%d" % server.server_address[1], flush=True)
    server.serve_forever()
