"""A Sphinx extension: formulas become MathML while the site is built, so that a page needs no script and no network.

docutils translates them; a formula that it cannot translate is a warning, which is an error of the build.
"""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

REPLACED = {r"\\dots\b": r"\\ldots", r"\\[Bb]ig\b": "", r"\\textstyle\b": ""}
"""What docutils does not know: by another name, or left out where only the size of a sign is lost."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own."""
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """The markup; the source itself, with a warning, if it cannot be translated."""
    text = node.astext().strip()
    for pattern, other in REPLACED.items():
        text = re.sub(pattern, other, text)
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %s: %s", text, error, location=node)
        return f"<code>{text}</code>"
