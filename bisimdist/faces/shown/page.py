"""An HTML page that needs nothing else."""

from __future__ import annotations

from html import escape

from bisimdist.errors import visible

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --paper: #ffffff; --soft: #5b6575; --line: #c9d0da;
  --box: #f3f6fa; --gap: #a14b00; --same: #24693d; --bad: #b00020; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ef; --paper: #14181f; --soft: #9aa5b5;
  --line: #3a4453; --box: #1e2530; --gap: #ffa657; --same: #7ddc9a; --bad: #ff7b8a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
"""


def page(title: str, body: str, style: str = "", policy: str = "", icon: str = "") -> str:
    """Return a page; `policy` says what the browser lets it do, if that is not everything."""
    secured = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">' if policy else ""
    secured += f'<link rel="icon" href="{escape(icon)}">' if icon else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{secured}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(visible(title))}</title><style>{STYLE}{style}</style></head><body>"
        f"<main>{body}</main></body></html>\n"
    )
