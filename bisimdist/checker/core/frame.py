"""What is said of a certificate: its claims, whether it proves them, and if not, which rule fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, shown, text_of

__all__ = ["Claim", "OtherReport", "judged", "model_kind", "read_frame"]


@dataclass(frozen=True)
class Claim:
    """That the distance of two states of the model is at most `upper` and, where given, at least `lower`.

    Of a chain in intervals it is the distance for the worst that nature picks, ``each-step`` or ``fixed``.
    """

    source: str
    target: str
    distance: str
    alpha: Fraction
    upper: Fraction
    lower: Fraction | None = None
    nature: str | None = None

    @property
    def exact(self) -> bool:
        """Whether the claim says what the distance is."""
        return self.lower == self.upper

    def as_dict(self) -> dict[str, str | bool]:
        """Return the claim as plain data; integers beyond 4000 digits are hexadecimal."""
        return {
            "from": self.source,
            "to": self.target,
            "distance": self.distance,
            "alpha": text_of(self.alpha),
            "upper": text_of(self.upper),
            **({} if self.lower is None else {"lower": text_of(self.lower)}),
            "exact": self.exact,
            **({} if self.nature is None else {"nature": self.nature}),
        }


@dataclass(frozen=True)
class OtherReport:
    """The verdict on a certificate of another kind than distances.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims as plain data (texts, numbers as exact texts).
    reason
        Which rule fails, in words; empty if the certificate is valid.
    about
        What the claims are about where that is not the model of the document: its kind and its digest.
    distances
        The claims about distances, which are not among `claims`.
    """

    valid: bool
    claims: tuple[Mapping[str, object], ...]
    reason: str = ""
    about: tuple[str, str] | None = None
    distances: tuple[Claim, ...] = ()


def judged(
    claims: Iterable[Mapping[str, object]],
    check: Callable[[], object],
    about: tuple[str, str] | None = None,
    distances: tuple[Claim, ...] = (),
) -> OtherReport:
    """Return the verdict on claims: what `check` does not refuse is proved."""
    said = tuple(claims)
    try:
        check()
    except RuleViolation as violation:
        return OtherReport(False, said, str(violation), about, distances)
    return OtherReport(True, said, "", about, distances)


def read_frame(document: object) -> dict[str, object]:
    """Return a decoded document that says to be a certificate of version 1, of whatever kind."""
    if not isinstance(document, dict) or document.get("format") != "bisimdist-certificate":
        raise MalformedCertificate('the document is not an object with "format": "bisimdist-certificate"')
    version = document.get("version")
    if version != 1 or isinstance(version, bool):
        raise MalformedCertificate(f"the version is {shown(version)}; this checker knows version 1")
    return document


def model_kind(document: Mapping[str, object]) -> object:
    """Return which kind of model a certificate says to be about."""
    model = document.get("model")
    return model.get("kind") if isinstance(model, dict) else None
