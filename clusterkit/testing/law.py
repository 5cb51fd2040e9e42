"""A law: a statement about every stage of a kind, checked on drawn examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

import attrs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from threadpoolctl import threadpool_limits

from clusterkit.contracts import Stage
from clusterkit.errors import ClusterkitWarning
from clusterkit.testing.strategies import Case

Source: TypeAlias = SearchStrategy[object] | Callable[..., SearchStrategy[object]]
"""Source of the examples of an argument: a strategy, or a function from the stage to a strategy."""


def _always(stage: object) -> bool:
    return True


@final
@attrs.frozen(eq=False)
class Law:
    """A statement about stages.

    Parameters
    ----------
    name : str
        Name of the function; it reads as the statement.
    statement : str
        First line of its docstring.
    check : callable
        ``check(stage, **drawn)``; raises AssertionError.
    sources : mapping
        The source of each argument. Without sources the law is checked once.
    applies : callable
        ``applies(stage)`` says whether the law concerns a stage.
    """

    name: str
    statement: str
    check: Callable[..., None]
    sources: Mapping[str, Source] = attrs.field(factory=dict)
    applies: Callable[..., bool] = _always

    def __call__(self, stage: Stage, share: float = 1.0) -> None:
        """Check the law on as many examples as the hypothesis profile says, or on a share of them."""

        def example(**drawn: Any) -> None:
            if not getattr(stage, "takes_negative", True):
                drawn = {
                    name: attrs.evolve(value, absolute=True) if isinstance(value, Case) else value
                    for name, value in drawn.items()
                }
            if getattr(stage, "takes_degrees", False):
                drawn = {
                    name: attrs.evolve(value, degrees=True, d=2) if isinstance(value, Case) else value
                    for name, value in drawn.items()
                }
            if kind := getattr(stage, "takes_pairs", ""):
                drawn = {
                    name: attrs.evolve(value, pairs=kind) if isinstance(value, Case) else value
                    for name, value in drawn.items()
                }
            with warnings.catch_warnings():
                # Documented answers to odd data warn; a RuntimeWarning of numpy is an accident.
                warnings.simplefilter("ignore", ClusterkitWarning)
                warnings.simplefilter("error", RuntimeWarning)
                self.check(stage, **drawn)

        check: Callable[[], None] = example
        if self.sources:
            drawn = {name: _strategy(source, stage) for name, source in self.sources.items()}
            example.__name__ = self.name  # the seed of the derandomised profile derives from it
            phases = [
                phase for phase in settings().phases if phase is not Phase.explain
            ]  # hypothesis would point at lines of numpy
            configured = settings(
                max_examples=max(1, round(share * settings().max_examples)),
                deadline=None,
                suppress_health_check=list(HealthCheck),
                print_blob=False,
                phases=phases,
            )
            check = configured(given(**drawn)(example))
        with threadpool_limits(1):  # on two dozen samples a second thread costs more time than it saves
            check()


def _strategy(source: Source, stage: Stage) -> SearchStrategy[object]:
    return source if isinstance(source, SearchStrategy) else source(stage)


def law(
    laws: list[Law], *, applies: Callable[..., bool] = _always, **sources: Source
) -> Callable[[Callable[..., None]], Law]:
    """Decorator that adds a check to the laws of its kind."""

    def add(check: Callable[..., None]) -> Law:
        assert check.__doc__, "a law states itself in its docstring"
        new = Law(check.__name__, check.__doc__.partition("\n")[0], check, sources, applies)
        laws.append(new)
        return new

    return add
