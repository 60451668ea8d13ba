# SPDX-License-Identifier: Apache-2.0
"""A provider on loopback for tests: the Messages and the Chat Completions API, without streaming."""
import http.server
import json
import threading


class Provider(http.server.BaseHTTPRequestHandler):
    """Subclasses say what the model answers to the text of a request."""
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def answer(self, prompt, body):
        """None: there is no such model."""
        raise NotImplementedError

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [body.get("system", "")] + [message["content"] for message in body["messages"]]
        prompt = "\n".join(text if isinstance(text, str) else "\n".join(part.get("text", "") for part in text) for text in texts)
        said = self.answer(prompt, body)
        if said is None:
            return self.reply(404, {"error": {"message": f"The model `{body['model']}` does not exist", "code": "model_not_found"}})
        usage = {"input_tokens": 20, "output_tokens": 9, "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}
        if self.path.endswith("/messages"):
            self.reply(200, {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                             "content": [{"type": "text", "text": said}], "usage": usage})
        else:
            self.reply(200, {"id": "1", "model": "m", "usage": usage,
                             "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}]})

    def reply(self, status, answer):
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    """Answers from now on; closed by the test's end."""
    request_queue_size = 128

    def __init__(self, handler, test):
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        test.addCleanup(self.server_close)
        test.addCleanup(self.shutdown)
        self.url = f"http://127.0.0.1:{self.server_port}"
