"""Configuration of Sphinx for the site; ``python docs/site/build.py`` collects the pages and runs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["CLUSTERKIT_PLUGINS"] = ""  # the same reference whatever is installed
os.environ["MPLBACKEND"] = "Agg"
ROOT = Path(os.environ["CLUSTERKIT_CHECKOUT"])
sys.path.insert(0, str(ROOT / "docs" / "site"))

import clusterkit  # noqa: E402 - after the settings that it reads

project = "clusterkit"
author = "The clusterkit developers"
copyright = author
version = release = clusterkit.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "formulas",
    "names",
]
exclude_patterns = ["files/**"]
html_math_renderer = "mathml"
nitpicky = True
smartquotes = False
default_role = "name"  # of `names`: code, and a link where the name is documented
highlight_language = "text"

# pages
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 5
myst_heading_slug_func = "names.slug"

# reference
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
templates_path = [str(ROOT / "docs" / "site" / "templates")]

# gallery
sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("clusterkit",),
    "capture_repr": (),
    "write_computation_times": False,
    "show_signature": False,
    "plot_gallery": os.environ.get("CLUSTERKIT_GALLERY", "run") == "run",
    "parallel": False,
    "thumbnail_size": (320, 224),
    "default_thumb_file": str(ROOT / "docs" / "images" / "demo.png"),  # of a build that does not run the examples
    "min_reported_time": 10**6,  # seconds of one machine say nothing to readers
}

# look
html_theme = "pydata_sphinx_theme"
html_title = "clusterkit"
html_static_path = [str(ROOT / "docs" / "site" / "static")]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs" / "site" / "static" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "clusterkit"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = "$ "
