"""Settings of the documentation: ``sphinx-build -W docs docs/_build``, without any network."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "bisimdist"
author = "the bisimdist developers"
version = release = installed_version("bisimdist")

extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_click", "sphinx_copybutton"),
    *("api", "check_page", "mathml", "notebooks", "pictures", "schemas"),
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # formulas need neither scripts nor a network to be read

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
aliases = ("AnyModel", "ExactNumber", "OnInterrupt", "Progress", "System")  # what these are, docstrings say
autodoc_type_aliases = {name: name for name in aliases}
maximum_signature_line_length = 70
python_use_unqualified_type_names = True
autosummary_generate = False
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
suppress_warnings = ["ref.footnote"]  # a docstring names its sources without pointing at them again

html_theme = "furo"
html_title = f"bisimdist {release}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
home = os.environ.get("BISIMDIST_REPOSITORY", "").rstrip(
    "/"
)  # where the repository is published: pages lead to their source
if home:
    html_theme_options = {"source_repository": home, "source_branch": "main", "source_directory": "docs/"}
versions = os.environ.get(
    "BISIMDIST_VERSIONS", ""
).split()  # sites of other versions, as 0.1.0=https://…/0.1.0/
html_context = {"versions": [tuple(version.split("=", 1)) for version in versions]}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

smartquotes = False  # options begin with two hyphens
