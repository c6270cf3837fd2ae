"""Where the packages lie (lp/ and models/ stand at the top), and what a package index shows."""

import os
import re
from pathlib import Path

from setuptools import find_packages, setup

folders = {"bisimdist": "bisimdist", "bisimdist.lp": "lp", "bisimdist.models": "models"}
inner = {f"{package}.{name}" for package, folder in folders.items() for name in find_packages(folder)}
linked = all(Path("bisimdist", name).is_dir() for name in ("lp", "models"))

# Whoever releases says where the repository is published: there the links of the README lead, which are plain
# text without it.
home = os.environ.get("BISIMDIST_REPOSITORY", "").rstrip("/")
link = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")
absolute = rf"[\1]({home}/blob/main/\2)" if home else r"\1"
readme = link.sub(absolute, Path("README.md").read_text(encoding="utf-8"))
pages = {
    "Documentation": "docs/index.md",
    "Changelog": "CHANGELOG.md",
    "Security": "SECURITY.md",
    "Certificates": "docs/certificate-spec.md",
}
urls = {name: f"{home}/blob/main/{page}" for name, page in pages.items()}
urls |= {"Source": home, "Issues": f"{home}/issues"}

setup(
    packages=sorted({*folders, *inner}),
    package_dir=folders,
    # with the links an editable install is a path, which type checkers follow; else a hook, which they do not
    options={"editable_wheel": {"mode": "compat"}} if linked else {},
    long_description=readme,
    long_description_content_type="text/markdown",
    project_urls=urls if home else {},
)
