"""The group of commands: each is imported when it is needed, and every failure ends in one line and an exit code."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from clusterkit.cli import failures

__all__ = ["App"]

DEBUG = "--debug"
COMPLETE = "_CLUSTERKIT_COMPLETE"
"""Set by the shell when it asks for completions."""


class App(click.Group):
    """Commands by name, loaded on first use, in the order given.

    Parameters
    ----------
    name : str
    commands : mapping
        Name to ``"module:attribute"``.
    help : str
    """

    def __init__(self, name: str, commands: Mapping[str, str], help: str) -> None:
        super().__init__(name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self.targets = commands
        self.params += [
            click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version,
                         help="Show the version and exit."),
            # read by `main`, which takes it from anywhere in the line
            click.Option([DEBUG], is_flag=True, expose_value=False, help="Show tracebacks of errors."),
        ]  # fmt: skip

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order given."""
        return list(self.targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self.targets:
            return None
        module, _, attribute = self.targets[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the arguments; the nearest names if there is none."""
        if args[0] not in self.targets and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], self.targets, n=1)
            offer = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"no command named {args[0]!r}.{offer} Available: {', '.join(self.targets)}.")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **__: Any) -> Any:
        """Run and exit. click's own `main` is passed by: it hides a closed pipe behind an exit code of its own."""
        instruction = os.environ.get(COMPLETE)
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, "clusterkit", COMPLETE, instruction))
        given = list(sys.argv[1:] if args is None else args)
        own = given[: given.index("--")] if "--" in given else given
        debug = DEBUG in own
        given = [each for each in own if each != DEBUG] + given[len(own) :]
        sys.exit(failures.guarded(lambda: self._run(given), debug))

    def _run(self, args: list[str]) -> None:
        with self.make_context("clusterkit", args) as context:
            self.invoke(context)


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from clusterkit import __version__

        click.echo(f"clusterkit {__version__}")
        ctx.exit()
