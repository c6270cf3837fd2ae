"""Signed statements about certificates: what they say, and what does not pass for one."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bisimdist.faces.cli.attest import PAYLOAD, encoded, this_checker
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

FILES = Path(__file__).parents[1] / "certificates"
PROOF = FILES / "correct" / "classes.json"

pytestmark = pytest.mark.extra("attest")


def pair(folder: Path, name: str = "key", kind: str = "ed25519") -> tuple[Path, Path]:
    """Make a private and a public key."""
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: PLC0415

    made: dict[str, Callable[[], Any]] = {
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
    }
    key = made[kind]()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    plain = (forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    private.write_bytes(key.private_bytes(*plain))
    form = (forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    public.write_bytes(key.public_key().public_bytes(*form))
    return private, public


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_there_and_back(command: Command, tmp_path: Path, kind: str) -> None:  # noqa: F811
    private, public = pair(tmp_path, kind=kind)
    made = tmp_path / "made.json"
    assert command("attest", PROOF, "--key", private, "-o", made).code == 0
    ended = command("check", PROOF, "--attestation", made, "--key", public)
    assert ended.code == 0
    assert "The attestation holds" in " ".join(ended.out.split())
    said = json.loads(command("check", PROOF, "--attestation", made, "--key", public, "--json").out)
    assert said["attestation"]["holds"] is True
    statement = json.loads(b64decode(json.loads(made.read_text())["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    digest = sha256(PROOF.read_bytes()).hexdigest()
    assert statement["subject"] == [{"name": "classes.json", "digest": {"sha256": digest}}]
    told = statement["predicate"]
    assert told["claim"] == said["claim"]
    assert told["model"] == said["model"]
    assert told["checker"] == this_checker()


def test_it_goes_to_standard_output_too(command: Command, tmp_path: Path) -> None:  # noqa: F811
    private, _ = pair(tmp_path)
    assert json.loads(command("attest", PROOF, "--key", private).out)["payloadType"] == PAYLOAD


def test_what_is_signed_is_in_the_form_of_dsse() -> None:
    """The example of the protocol's own text."""
    example = encoded("http://example.com/HelloWorld", b"hello world")
    assert example == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


@pytest.mark.skipif(not Path("/usr/bin/openssl").exists(), reason="openssl is not installed")
def test_openssl_verifies_it(command: Command, tmp_path: Path) -> None:  # noqa: F811
    private, public = pair(tmp_path)
    envelope = json.loads(command("attest", PROOF, "--key", private).out)
    signed, signature = tmp_path / "signed", tmp_path / "signature"
    signed.write_bytes(encoded(PAYLOAD, b64decode(envelope["payload"])))
    signature.write_bytes(b64decode(envelope["signatures"][0]["sig"]))
    words: list[str | Path] = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public]
    subprocess.run([*words, "-in", signed, "-sigfile", signature], check=True, capture_output=True)


def test_what_is_not_valid_is_not_signed(command: Command, tmp_path: Path) -> None:  # noqa: F811
    private, _ = pair(tmp_path)
    made = tmp_path / "made.json"
    ended = command("attest", FILES / "incorrect" / "C1-upper-too-low.json", "--key", private, "-o", made)
    assert ended.code == 1
    assert "nothing is signed" in ended.err
    assert not made.exists()
    command("attest", FILES / "malformed" / "model-not-json.json", "--key", private)


def test_what_does_not_hold(command: Command, tmp_path: Path) -> None:  # noqa: F811
    private, public = pair(tmp_path)
    _, other = pair(tmp_path, "other")
    made = tmp_path / "made.json"
    command("attest", PROOF, "--key", private, "-o", made)
    envelope = json.loads(made.read_text())
    statement = json.loads(b64decode(envelope["payload"]))

    def reason(held: Any, proof: Path = PROOF, key: Path = public) -> str:
        made.write_text(json.dumps(held))
        ended = command("check", proof, "--attestation", made, "--key", key, "--json")
        said = json.loads(ended.out)
        assert ended.code == 1
        assert said["valid"]
        assert not said["attestation"]["holds"]
        return str(said["attestation"]["reason"])

    def signed(**changes: Any) -> Any:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

        payload = json.dumps({**statement, **changes}).encode()
        key: Any = load_pem_private_key(private.read_bytes(), None)
        signature = b64encode(key.sign(encoded(PAYLOAD, payload))).decode()
        return {**envelope, "payload": b64encode(payload).decode(), "signatures": [{"sig": signature}]}

    assert "no signature" in reason(envelope, key=other)
    assert "no signature" in reason({**envelope, "signatures": []})
    assert "no signature" in reason({**envelope, "payloadType": "text/plain"})
    changed = json.dumps(statement).replace("5/8", "4/8").encode()
    assert "no signature" in reason({**envelope, "payload": b64encode(changed).decode()})
    assert "another certificate" in reason(envelope, proof=FILES / "correct" / "stuck.json")
    assert "something else" in reason(signed(predicate={**statement["predicate"], "claim": []}))
    assert "something else" in reason(signed(predicate={**statement["predicate"], "valid": 1, "more": 2}))
    assert "another kind" in reason(signed(predicateType="https://slsa.dev/provenance/v1"))
    assert "no statement" in reason(signed(subject=None))


@pytest.mark.parametrize("content", ["", "[]", "{", '{"payload": 1}', '{"payload": "?", "signatures": []}'])
def test_what_is_no_attestation(command: Command, tmp_path: Path, content: str) -> None:  # noqa: F811
    _, public = pair(tmp_path)
    made = tmp_path / "made.json"
    made.write_text(content)
    ended = command("check", PROOF, "--attestation", made, "--key", public)
    ended.assert_refused("an envelope of DSSE")


def test_what_is_no_key(command: Command, tmp_path: Path) -> None:  # noqa: F811
    private, public = pair(tmp_path)
    rsa, _ = pair(tmp_path, "rsa", "rsa")
    command("attest", PROOF, "--key", public).assert_refused("expected a private key")
    command("attest", PROOF, "--key", rsa).assert_refused("Ed25519 or ECDSA")
    command("attest", PROOF, "--key", tmp_path / "none").assert_refused()
    made = tmp_path / "made.json"
    command("attest", PROOF, "--key", private, "-o", made)
    command("check", PROOF, "--attestation", made, "--key", private).assert_refused("expected a public key")
    command("check", PROOF, "--attestation", made).assert_refused("go together")
    command("check", PROOF, "--key", public).assert_refused("go together")
