# SPDX-License-Identifier: MIT
"""Headless Chromium, driven through a pipe: pages loaded, looked at, and copied from."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PROGRAM = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)


class Chromium:
    """`with Chromium() as c`: one page. Nothing of it reaches the network: every host name fails."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        here, there = os.pipe(), os.pipe()  # it reads from descriptor 3 and writes to 4

        def place():
            a, b = os.dup(here[0]), os.dup(there[1])
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.child = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={self.home.name}", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(here[0])
        os.close(there[1])
        self.out, self.input = os.fdopen(here[1], "wb", 0), os.fdopen(there[0], "rb")
        self.n, self.events, self.rest, self.session = 0, [], b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        self.out.close()
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.input.close()
        self.home.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.input.fileno(), 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.n += 1
        body = {"id": self.n, "method": method, "params": params}
        if self.session:
            body["sessionId"] = self.session
        self.out.write(json.dumps(body).encode() + b"\0")
        while True:
            m = self.message()
            if m.get("id") == self.n:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def load(self, path):
        self.events = []
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def run(self, script):
        """The value of an expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
