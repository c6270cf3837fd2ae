"""Pictures drawn with matplotlib (``pip install 'bisimdist[plot]'``), and the files that they make."""

from __future__ import annotations

import io
from html import escape
from pathlib import PurePath
from typing import Any

from bisimdist.errors import UsageError, visible
from bisimdist.extras import needed

SCHEMES = (
    b".bd-plot{color:#1c2330;fill:currentColor;background:#fff}"
    b"@media (prefers-color-scheme:dark){.bd-plot{color:#e4e8ef;background:#14181f}}"
)
PICTURES = (".svg", ".png", ".pdf")


def figure_class() -> Any:
    """Return what pictures are made with."""
    return needed("matplotlib.figure", "plot").Figure


def picture_format(path: str, known: tuple[str, ...] = PICTURES) -> str:
    """Return the extension of a file. Raises UsageError if it is none of these."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in known:
        raise UsageError(f"{path}: expected a file name that ends in {', '.join(known)}")
    return suffix


def saved(figure: Any, path: str) -> bytes:
    """Return a figure as the bytes of a file of that name; nothing is written there."""
    suffix, drawn = picture_format(path), io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    figure.savefig(drawn, format=suffix[1:], dpi=150, metadata=metadata)
    if suffix != ".svg":
        return drawn.getvalue()
    return _in_both_schemes(drawn.getvalue(), figure.get_suptitle() or "a plot")


def _in_both_schemes(picture: bytes, label: str) -> bytes:
    """Return a picture whose black and white are the ink and the paper of whoever looks at it, or listens."""
    inked = picture.replace(b"#000000", b"currentColor").replace(b"fill: #ffffff", b"fill: none")
    head, _, rest = inked.partition(b"<svg ")
    attributes, _, inner = rest.partition(b">")
    named = f"class='bd-plot' role='img' aria-label='{escape(visible(label))}'".encode()
    return b"%s<svg %s %s><style>%s</style>%s" % (head, named, attributes, SCHEMES, inner)
