"""The group of commands. Each command is imported when it is needed; every failure ends in one line and an exit code.

The built-in commands are a table of strings, so that running one of them asks no plugin. Commands of plugins come after
them, from the hook ``clusterkit_commands``.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

import click

from clusterkit.cli import failures

DEBUG = "--debug"
"""The flag that `App.main` takes from anywhere in the line: users add it at the end of a line that failed."""

COMPLETE = "_CLUSTERKIT_COMPLETE"
"""Environment variable that the shell sets when it asks for completions."""

NOT_LOADED = "Cannot be loaded; run it to see why."
"""Help line of a plugin's command whose module fails to import."""


def plugin_commands() -> list[str]:
    """Names of the commands that installed plugins bring, sorted. Imports the plugin modules, not the commands.

    Where two plugins bring one name, the first distribution in alphabetical order has it, and a warning says how to
    reach the other one.
    """
    from clusterkit.contracts.registry import registry

    return [entry.name for entry in registry.entries("command")]


class App(click.Group):
    """Built-in commands in the given order, then those of plugins; all loaded on first use.

    Parameters
    ----------
    name : str
    commands : mapping
        Name of each built-in command to ``"module:attribute"``. A plugin cannot replace one of them.
    help : str
    """

    def __init__(self, name: str, commands: Mapping[str, str], help: str) -> None:
        super().__init__(name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self.builtin = commands
        self.params += [
            click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version,
                         help="Show the version and exit."),
            # read by `main`, which takes it from anywhere in the line
            click.Option([DEBUG], is_flag=True, expose_value=False, help="Show tracebacks of errors."),
        ]  # fmt: skip

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the built-in commands in the given order, then those of plugins."""
        return [*self.builtin, *self._from_plugins()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None if no plugin brings the name. One that fails to import says so when run."""
        if cmd_name in self.builtin:
            module, _, attribute = self.builtin[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command
        from clusterkit.contracts.registry import registry
        from clusterkit.errors import BrokenPlugin

        if registry.find("command", cmd_name) is None:
            return None
        try:
            plugin_command = cast("click.Command", registry.get("command", cmd_name))
        except BrokenPlugin as error:
            return _unusable(cmd_name, error)
        return plugin_command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of commands with their short help: the built-in ones, then those of plugins."""
        for title, names in (("Commands", list(self.builtin)), ("Commands of plugins", self._from_plugins())):
            from clusterkit.cli.console import printable

            width = formatter.width - 6 - max(map(len, names), default=0)
            commands = {name: self.get_command(ctx, name) for name in names}
            lines = [
                (printable(name), printable(command.get_short_help_str(width)))
                for name, command in commands.items()
                if command
            ]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises
        ------
        click.UsageError
            If there is none; the message names the plugin of the checkout that brings it, or the nearest names.
        """
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no command named {args[0]!r}. {_advice(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: object, **__: object
    ) -> NoReturn:
        """Run and exit. Replaces click's own `main`, which hides a closed pipe behind an exit code of its own."""
        instruction = os.environ.get(COMPLETE)
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, "clusterkit", COMPLETE, instruction))
        words = list(sys.argv[1:] if args is None else args)
        options = words[: words.index("--")] if "--" in words else words  # words after -- are data
        debug = DEBUG in options
        words = [word for word in options if word != DEBUG] + words[len(options) :]
        sys.exit(failures.guarded(lambda: self._run(words), debug))

    def _run(self, args: list[str]) -> None:
        with self.make_context("clusterkit", args) as context:
            self.invoke(context)

    def _from_plugins(self) -> list[str]:
        return [name for name in plugin_commands() if name not in self.builtin]


def _unusable(name: str, error: Exception) -> click.Command:
    """A command in the place of one that cannot be loaded: it takes any arguments and raises the error."""

    def fail() -> None:
        raise error

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name, callback=fail, short_help=NOT_LOADED, add_help_option=False, context_settings=anything
    )  # fmt: skip


def _advice(name: str, known: Sequence[str]) -> str:
    """Advice about a name that no command has."""
    from clusterkit.contracts.providers import VARIABLE, where
    from clusterkit.contracts.registry import registry

    place = where("command", name, VARIABLE)
    if place:
        return f"{place}."
    close = difflib.get_close_matches(name, known, n=1)
    offer = f"Did you mean {close[0]!r}? " if close else ""
    unused = any(plugin.problem for plugin in registry.plugins())
    hint = " Some plugins are not used; see: clusterkit plugins." if unused else ""
    return f"{offer}Available: {', '.join(known)}.{hint}"


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from clusterkit._version import __version__

        click.echo(f"clusterkit {__version__}")
        ctx.exit()
