"""Pictures of models and answers in pages, and the gallery of the case studies, made while the site is built."""

from __future__ import annotations

import contextlib
import io
import logging
import shlex
from html import escape
from importlib import import_module

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import bisimdist
from bisimdist.faces.cli.main import run
from bisimdist.lazily import public_names

__all__ = ["gallery", "setup"]

logging.getLogger("bisimdist").setLevel(logging.WARNING)

QUESTIONS = {
    "figure1": "delta example:figure1 --alpha 5/4",
    "dining-cryptographers": "bound example:dining-cryptographers --alpha 1.0002",
    "randomised-response": "delta example:randomised-response --alpha 2",
    "leaky-retry": "bound example:leaky-retry --alpha 1",
    "random": "bound example:random,states=6 --alpha 11/10 --pair s0 s1",
    "pin-checking": "metric example:pin-checking --kind amortised",
    "dining-cryptographers-pa": "trace example:dining-cryptographers-pa",
    "randomised-response-pa": "trace example:randomised-response-pa",
    "counting-queries": "metric example:counting-queries --kind accumulative",
    "two-questions": "delta example:two-questions --alpha 2 --rounds 2",
    "randomised-responses": "delta example:randomised-responses --alpha 3 --rounds 2",
    "coin-and-doors": "delta example:coin-and-doors --alpha 1 --rounds 2",
    "adaptive-above-threshold": "bound example:adaptive-above-threshold --alpha 2",
    "mimicking": "metric example:mimicking --kind additive --discount 1/2",
    "crowd": "delta example:crowd --alpha 2",
    "retransmission": "delta example:retransmission --alpha 1",
    "figure2": "logic explain example:figure2",
    "geometric": "epsilon example:geometric --length 1",
    "contagious-disease": "prove example:contagious-disease",
    "independent-disease": "verify example:independent-disease --ratio 2 --length 1",
    "noisy-max": "epsilon example:noisy-max --length 1 --pair 0,0,0 0,0,1",
    "noisy-max-diseases": "epsilon example:noisy-max-diseases,pA=1/10,pB=1/10,pC=1/10 --length 1",
    "above-threshold": "epsilon example:above-threshold --length 3",
}
"""What is asked of the case studies in the gallery; one without a question is summarised."""


def figure(picture: str) -> str:
    """Return a picture as a part of a page."""
    return f'<figure class="drawn">{picture}</figure>'


def answered(command: str) -> str:
    """Return what a command prints.

    Raises
    ------
    ValueError
        If it is not answered.
    """
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        code = run(shlex.split(command))
    if code not in {0, 1}:
        raise ValueError(f"bisimdist {command}: {said.getvalue()}")
    return out.getvalue()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (text[-1] != "?")


def gallery() -> str:
    """Return the case studies as Markdown: model, question, answer, picture, source."""
    parts = []
    for info in bisimdist.list_examples():
        command = QUESTIONS.get(info.name, f"show example:{info.name}")
        model = bisimdist.build_any_example(command.partition("example:")[2].split(" ")[0])
        source = f"From {', '.join(info.papers)} ([key](papers.md)). " if info.papers else ""
        given = ", ".join(f"`{p.name}={p.default}`" for p in info.parameters)
        parts.append(
            f"## {info.name}\n\n{_sentence(info.description)} {source}"
            f"{f'Parameters and their defaults: {given}.' if given else ''}\n\n"
            f"```{{raw}} html\n{figure(model._repr_svg_())}\n```\n\n"
            f"```console\n$ bisimdist {command}\n{answered(command)}```\n"
        )
    return "\n".join(parts)


class Picture(SphinxDirective):
    """``{picture} EXPRESSION`` draws what Python makes of it, with the names of the package; the content is the caption."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        names = {name: getattr(import_module(home), name) for name, home in public_names().items()}
        shown = eval(self.arguments[0], {}, vars(bisimdist) | names)
        caption = escape(" ".join(self.content))
        drawn = f"{shown._repr_svg_()}{f'<figcaption>{caption}</figcaption>' if caption else ''}"
        return [nodes.raw("", figure(drawn), format="html")]


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    if name == "gallery":
        source[0] = source[0].replace("<!-- the case studies -->", gallery())


def setup(app: Sphinx) -> dict[str, bool]:
    """Know the directive and the gallery."""
    app.add_directive("picture", Picture)
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
