"""A process that ends with the one that started it, whatever ends that, ``kill -9`` as well.

On Linux the system ends it, even where native code lets no other thread run; elsewhere a thread looks who its
parent is. As a script this file takes the number of the parent and a command, and becomes that command. It
imports nothing of the package.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

WATCH_SECONDS = 0.25  # how often a process looks whether the one that started it is still there

PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """End this process at once when the one that started it ends."""
    if os.name != "posix":
        return  # nobody is told there that a parent has ended
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """Look at once: the parent may have ended before anybody was told."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def ending_with_us(words: list[str]) -> list[str]:
    """Return a command that does what another does, and ends when this process ends.

    ``words``: the command; a script of Python (``.py``) is run by this Python.

    >>> import subprocess
    >>> subprocess.run(ending_with_us(["true"])).returncode
    0
    """
    return [sys.executable, "-P", __file__, str(os.getpid()), *words]


@contextmanager
def unnamed(content: bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Write a file for another process to read; nothing is left of it, however this process ends.

    returns: its path, and the descriptors to pass on to the process (``pass_fds``).

    >>> import subprocess
    >>> with unnamed(b"text") as (path, descriptors):
    ...     subprocess.run(["cat", path], pass_fds=descriptors, capture_output=True).stdout
    b'text'
    """
    from pathlib import Path  # noqa: PLC0415, the process that becomes a command starts sooner without them
    from tempfile import TemporaryDirectory, TemporaryFile  # noqa: PLC0415

    if Path("/dev/fd").exists():
        folder = os.environ.get("TMPDIR", "/tmp")  # to try folders out would leave a file
        with TemporaryFile(dir=folder if os.access(folder, os.W_OK) else None) as file:
            file.write(content)
            file.seek(0)
            yield f"/dev/fd/{file.fileno()}", (file.fileno(),)
        return
    with TemporaryDirectory(prefix="bisimdist-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        yield str(path), ()


def main() -> None:
    """Become the command."""
    parent, words = int(sys.argv[1]), sys.argv[2:]
    end_with_parent(parent)
    if words[0].endswith(".py"):
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")
        return
    if os.getppid() != parent and os.name == "posix":
        os._exit(1)
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
