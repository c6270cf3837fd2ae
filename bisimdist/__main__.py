"""``python -m bisimdist`` is the command line."""

from __future__ import annotations

from bisimdist.cli.main import main

if __name__ == "__main__":
    main()
