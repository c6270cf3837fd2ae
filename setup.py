"""Where the packages lie: lp/ and models/ stand at the top, and no install needs the links to them."""

from pathlib import Path

from setuptools import find_packages, setup

folders = {"bisimdist": "bisimdist", "bisimdist.lp": "lp", "bisimdist.models": "models"}
inner = {f"{package}.{name}" for package, folder in folders.items() for name in find_packages(folder)}
linked = all(Path("bisimdist", name).is_dir() for name in ("lp", "models"))
setup(
    packages=sorted({*folders, *inner}),
    package_dir=folders,
    # with the links an editable install is a path, which type checkers follow; else a hook, which they do not
    options={"editable_wheel": {"mode": "compat"}} if linked else {},
)
