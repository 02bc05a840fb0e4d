"""A browser without a window: Chromium, spoken to through a pipe in its own protocol (CDP).

No library is needed: messages are JSON texts that end with a zero byte.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
    "--allow-file-access-from-files", "--mute-audio",
)  # fmt: skip
#: Chromium reads from descriptor 3 and writes to 4.
WIRING = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
#: Seconds to wait for an answer: machines that run tests are busy.
PATIENCE = 120.0
#: Pictures that are taller than this (in pixels) are cut: Chromium repeats their beginning.
TALLEST = 16000


def executable() -> str | None:
    """Return the program, or None where there is none."""
    chosen = os.environ.get("GENALPHA_CHROMIUM")
    return chosen or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One tab of one browser; a context that closes it."""

    def __init__(self, profile: Path) -> None:
        self._to_read, to_write = os.pipe()  # ours, the browser's
        from_read, self._to_send = os.pipe()
        command = [executable(), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        ends = [str(from_read), str(to_write)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", WIRING, *ends, *map(str, command)],
            pass_fds=(from_read, to_write), cwd=profile,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(from_read)
        os.close(to_write)
        self._buffer, self._number, self._session = b"", 0, None
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._send({"id": 0, "method": "Browser.close"})
        try:
            self._process.wait(20.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
        for end in (self._to_read, self._to_send):
            os.close(end)

    def call(self, method: str, **params: Any) -> Any:
        """Ask for something and return the answer; notes complaints that arrive meanwhile."""
        self._number += 1
        number, message = self._number, {"id": self._number, "method": method, "params": params}
        self._send(message | ({"sessionId": self._session} if self._session else {}))
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def show(self, page: Path, width: int, height: int, dark: bool, fragment: str = "") -> None:
        """Open a page from disk, and wait until it is complete."""
        self.complaints.clear()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        # a choice of light or dark that the last page has stored
        self.evaluate("try { localStorage.clear() } catch {}")
        self.call("Page.navigate", url=page.as_uri() + fragment)
        end = time.monotonic() + PATIENCE
        where = "document.readyState === 'complete' && location.href !== 'about:blank'"
        while not self.evaluate(where):
            if time.monotonic() > end:
                raise TimeoutError(f"{page} is not complete after {PATIENCE} s")
            time.sleep(0.05)
        # what scripts do at once after that, the choice of light or dark for example
        self.evaluate("new Promise(done => setTimeout(done, 200))")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, a promise's included."""
        found = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as PNG."""
        part = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            part = {"clip": {**size, "height": min(size["height"], TALLEST), "scale": 1}}
        found = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole, **part
        )
        path.write_bytes(base64.b64decode(found["data"]))

    def _send(self, message: dict[str, Any]) -> None:
        os.write(self._to_send, json.dumps(message).encode() + b"\0")

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._to_read], [], [], PATIENCE)
            part = os.read(self._to_read, 1 << 16) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"].get("exception", params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str([item.get("value") for item in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.loadingFailed" and not params.get("canceled"):
            self.complaints.append(f"not loaded: {params.get('errorText')}")
