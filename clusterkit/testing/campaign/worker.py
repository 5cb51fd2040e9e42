"""Runs cases in a process of its own: one that hangs or dies takes no other case with it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection

from clusterkit.testing.campaign.comparisons import check_comparison
from clusterkit.testing.campaign.data_sets import AwkwardSet, awkward_sets
from clusterkit.testing.campaign.edges import check_edge
from clusterkit.testing.campaign.ensembles import check_ensemble
from clusterkit.testing.campaign.findings import CRASH, CaseReport, Problem, of_error
from clusterkit.testing.campaign.fits import Trial, check_trial
from clusterkit.testing.campaign.hostile_files import check_files
from clusterkit.testing.campaign.odd_parameters import check_odd_case
from clusterkit.testing.campaign.plan import Case, Selection
from clusterkit.testing.campaign.plugin_breakers import check_breaker
from clusterkit.testing.campaign.relations import check_relation
from clusterkit.testing.campaign.shrinking import smallest
from clusterkit.testing.campaign.subjects import Subject, compositions_with, of_recipe

__all__ = ["ADDRESS_SPACE", "run_case", "serve", "subject_of", "trial_of"]

ADDRESS_SPACE = 12 * 2**30
"""Bytes of address space of a worker: what wants more than that should have been refused before."""


def serve(connection: Connection, selection: Selection, threads: int) -> None:
    """Run the cases that come over a connection until None comes, and send each report back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects the reports
    _limit_address_space()
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        while True:
            case: Case | None = connection.recv()
            if case is None:
                return
            connection.send(run_case(case, selection))


def _limit_address_space() -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(hard, ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def run_case(case: Case, selection: Selection | None = None) -> CaseReport:
    """Run a case in this process."""
    report = CaseReport()
    try:
        report.problems = list(_problems(case, Selection() if selection is None else selection, report))
    except Exception as error:  # of the campaign itself: a finding too, or it would go unseen
        problem = of_error(error, documented=())
        report.problems.append((problem or Problem(CRASH, "a case cannot be run", repr(error)), ""))
    return report


def _problems(case: Case, selection: Selection, report: CaseReport) -> Sequence[tuple[Problem, str]]:
    if case.area == "fits":
        return _fit_problems(case, selection, report)
    if case.area == "relations":
        return check_relation(case.item, subject_of(case, selection), report.counts, case.seed)
    if case.area == "parameters":
        return [each for odd in case.parameters for each in check_odd_case(odd, report.counts, case.seed)]
    if case.area == "comparisons":
        return check_comparison(case.item, report.counts, case.seed)
    if case.area == "ensembles":
        return check_ensemble(case.subject, case.item, report.counts, case.seed)
    if case.area == "breakers":
        return check_breaker(case.subject, case.item, report.counts)
    if case.area == "edges":
        return check_edge(case.item, report.counts, case.seed, case.turn)
    return check_files(case.subject, report.counts, case.seed)


def subject_of(case: Case, selection: Selection) -> Subject:
    """What a case fits."""
    if case.subject.startswith("#"):
        return compositions_with(*selection.kind_and_name)[int(case.subject[1:])]
    return of_recipe(case.subject)


def trial_of(case: Case, selection: Selection) -> Trial:
    """The fit of a case."""
    data: AwkwardSet = awkward_sets()[case.item]
    subject = subject_of(case, selection)
    return Trial(subject, data, data.drawn(case.seed), 2 + case.seed % 2, case.seed % 1000, case.turn)


def _fit_problems(case: Case, selection: Selection, report: CaseReport) -> list[tuple[Problem, str]]:
    trial = trial_of(case, selection)
    unique: dict[tuple[str, str], Problem] = {}
    for problem in check_trial(trial, report.counts):
        unique.setdefault((problem.severity, problem.what), problem)
    return [(problem, smallest(trial, problem)) for problem in unique.values()]
