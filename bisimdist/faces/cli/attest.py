"""``bisimdist attest``, and ``check --attestation``: who says that a checker accepted a certificate."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

from bisimdist.bounded import read_file
from bisimdist.errors import UsageError
from bisimdist.extras import needed
from bisimdist.privacy.report.carried import zipped_checker

STATEMENT = "https://in-toto.io/Statement/v1"
PAYLOAD = "application/vnd.in-toto+json"
PREDICATE = "urn:bisimdist:checked-claim:1"
"""What the statement says: that a checker accepted a certificate, what this claims, and of which model."""

MOST = 1 << 24  # how many bytes an attestation may have


@dataclass(frozen=True, slots=True)
class Attested:
    """Whether an attestation holds for a certificate."""

    holds: bool
    reason: str  # why not; empty where it holds
    key: str  # the digest of the public key that was asked about
    checker: Mapping[str, Any]  # which checker it names: name, version and digest; empty where none is known

    def data(self) -> dict[str, object]:
        return {"holds": self.holds, "reason": self.reason, "key": self.key, "checker": dict(self.checker)}

    def remark(self) -> str:
        """Return what a person is told."""
        if not self.holds:
            return f"The attestation does NOT hold: {self.reason}"
        same = "this one" if self.checker == this_checker() else "another one than here"
        return f"The attestation holds: the key {self.key} signed it. The checker that it names is {same}."


def this_checker() -> dict[str, str]:
    """Return what a statement says of the checker: its digest is that which pages with Pyodide show."""
    digest = sha256(zipped_checker()).hexdigest()
    return {"name": "bisimdist.checker", "version": version("bisimdist"), "digest": f"sha256:{digest}"}


def attested(certificate: bytes, name: str, checked: Mapping[str, Any], key: str) -> str:
    """Return a signed statement about a certificate that was accepted: in-toto's, in DSSE's envelope.

    checked: what `check --json` says of it.
    key: the file of a private key, Ed25519 or ECDSA, in PEM without a password.

    Raises UsageError if the key is none.

    References: in-toto Attestation Framework, Statement v1; secure-systems-lab/dsse, protocol v1.
    """
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": PurePath(name).name, "digest": {"sha256": sha256(certificate).hexdigest()}}],
        "predicateType": PREDICATE,
        "predicate": {**_said(checked), "checker": this_checker()},
    }
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    private = _private(key)
    signed = private.sign(encoded(PAYLOAD, payload), *_algorithm(private))
    signature = {"keyid": _named(private.public_key()), "sig": b64encode(signed).decode()}
    envelope = {"payload": b64encode(payload).decode(), "payloadType": PAYLOAD, "signatures": [signature]}
    return json.dumps(envelope) + "\n"


def verified(attestation: str, certificate: bytes, checked: Mapping[str, Any], key: str) -> Attested:
    """Return whether an attestation is about a certificate, and signed by a key.

    checked: what `check --json` says of it here.
    key: the file of the public key, in PEM.

    Raises UsageError if one of the files is none.
    """
    payload, kind, signatures = _envelope(attestation)
    public = _public(key)
    name = _named(public)
    if kind != PAYLOAD or not any(_signed(public, signature, payload) for signature in signatures):
        return Attested(False, "no signature in it is one of this key", name, {})
    try:
        statement = json.loads(payload)
        subjects = [subject["digest"]["sha256"] for subject in statement["subject"]]
        said, form = statement["predicate"], (statement["_type"], statement["predicateType"])
        checker = {str(part): str(value) for part, value in said["checker"].items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Attested(False, "what is signed is no statement about a certificate", name, {})
    if form != (STATEMENT, PREDICATE):
        return Attested(False, "what is signed is a statement of another kind", name, {})
    if subjects != [sha256(certificate).hexdigest()]:
        return Attested(False, "it is about another certificate", name, checker)
    if {**_said(checked), "checker": said["checker"]} != said:
        return Attested(False, "it says something else than the check here", name, checker)
    return Attested(True, "", name, checker)


def encoded(kind: str, payload: bytes) -> bytes:
    """Return what is signed of a payload: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)


def _said(checked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a statement says of a check, as JSON has it."""
    kept = ("valid", "kind", "claim", "left_out", "model", "program")
    said: dict[str, Any] = json.loads(json.dumps({key: checked[key] for key in kept if key in checked}))
    return said


def _envelope(path: str) -> tuple[bytes, str, list[bytes]]:
    content = read_file(path, expected="an attestation", most=MOST)
    try:
        whole = json.loads(content)
        signatures = [b64decode(each["sig"], validate=True) for each in whole["signatures"]]
        return b64decode(whole["payload"], validate=True), str(whole["payloadType"]), signatures
    except (ValueError, LookupError, TypeError, NotBase64, RecursionError):
        raise UsageError(f"--attestation {path}: expected what attest writes, an envelope of DSSE") from None


def _keys(module: str) -> Any:
    return needed(f"cryptography.hazmat.primitives.{module}", "attest")


def _private(path: str) -> Any:
    content = read_file(path, expected="a private key", most=MOST)
    try:
        return _usable(_keys("serialization").load_pem_private_key(content, password=None))
    except (ValueError, TypeError, needed("cryptography.exceptions", "attest").UnsupportedAlgorithm):
        raise UsageError(
            f"--key {path}: expected a private key, Ed25519 or ECDSA, in PEM without a password; "
            "openssl genpkey -algorithm ed25519 makes one"
        ) from None


def _public(path: str) -> Any:
    content = read_file(path, expected="a public key", most=MOST)
    try:
        return _usable(_keys("serialization").load_pem_public_key(content))
    except (ValueError, TypeError, needed("cryptography.exceptions", "attest").UnsupportedAlgorithm):
        raise UsageError(
            f"--key {path}: expected a public key, Ed25519 or ECDSA, in PEM; openssl pkey -pubout makes one"
        ) from None


def _usable(key: Any) -> Any:
    edwards, curve = _keys("asymmetric.ed25519"), _keys("asymmetric.ec")
    known = (
        edwards.Ed25519PrivateKey,
        edwards.Ed25519PublicKey,
        curve.EllipticCurvePrivateKey,
        curve.EllipticCurvePublicKey,
    )
    if not isinstance(key, known):
        raise ValueError("another kind of key")
    return key


def _algorithm(key: Any) -> tuple[Any, ...]:
    """Return what a key is told beside what it signs."""
    curve = _keys("asymmetric.ec")
    edwards = not isinstance(key, curve.EllipticCurvePrivateKey | curve.EllipticCurvePublicKey)
    return () if edwards else (curve.ECDSA(_keys("hashes").SHA256()),)


def _signed(public: Any, signature: bytes, payload: bytes) -> bool:
    try:
        public.verify(signature, encoded(PAYLOAD, payload), *_algorithm(public))
    except needed("cryptography.exceptions", "attest").InvalidSignature:
        return False
    return True


def _named(public: Any) -> str:
    forms = _keys("serialization")
    raw = public.public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{sha256(raw).hexdigest()}"
