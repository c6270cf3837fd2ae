"""Where the packages lie: lp/ and models/ stand at the top, and no install needs the links to them."""

from setuptools import find_packages, setup

folders = {"bisimdist": "bisimdist", "bisimdist.lp": "lp", "bisimdist.models": "models"}
inner = {f"{package}.{name}" for package, folder in folders.items() for name in find_packages(folder)}
setup(packages=sorted({*folders, *inner}), package_dir=folders)
