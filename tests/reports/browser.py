"""A headless Chromium for tests, spoken to over its debugging pipe; nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip


def browser_path() -> str | None:
    """The browser of this machine; ``AUDITKIT_CHROMIUM`` names another."""
    found = (shutil.which(name) for name in NAMES)
    return os.environ.get("AUDITKIT_CHROMIUM") or next(filter(None, found), None)


class Browser:
    """One browser with one page.

    ``complaints`` collects what the console and the log said since the page was opened: errors, warnings, refused
    requests; ``requests`` every address that was asked for.
    """

    def __init__(self, path: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]

        def pipes() -> None:  # the browser reads from descriptor 3 and writes to 4
            os.dup2(to_read, 30)
            os.dup2(to_write, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self._process = subprocess.Popen(
            command, preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and wait for its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, page: Path, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Open a file as a screen of that size sees it."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints, self.requests, self._loaded = [], [], False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._next()

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page as printed."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(str(parameters["args"]))
        return message
