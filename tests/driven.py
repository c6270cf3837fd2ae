"""Chromium and Firefox, driven by their own protocols: chromedriver's HTTP, and Firefox' Marionette."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["BROWSERS", "Driven", "driven"]

SETUP = 60.0  # seconds until a browser is there
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which the WebDriver standard names elements."""


class Driven(ABC):
    """A browser without a window."""

    @abstractmethod
    def ask(self, chromium: tuple[str, str], firefox: str, **given: Any) -> Any:
        """Send one command: method and path for Chromium, a name for Firefox."""

    def open(self, page: Path | str) -> None:
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self.ask(("POST", "url"), "WebDriver:Navigate", url=address)

    def run(self, script: str, *given: Any) -> Any:
        """Run a script in the page, which may wait; return what it returns."""
        whole = (
            f"const done = arguments[arguments.length - 1]; (async (...given) => {{ {script} }})"
            "(...arguments).then(x => done([x]), e => done(String(e)));"
        )
        found = self.ask(
            ("POST", "execute/async"), "WebDriver:ExecuteAsyncScript", script=whole, args=list(given)
        )
        if not isinstance(found, list):
            raise RuntimeError(found)
        return found[0] if found else None

    def element(self, selector: str) -> str:
        find = ("POST", "element")
        found = self.ask(find, "WebDriver:FindElement", using="css selector", value=selector)
        return str(found[ELEMENT])

    def type(self, selector: str, text: str) -> None:
        """Type into an element; a file input takes names."""
        at = self.element(selector)
        self.ask(("POST", f"element/{at}/value"), "WebDriver:ElementSendKeys", id=at, text=text)

    def resized(self, width: int, height: int) -> None:
        self.ask(("POST", "window/rect"), "WebDriver:SetWindowRect", width=width, height=height)

    def picture(self) -> bytes:
        return b64decode(self.ask(("GET", "screenshot"), "WebDriver:TakeScreenshot", full=False))


class Chromium(Driven):
    """Chromium behind chromedriver."""

    def __init__(self, port: int) -> None:
        self.base, self.session = f"http://127.0.0.1:{port}", ""
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        wanted = {
            "goog:chromeOptions": {"args": flags, "binary": CHROMIUM},
            "goog:loggingPrefs": {"performance": "ALL"},
        }
        body = {"capabilities": {"alwaysMatch": wanted}}
        self.session = self.sent("POST", "session", body)["sessionId"]
        self.sent("POST", f"session/{self.session}/timeouts", {"script": 120000})

    def sent(self, method: str, path: str, body: Any) -> Any:
        data = None if method == "GET" else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def ask(self, chromium: tuple[str, str], firefox: str, **given: Any) -> Any:
        method, path = chromium
        return self.sent(method, f"session/{self.session}/{path}", given)

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call, with those of workers."""
        entries = self.ask(("POST", "se/log"), "", type="performance")
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        sent = "Network.requestWillBeSent"
        return [each["params"]["request"]["url"] for each in messages if each["method"] == sent]


class Firefox(Driven):
    """Firefox behind its Marionette server."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=180)
        self.file, self.number = self.socket.makefile("rb"), 0
        self.received()
        self.ask(("", ""), "WebDriver:NewSession", strictFileInteractability=False)
        self.ask(("", ""), "WebDriver:SetTimeouts", script=120000)

    def received(self) -> Any:
        length = b""
        while (letter := self.file.read(1)) != b":":
            if not letter:
                raise RuntimeError("the browser ended")
            length += letter
        return json.loads(self.file.read(int(length)))

    def ask(self, chromium: tuple[str, str], firefox: str, **given: Any) -> Any:
        self.number += 1
        message = json.dumps([0, self.number, firefox, given]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.received()
        if error:
            raise RuntimeError(error)
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result


CHROMIUM = shutil.which("chromium")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
DRIVER = shutil.which("chromedriver")
BROWSERS = {"chromium": bool(CHROMIUM and DRIVER), "firefox": bool(FIREFOX)}
"""Whether each of them is installed."""


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def driven(name: str, folder: Path, *, dark: bool = False) -> Iterator[Driven]:
    """Start a browser, and end it.

    name: "chromium" or "firefox".
    folder: where a profile may lie.
    dark: whether whoever looks prefers dark (Firefox only).
    """
    port = _free()
    if name == "chromium":
        words = [str(DRIVER), f"--port={port}"]
    else:
        settings = {
            "marionette.port": port,
            "ui.systemUsesDarkTheme": int(dark),
            "datareporting.policy.dataSubmissionEnabled": False,
        }
        lines = (f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in settings.items())
        (folder / "user.js").write_text("".join(lines))
        words = [str(FIREFOX), "--headless", "--no-remote", "--marionette", "--profile", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    browser: Chromium | Firefox | None = None
    try:
        until = time.monotonic() + SETUP
        while browser is None:
            try:
                browser = Chromium(port) if name == "chromium" else Firefox(port)
            except (OSError, urllib.error.URLError):
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.1)
        yield browser
    finally:
        with suppress(Exception):
            if isinstance(browser, Chromium):
                browser.sent("DELETE", f"session/{browser.session}", {})
            elif browser is not None:
                browser.ask(("", ""), "Marionette:Quit", flags=["eForceQuit"])
                browser.file.close()
                browser.socket.close()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        if process.poll() is None:
            process.kill()
            process.wait()
