# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP server on this machine for what our programs post."""
import http.server
import threading


class PostServer:
    """take(path, headers, body) gets each request, and returns the status of the answer, or (status, text)."""

    def __init__(self, take):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                status = take(self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"])))
                status, text = status if isinstance(status, tuple) else (status, "{}")
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
