#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the recorded sessions in the test recorded_traces_test.cpp, worked out without the readers.

usage: src/trace/load/recorded_figures.py FOLDER [UPSKILL]
Prints one line of JSON a file. With the program given, compares them with `trace show --json` and exits 1 on a difference.
A file whose format this script doesn't know is an error. What no rule can tell (which texts of a stress file a person
typed) is in USER, read by eye.
"""
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import zipfile

# Texts of user records that no person typed, by their beginnings.
INJECTED = ("<task-notification>", "<local-command", "<command-name>/clear", "<command-name>/mcp", "<command-name>/exit", "[Request interrupted", "Caveat:",
            "<environment_context>", "<user_instructions>", "# AGENTS.md", "<system-reminder>", "<permissions")
# Sessions whose user records need a reader's judgement: trimmed or made-up files.
USER = {"claude-code/daaain-edge_cases.jsonl": 4, "codex-rollout/agent-sessions-codex_small.jsonl": 1,
          "specstory/2026-02-10_21-49-42Z-command-message-insights-command.md": 1}


def figures(**more):
    base = dict(human_turns=0, assistant_messages=0, tool_calls_by_name={}, tool_errors=0, models=[], first=None, last=None,
                tokens=[None] * 4)
    base.update(more)
    return base


def in_order(values):
    return list(dict.fromkeys(value for value in values if value))


def total(rows, key):
    values = [row[key] for row in rows if isinstance(row.get(key), int)]
    return sum(values) if values else None


def stamp(text):
    """'2026-01-02T03:04:05.6Z' with exactly three digits of a second; None for anything else."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)?", text or "")
    return f"{found[1]}T{found[2]}.{(found[3] or '0').ljust(3, '0')[:3]}Z" if found else None


def span(texts):
    times = sorted(filter(None, map(stamp, texts)))
    return dict(first=times[0], last=times[-1]) if times else {}


