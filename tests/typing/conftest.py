"""The snippets are read by type checkers and never run: they would register stages for all other tests."""

collect_ignore = ["snippets"]
