# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, told what to do through a pipe: the DevTools protocol without any library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page. close() ends it and removes its profile."""

    def __init__(self, width=1600, height=5000):
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not program:
            raise SystemExit("browser: Chromium was not found: install the package chromium")
        self.profile = tempfile.mkdtemp(prefix="unblend-chromium-")
        read, self.write_fd = os.pipe()
        self.read_fd, write = os.pipe()

        def place():  # it reads 3 and writes 4
            os.dup2(read, 13)
            os.dup2(write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                                         "--disable-dev-shm-usage", f"--user-data-dir={self.profile}",
                                         "--remote-debugging-pipe", "about:blank"], preexec_fn=place, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            got = os.read(self.read_fd, 1 << 20)
            if not got:
                raise RuntimeError("Chromium has ended")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self.message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def open(self, url, headers):
        self.events.clear()
        self.call("Network.setExtraHTTPHeaders", headers=headers)
        self.call("Page.navigate", url=url)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def exceptions(self):
        return [event["params"]["exceptionDetails"].get("exception", {}).get("description", "?").split("\n")[0]
                for event in self.events if event["method"] == "Runtime.exceptionThrown"]

    def picture(self, path, height):
        clip = {"x": 0, "y": 0, "width": 1600, "height": height, "scale": 0.6}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip)["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.profile, ignore_errors=True)