def from_ms(value):
    return datetime.datetime.fromtimestamp(value / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(path):
    """The JSON values of a file, in lines of their own or one after another."""
    text, decoder, at, values = path.read_text(), json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


def texts_of(content):
    if isinstance(content, str):
        return [content]
    return [b if isinstance(b, str) else b.get("text", "") for b in content or [] if isinstance(b, str) or b.get("type") in ("text", "input_text")]


def typed(content):
    def is_request(text):
        text = text.strip()
        # A slash command without arguments acts on the program.
        local = text.startswith("<command-name>") and "<command-args></command-args>" in text.replace("\n", "")
        return text and not local and not text.startswith(INJECTED)
    return any(map(is_request, texts_of(content)))


def claude_code(path, name):
    records = lines(path)
    if len(records) == 1:
        records = records[0].get("loglines", records) if isinstance(records[0], dict) else records[0]
    seen, usage, calls, models, people, errors = set(), collections.defaultdict(dict), {}, [], 0, 0
    for number, record in enumerate(records):
        if not isinstance(record, dict) or record.get("parent_tool_use_id") or record.get("isSidechain"):
            continue
        if not isinstance(record.get("message"), dict) or record.get("type") not in ("user", "assistant"):
            continue
        message = record["message"]
        key = (record.get("uuid"), json.dumps(message, sort_keys=True))
        if record.get("uuid") and key in seen:
            continue
        seen.add(key)
        blocks = [b for b in message.get("content") or [] if isinstance(b, dict)] if isinstance(message.get("content"), list) else []
        if record["type"] == "assistant":
            if message.get("model") == "<synthetic>":
                continue  # a notice of the program
            message.setdefault("id", f"line {number}")
            models.append(message.get("model"))
            for field, value in (message.get("usage") or {}).items():
                if isinstance(value, int):
                    usage[message["id"]][field] = max(value, usage[message["id"]].get(field, 0))
            usage[message["id"]]
            calls.update({b["id"]: b["name"] for b in blocks if b.get("type") == "tool_use"})
        else:
            errors += sum(b.get("is_error") is True for b in blocks if b.get("type") == "tool_result")
            if not record.get("isMeta") and not record.get("isCompactSummary") and not any(b.get("type") == "tool_result" for b in blocks):
                people += typed(message.get("content"))
    rows = list(usage.values())
    return figures(human_turns=people, assistant_messages=len(rows), tool_calls_by_name=collections.Counter(calls.values()),
                   tool_errors=errors, models=in_order(models),
                   tokens=[total(rows, k) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")],
                   **span([r.get("timestamp") for r in records if isinstance(r, dict)]))


def codex_rollout(path, name):
    records = lines(path)
    items = [r["payload"] for r in records if r["type"] == "response_item"]
    calls = [i.get("name") or {"web_search_call": "web_search", "tool_search_call": "tool_search", "local_shell_call": "local_shell",
                               "image_generation_call": "image_generation"}[i["type"]] for i in items if re.fullmatch(r".*_call", i["type"])]
    usage, before = [], None
    for record in records:
        info = record["payload"].get("info") if record["type"] == "event_msg" and record["payload"].get("type") == "token_count" else None
        if info and info["total_token_usage"] != before:
            before = info["total_token_usage"]
            usage.append(info["last_token_usage"])
    def failed(item):
        output = item.get("output")
        if isinstance(output, str) and output.startswith("{"):
            return json.loads(output)["metadata"]["exit_code"] != 0
        return isinstance(output, str) and output.startswith(("failed in sandbox", "execution error", "patch rejected"))
    def person(item):
        if item["type"] != "message" or item["role"] != "user":
            return False
        return any("## My request for Codex:" in t or not t.lstrip().startswith(INJECTED) for t in texts_of(item["content"]) if t.strip())
    cached, written = total(usage, "cached_input_tokens"), total(usage, "cache_write_input_tokens")
    return figures(human_turns=sum(map(person, items)),
                   assistant_messages=sum(i["type"] == "message" and i["role"] == "assistant" for i in items),
                   tool_calls_by_name=collections.Counter(calls), tool_errors=sum(failed(i) for i in items if i["type"].endswith("_output")),
                   models=in_order(r["payload"].get("model") for r in records if r["type"] == "turn_context"),
                   tokens=[total(usage, "input_tokens") - cached - (written or 0), cached, written, total(usage, "output_tokens")],
                   **span(r["timestamp"] for r in records))


def codex_exec(path, name):
    records = lines(path)
    last = {r["item"]["id"]: r["item"] for r in records if "item" in r}
    usage = [r["usage"] for r in records if r["type"] == "turn.completed"]
    commands = [i for i in last.values() if i["type"] == "command_execution"]
    return figures(assistant_messages=1, tool_calls_by_name={"command_execution": len(commands)} if commands else {},
                   tool_errors=sum(i["exit_code"] != 0 for i in commands),
                   tokens=[total(usage, "input_tokens") - total(usage, "cached_input_tokens"), total(usage, "cached_input_tokens"), None,
                           total(usage, "output_tokens")])


def gemini_stream(records):
    """What `gemini --output-format stream-json` prints. A message of the model ends with a result or a user's message."""
    answers, inside, stats = 0, False, []
    for record in records:
        if record["type"] == "tool_use" or (record["type"] == "message" and record["role"] != "user"):
            answers += not inside
            inside = True
        elif record["type"] in ("message", "tool_result"):
            inside = False
        elif record["type"] == "result":
            stats.append(record["stats"])
    calls = [r["tool_name"] for r in records if r["type"] == "tool_use"]
    cached = total(stats, "cached")
    return figures(human_turns=sum(r["type"] == "message" and r["role"] == "user" for r in records), assistant_messages=answers,
                   tool_calls_by_name=collections.Counter(calls),
                   tool_errors=sum(r["type"] == "tool_result" and r["status"] == "error" for r in records),
                   models=in_order(r.get("model") for r in records if r["type"] == "init"),
                   tokens=[total(stats, "input_tokens") - cached, cached, None, total(stats, "total_tokens") - total(stats, "input_tokens")]
                   if stats else [None] * 4, **span(r.get("timestamp") for r in records))


def gemini(path, name):
    if path.suffix == ".jsonl" and any(r.get("type") == "init" for r in lines(path)):
        return gemini_stream(lines(path))
    if path.suffix == ".json":
        document = json.loads(path.read_text())
        head, messages = document, document["messages"]
    else:
        records = lines(path)
        head = dict(records[0])
        head["lastUpdated"] = max([r["timestamp"] for r in records if r.get("timestamp")])
        messages = list({r["id"]: r for r in records if r.get("type") in ("user", "gemini")}.values())
    answers = [m for m in messages if m["type"] == "gemini"]
    calls = [c for m in answers for c in m.get("toolCalls") or []]
    tokens = [m["tokens"] for m in answers if m.get("tokens")]
    cached = total(tokens, "cached")
    return figures(human_turns=sum(m["type"] == "user" for m in messages), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(c["name"] for c in calls), tool_errors=sum(c["status"] != "success" for c in calls),
                   models=in_order(m.get("model") for m in answers),
                   tokens=[total(tokens, "input") - cached, cached, None, total(tokens, "output") + total(tokens, "thoughts")],
                   **span([head["startTime"], head.get("lastUpdated")] + [m["timestamp"] for m in messages] + [c.get("timestamp") for c in calls]))


def opencode(path, name):
    events = json.loads(path.read_text()) if path.suffix == ".json" else [r["event"] for r in lines(path)]
    infos, parts = {}, {}
    for event in events:
        if event["type"] == "message.updated":
            infos[event["properties"]["info"]["id"]] = event["properties"]["info"]
        elif event["type"] == "message.part.updated":
            parts[event["properties"]["part"]["id"]] = event["properties"]["part"]
    # Sessions of sub-agents are recorded in the same stream; the first session is the main one.
    main = next((i["sessionID"] for i in infos.values()), None)
    infos = {k: i for k, i in infos.items() if i["sessionID"] == main}
    parts = {k: p for k, p in parts.items() if p.get("sessionID", main) == main}
    answers = [i for i in infos.values() if i["role"] == "assistant"]
    tools = [p for p in parts.values() if p["type"] == "tool"]
    tokens = [dict(i["tokens"], **{"cache_" + k: v for k, v in i["tokens"]["cache"].items()})
              for i in answers if "tokens" in i]
    times = [t for i in infos.values() for t in i["time"].values()]
    times += [t for p in tools for t in (p["state"].get("time") or {}).values()]
    return figures(human_turns=sum(i["role"] == "user" for i in infos.values()), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(p["tool"] for p in tools),
                   tool_errors=sum(p["state"]["status"] == "error" for p in tools), models=in_order(i.get("modelID") for i in answers),
                   tokens=[total(tokens, "input"), total(tokens, "cache_read"), total(tokens, "cache_write"),
                           total(tokens, "output") + (total(tokens, "reasoning") or 0)], first=from_ms(min(times)), last=from_ms(max(times)))


def pi(path, name):
    records = lines(path)
    messages = [r["message"] for r in records if r["type"] == "message"]
    answers = [m for m in messages if m["role"] == "assistant"]
    usage = [m["usage"] for m in answers if "usage" in m]
    calls = [b["name"] for m in answers if isinstance(m["content"], list) for b in m["content"] if b["type"] == "toolCall"]
    typed_commands = [m for m in messages if m["role"] == "bashExecution"]
    failed = sum(m["role"] == "toolResult" and m.get("isError") is True for m in messages)
    failed += sum(bool(m.get("cancelled")) or m.get("exitCode") not in (0, None) for m in typed_commands)
    return figures(human_turns=sum(m["role"] == "user" for m in messages), assistant_messages=len(answers),
                   tool_calls_by_name=collections.Counter(calls + ["bashExecution"] * len(typed_commands)), tool_errors=failed,
                   models=in_order(m for r in records for m in (r.get("modelId"), r["type"] == "message" and r["message"].get("model"))),
                   tokens=[total(usage, k) for k in ("input", "cacheRead", "cacheWrite", "output")], **span([r.get("timestamp") for r in records] + [from_ms(m["timestamp"]) for m in messages if isinstance(m.get("timestamp"), int)]))


MODEL_FIELDS = (("session.start", "selectedModel"), ("session.model_change", "newModel"), ("assistant.message", "model"))


def copilot(path, name):
    records = lines(path)
    answers = [r["data"] for r in records if r["type"] == "assistant.message" and not r["data"].get("parentToolCallId")]
    requests = [(call["toolCallId"], call["name"]) for answer in answers for call in answer.get("toolRequests") or []]
    starts = [(r["data"]["toolCallId"], r["data"]["toolName"]) for r in records
              if r["type"] == "tool.execution_start" and not r["data"].get("parentToolCallId")]
    asked = {number for number, _ in requests}
    calls = [name for _, name in requests] + [name for number, name in starts if number not in asked]
    results = [r["data"] for r in records if r["type"] == "tool.execution_complete" and not r["data"].get("parentToolCallId")]
    ends = [r["data"] for r in records if r["type"] == "session.shutdown"]
    details = {k: v["tokenCount"] for k, v in ends[-1].get("tokenDetails", {}).items()} if ends else {}
    if not details:
        details = {"output": total(answers, "outputTokens")}
    people = [r["data"] for r in records if r["type"] == "user.message" and (r["data"].get("content") or "").strip()]
    return figures(human_turns=len(people), assistant_messages=len(answers), tool_calls_by_name=collections.Counter(calls), tool_errors=sum(not result["success"] for result in results),
                   models=in_order(r["data"].get(key) for r in records for kind, key in MODEL_FIELDS if r["type"] == kind),
                   tokens=[details.get(k) for k in ("input", "cache_read", "cache_write", "output")], **span(r["timestamp"] for r in records))


def atif(path, name):
    log = json.loads(path.read_text())
    final, steps = log["final_metrics"], log["steps"]
    return figures(human_turns=sum(s["source"] == "user" for s in steps), assistant_messages=sum(s["source"] == "agent" for s in steps),
                   tool_calls_by_name=collections.Counter(c["function_name"] for s in steps for c in s.get("tool_calls") or []),
                   models=in_order([s.get("model_name") for s in steps] + [log["agent"].get("model_name")]),
                   tokens=[final["total_prompt_tokens"] - final["total_cached_tokens"], final["total_cached_tokens"], None,
                           final["total_completion_tokens"]], **span(s["timestamp"] for s in steps))


def inspect(path, name):
    if path.suffix == ".eval":
        archive = zipfile.ZipFile(path)
        samples = [json.loads(archive.read(n)) for n in archive.namelist() if n.startswith("samples/")]
        head = json.loads(archive.read("header.json" if "header.json" in archive.namelist() else "_journal/start.json"))
    else:
        head = json.loads(path.read_text())
        samples = head.get("samples") or []
    messages = [m for sample in samples for m in sample["messages"]]
    roles = collections.Counter(m["role"] for m in messages)
    usage = [u for sample in samples for u in (sample.get("model_usage") or {}).values()]
    calls = [c["function"] for m in messages for c in m.get("tool_calls") or []]
    times = sorted(datetime.datetime.fromisoformat(e["timestamp"]) for sample in samples for e in sample.get("events") or [])
    shown = [from_ms(int(t.timestamp() * 1e6) // 1000) for t in (times[0], times[-1])] if times else [None, None]
    named = [m for sample in samples for m in [*(sample.get("model_usage") or {}), *(x.get("model") for x in sample["messages"])]]
    named = [m for m in named if m and not (head["eval"].get("model") or "").endswith("/" + m)]  # the provider's name of it
    return figures(human_turns=roles["user"], assistant_messages=roles["assistant"], models=in_order([head["eval"].get("model"), *named]),
                   tool_calls_by_name=collections.Counter(calls), tool_errors=sum(m["role"] == "tool" and bool(m.get("error")) for m in messages),
                   first=shown[0], last=shown[1],
                   tokens=[total(usage, k) for k in ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens")])


# An observation that begins like this is the environment's refusal; anywhere else it's output of a command.
SWE_REFUSALS = ("EXECUTION TIMED OUT", "COMMAND FAILED TO EXECUTE", "Your proposed edit has introduced new syntax error",
                "Your command was not executed")


def swe_agent(path, name):
    document = json.loads(path.read_text())
    history = [m for m in document["history"] if not m.get("is_demo")]
    calls = [c["function"]["name"] for m in history for c in m.get("tool_calls") or []]
    answers = [m for m in history if m["role"] == "assistant"]
    actions = [] if calls else [m for m in answers if (m.get("action") or "").strip()]
    steps = document.get("trajectory") or []
    # The answer that ends the run may be in the trajectory only.
    if len(steps) == len(answers) + 1 and history[-1]["role"] != "assistant":
        answers, actions = answers + [{}], actions + [{}] * (not calls)
    people, before = 0, None
    observed = []
    for message in history:
        if message["role"] == "tool" or (message["role"] == "user" and before == "assistant"):
            observed.append("\n".join(texts_of(message["content"])))
        elif message["role"] == "user":
            people += 1
        before = message["role"]
    failed = sum(text.strip().removeprefix("OBSERVATION:").strip().startswith(SWE_REFUSALS) for text in observed)
    stats = (document.get("info") or {}).get("model_stats") or {}
    return figures(human_turns=people, assistant_messages=len(answers), tool_errors=failed,
                   tool_calls_by_name={"action": len(actions)} if actions else collections.Counter(calls),
                   tokens=[stats.get("tokens_sent"), None, None, stats.get("tokens_received")])


def mini_swe_agent(path, name):
    document = json.loads(path.read_text())
    messages = document["messages"] if isinstance(document, dict) else document
    def said(message):
        return "\n".join(texts_of(message["content"]))
    answers = [m for m in messages if m["role"] == "assistant"]
    blocks = [len(re.findall(r"```(?:mswea_bash_command|bash)\n", said(m))) == 1 for m in answers]  # others aren't run
    results = [said(m) for m in messages if m["role"] == "user" and said(m).startswith("<returncode>")]
    people = [m for m in messages[:messages.index(answers[0])] if m["role"] == "user"]
    usage = [((m.get("extra") or {}).get("response") or {}).get("usage") or {} for m in answers]
    cached = total([(u.get("prompt_tokens_details") or {}) for u in usage], "cached_tokens")
    prompt = total(usage, "prompt_tokens")
    return figures(human_turns=len(people), assistant_messages=len(answers), tool_calls_by_name={"bash": sum(blocks)},
                   tool_errors=sum(not r.startswith("<returncode>0<") for r in results),
                   models=in_order(((m.get("extra") or {}).get("response") or {}).get("model") for m in answers),
                   tokens=[None if prompt is None else prompt - (cached or 0), cached, None, total(usage, "completion_tokens")])


def hf_sts(path, name):
    messages = [r["message"] for r in lines(path) if r["type"] == "message"]
    return figures(human_turns=sum(m["role"] == "user" for m in messages), assistant_messages=sum(m["role"] == "assistant" for m in messages),
                   tool_calls_by_name=collections.Counter(c["function"]["name"] for m in messages for c in m.get("toolCalls") or []))


def specstory(path, name):
    text = path.read_text()
    # Blocks of sub-agents are marked "sidechain".
    blocks = list(re.finditer(r"(?m)^_\*\*(User|Agent)( - sidechain)?(?: \(([^)]*)\))?( - sidechain)?\*\*_$", text))
    session = re.search(r"(?m)^<!-- .* Session \S+ \((\S+ \S+?)Z?\) -->$", text)
    times, people, command, calls, heads = [session and session[1]], 0, None, [], []
    for at, block in enumerate(blocks):
        if block[2] or block[4]:
            continue
        body = text[block.end():blocks[at + 1].start() if at + 1 < len(blocks) else None]
        heads.append({1: block[1], 2: block[3], "body": body.strip()})
        if block[1] == "Agent":
            calls += re.findall(r'(?m)^<tool-use data-tool-type="[^"]*" data-tool-name="([^"]*)"', body)
    for at, head in enumerate(heads):
        found = re.search(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?", head[2] or "")
        times.append(found[0] if found else None)
        body = head["body"]
        if head[1] == "User":
            # What a slash command expands to follows it in a message of the same time.
            following = next((h["body"] for h in heads[at + 1:] if not h["body"].startswith("<local-command-caveat>")), "")
            local = body.startswith("<command-") and following.startswith("<local-command-std")
            people += not local and not body.startswith(INJECTED) and (command is None or command != times[-1])
            command = times[-1] if body.startswith(("<command-message>", "<command-name>")) and not body.startswith(INJECTED) else None
    return figures(human_turns=people, assistant_messages=sum(head[1] == "Agent" for head in heads),
                   tool_calls_by_name=collections.Counter(calls), tool_errors=None,
                   models=in_order((head[2] or "").split(" ")[0] for head in heads if head[1] == "Agent" and not (head[2] or "")[:2].isdigit()), **span(times))


def openai_messages(path, name):
    document = json.loads(path.read_text())
    messages = document["messages"] if isinstance(document, dict) else document
    blocks = [(m, b) for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
    calls = [b["name"] for m, b in blocks if m["role"] == "assistant" and b["type"] == "tool_call" and not m.get("tool_calls")]
    calls += [c["function"]["name"] for m in messages if m["role"] == "assistant" for c in m.get("tool_calls") or []]
    return figures(human_turns=sum(m["role"] == "user" and typed(m["content"]) for m in messages),
                   assistant_messages=sum(m["role"] == "assistant" for m in messages), tool_calls_by_name=collections.Counter(calls),
                   models=in_order([document.get("model")] if isinstance(document, dict) else []))


def claude_code_export(path, name):
    text = path.read_text()
    calls = re.findall(r"(?m)^[●⏺] ([A-Z][A-Za-z ]*?)\(.*", text)
    calls += re.findall(r"(?m)^[●⏺] ([A-Z]\w+) .*\(ctrl\+o to expand\)$", text)  # collapsed
    return figures(human_turns=len(re.findall(r"(?m)^[>❯] \S", text)), tool_calls_by_name=collections.Counter(calls),
                   assistant_messages=None, models=None, tool_errors=len(re.findall(r"(?m)^  ⎿ \s*(?:Error|Interrupted)", text)))


def cursor(path, name):
    text = path.read_text()
    return figures(human_turns=len(re.findall(r"(?m)^\*\*User\*\*\s*$", text)),
                   assistant_messages=len(re.findall(r"(?m)^\*\*Cursor\*\*\s*$", text)))


def fast_agent(path, name):
    messages = json.loads(path.read_text())["messages"]
    results = [r for m in messages for r in (m.get("tool_results") or {}).values()]
    calls = [c["params"]["name"] for m in messages for c in (m.get("tool_calls") or {}).values()]
    return figures(human_turns=sum(m["role"] == "user" and bool(m.get("content")) for m in messages),
                   assistant_messages=sum(m["role"] == "assistant" for m in messages), tool_calls_by_name=collections.Counter(calls),
                   tool_errors=sum(bool(r.get("isError")) for r in results))


READERS = {"claude-code": claude_code, "claude-code-result": claude_code, "codex-rollout": codex_rollout, "codex-exec": codex_exec,
           "gemini-cli": gemini, "opencode": opencode, "pi": pi, "copilot": copilot, "atif": atif, "inspect": inspect, "swe-agent": swe_agent,
           "mini-swe-agent": mini_swe_agent, "hf-sts": hf_sts, "specstory": specstory,
           "openai-messages": openai_messages, "claude-code-export": claude_code_export, "fast-agent": fast_agent, "cursor": cursor}


def main(folder, program=None):
    folder, differences = pathlib.Path(folder), 0
    for path in sorted(p for p in folder.glob("*/*") if p.parent.name != "LICENSES"):
        name = str(path.relative_to(folder))
        ours = READERS[path.parent.name](path, name)
        ours["human_turns"] = USER.get(name, ours["human_turns"])
        ours["tool_calls_by_name"] = dict(sorted(ours["tool_calls_by_name"].items()))
        print(json.dumps({"file": name, **ours}))
        if not program:
            continue
        shown = json.loads(subprocess.run([program, "trace", "show", "--json", path], check=True, capture_output=True, text=True).stdout)
        theirs = dict(shown, first=shown["first_timestamp"], last=shown["last_timestamp"], tokens=list(shown["tokens"].values()))
        for key, value in ours.items():
            # None: this script can't tell.
            if theirs[key] != value and (value is not None or key in ("first", "last")):
                differences += 1
                print(f"  DIFFERENT {key}: here {value}, trace show {theirs[key]}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
