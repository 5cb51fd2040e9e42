"""A Sphinx extension: names in single backticks become code, and links where the site documents them.

Docstrings write `recipe` for names of all kinds, most of which have no page of their own, so a name without a page is
no error. Members that estimators inherit from scikit-learn are left out.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", add_role)
    app.connect("autodoc-skip-member", skipped)
    app.connect("missing-reference", code_instead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_role(app: Sphinx) -> None:
    """The role, which belongs to the Python domain."""
    from docutils.parsers.rst import roles

    roles.register_local_role("name", Name())


class Name(PyXRefRole):
    """A reference to any Python object, without a warning where there is no such page."""

    def run(self) -> Any:
        """As ``:py:obj:`name```; what cannot be a name is code."""
        self.name, self.refdomain, self.reftype = "py:obj", "py", "obj"
        self.classes = ["xref", "py", "py-obj"]
        if self.disabled or not re.fullmatch(r"[~.!]?[\w.]+(\(\))?", self.target):
            return [nodes.literal(self.rawtext, self.text)], []
        return self.create_xref_node()

    def process_link(
        self, env: BuildEnvironment, refnode: Element, has_explicit_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        """Marks the reference as one that may lead nowhere."""
        refnode["may_lead_nowhere"] = True
        return super().process_link(env, refnode, has_explicit_title, title, target)


def code_instead(app: Sphinx, env: BuildEnvironment, node: Element, content: Element) -> Element | None:
    """What stands in the place of a name that has no page."""
    return content if node.get("may_lead_nowhere") else None


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def skipped(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """What scikit-learn brings is documented there."""
    return True if str(getattr(member, "__module__", "") or "").startswith("sklearn.") else None
