# SPDX-License-Identifier: GPL-2.0-or-later
"""A port of a test's own, between two programs."""
import socket
import threading


class Listener:
    """Hands each client that connects to serve(), in a thread of its own."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        raise NotImplementedError

    def close(self):
        self.listener.close()
