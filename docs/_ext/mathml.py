"""Formulas as MathML, which every browser draws without a script and without a network."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_LOGGER = logging.getLogger(__name__)

_SYNONYMS = {"dots": r"\ldots", "iff": r"\Longleftrightarrow", "big": "", "mathrel": ""}
"""Commands of LaTeX that docutils does not know, by others that it does."""

_COMMAND = re.compile(rf"\\({'|'.join(_SYNONYMS)})(?![A-Za-z])")


def _converted(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    try:
        text = _COMMAND.sub(lambda match: _SYNONYMS[match[1]], node.astext())
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        _LOGGER.warning("the formula %r cannot be drawn: %s", node.astext(), error, location=node)
        return ""


def _visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def _visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the renderer known under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
