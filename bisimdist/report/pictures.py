"""Pictures drawn with matplotlib (``pip install 'bisimdist[plot]'``), and the files that they make."""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.extras import needed

__all__ = ["PICTURES", "figure_class", "picture_format", "saved"]

PICTURES = (".svg", ".png", ".pdf")


def figure_class() -> Any:
    """Return what pictures are made with.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    return needed("matplotlib.figure", "plot").Figure


def picture_format(path: str, known: tuple[str, ...] = PICTURES) -> str:
    """Return the extension of a file; matplotlib is there if it is one of a picture.

    Raises
    ------
    UsageError
        If it is none of those known.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in known:
        raise UsageError(f"{path}: expected a file name that ends in {', '.join(known)}")
    if suffix in PICTURES:
        figure_class()
    return suffix


def saved(figure: Any, path: str) -> bytes:
    """Return a figure as the bytes of a file of that name; nothing is written there."""
    suffix, drawn = picture_format(path), io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    figure.savefig(drawn, format=suffix[1:], dpi=150, metadata=metadata)
    return drawn.getvalue()
