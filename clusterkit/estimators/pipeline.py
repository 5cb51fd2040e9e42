"""The estimator `Pipeline`: stages by name, composed, fitted, and inspected in the way of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
from sklearn.base import ClusterMixin

from clusterkit._typing import Array, ArrayLike, RandomState
from clusterkit.contracts import Driver, DriverResult, FeatureMap, Solver, Stage
from clusterkit.contracts.arguments import (
    BalancerLike,
    FeatureMapLike,
    InitLike,
    LabelerLike,
    NumberLike,
    SamplesLike,
    SolverLike,
    TunerLike,
)
from clusterkit.contracts.composition import Composition, Problem, linked, weight_problems, weighted
from clusterkit.contracts.links import LinksLike, checked_links, checked_seeds, linked_groups
from clusterkit.contracts.params import MOST_REPEATS, check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.drivers.compose import PLACEHOLDER, checked_number, is_open, limits_of
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import IncompatibleStages, Infeasible, InvalidParameter, NeedsClusters
from clusterkit.estimators import same_place
from clusterkit.estimators.base import FittedAttributes, NestedParams
from clusterkit.estimators.outputs import inductive_instead, weighing
from clusterkit.estimators.place import (
    SAMPLE,
    PlacedSamples,
    domain_of_sample,
)
from clusterkit.estimators.preparing import (
    attach,
    features_of,
    fit_mixed,
    is_table,
    prepared_for,
    refuse_changed_stages,
    stages_of_tables,
)
from clusterkit.estimators.samples import checked, index_of, refuse_unsuited
from clusterkit.estimators.units import SCALE_FIRST, warn_of_units
from clusterkit.fitting.device_paths import check_rows, device_problems, row_problems
from clusterkit.fitting.fit import bind, check_new
from clusterkit.fitting.samples import EngineSamples, Samples, engine_for
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples.limits import reusing

if TYPE_CHECKING:
    from sklearn.utils import Tags

REMEMBERED = 256
"""Number of slot values whose results of `takes_arrays` are stored: every validation of samples asks for the tags."""

_taken: dict[object, bool] = {}


class Pipeline(FittedAttributes, ClusterMixin, NestedParams):
    """A clustering algorithm composed of stages.

    Each slot takes a name (``"elm"``), a dict (``{"name": "elm", "n_hidden": 300}``) or a stage object; `featuremap`
    also takes a list of maps that are applied one after the other. Parameters of stages are reached as
    ``slot__parameter`` by `set_params` and in grids. The defaults are extreme maximum margin clustering.

    Parameters
    ----------
    featuremap : str, dict, list or FeatureMap, default "elm"
        Turns the data into features or a kernel.
    solver : str, dict or Solver, default "ridge"
        Optimises in this space.
    labeler : str, dict or Labeler, default "auto"
        Reads labels from the solution; "auto" follows from the solver and the number of clusters.
    balancer : str, dict, Balancer or None, default "auto"
        Keeps cluster sizes within bounds; "auto" is the solver's own default, None is no balancer.
    init : str, dict or Partitioner, default "kmeans"
        Gives the first labels, for a solver that learns from labels: a partitioner, or any recipe by name.
    tuner : str, dict, Tuner or None, default None
        Replaces parameters that are None by values found without labels.
    n_clusters : int, "auto", (int, int) or None, default None
        Number of clusters. Leave it out where the labeler finds the number or allows only one (threshold: two). "auto"
        fits many numbers, and a range ``(least, most)`` those in it, and takes the best by the criterion of `Auto`, in
        the coordinates to which the feature map scales the data. Where the method finds the number, or makes one only,
        nothing is chosen.
    n_init : int, default 1
        Number of starts; the result with the lowest objective is kept.
    max_iter : int, default 100
        Most iterations of the loop between labels and solver; iterations inside the solver are ``solver__max_iter``.
    metric : {"euclidean", "cosine", "haversine", "precomputed"}, default "euclidean"
        How rows are compared. "cosine" puts the feature map `unit` in front of `featuremap`: rows of length 1, for
        embeddings of texts or images. "haversine" puts `sphere` there: latitude and longitude in degrees. With
        "precomputed" X is a square matrix, of distances for spanning trees and of a kernel for kernel methods
        (feature map `precomputed`), and `predict` takes the values between new rows and those of the fit.
    random_state : int, Generator, RandomState or None, default None
        The seed from which every slot gets a random stream of its own.
    verbose : bool, default False
        Whether to show a progress bar, if standard error is a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each sample; -1 is noise. Clusters that were asked for and have no sample are left out here and in
        all tables with a column for each cluster, but for numbers that seeds name or that are places along one score.
    n_iter_ : int
        Iterations of the loop, or of the solver where the loop has a single one.
    converged_ : bool
    stop_reason_ : str
    interrupted_ : bool
        Whether Ctrl-C ended the tuner or the fit early; the attributes then belong to the best labels so far.
    history_ : ndarray
        Objective after each iteration.
    objective_ : float
        Objective of `labels_`; nan if the solver has none.
    space_ : Space or None
        The fitted feature map, which maps new samples.
    outcome_ : Outcome or None
        The solution: scores, an embedding, a domain or a tree.
    resolved_ : dict
        Parameters that the fit decided, by slot; the entry "tuner" says how a tuner found its values.
    exact_on_training_ : bool
        Whether ``predict`` on the training rows gives `labels_`.
    candidates_, confidence_, perhaps_one_cluster_, second_n_clusters_
        Attributes of a chosen number of clusters, see `Auto`; only where the number was chosen. ``resolved_["auto"]``
        has the choice in short: the best score at each number ("score_of_number"), ties ("tied_with") and
        "perhaps_one_cluster".
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X had string column names.
    memberships_ : ndarray of shape (n, k)
        Degree to which each sample belongs to each cluster; only for methods that have such degrees. Rows sum to 1 for
        fuzzy c-means; for HDBSCAN they hold `probabilities_` in the column of the label. A balancer changes labels, not
        memberships.
    probabilities_ : ndarray of shape (n,)
        Degree to which each sample belongs to its own cluster, 0 for noise; only for HDBSCAN.
    outlier_scores_ : ndarray of shape (n,)
        How far each sample is outside the domain, level minus value, at most 0 inside; only for methods whose outcome
        is a domain, or whose labeler gives scores of its own.

    Raises
    ------
    UnknownName, InvalidParameter, NeedsClusters, IncompatibleStages, InvalidData, Infeasible, NeedsMemory
        All are ValueErrors. `fit` raises them before any work; as in scikit-learn it also checks the parameters.

    Examples
    --------
    >>> from clusterkit import Pipeline
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([40, 40], random_state=0, cluster_std=0.5)
    >>> labels = Pipeline(featuremap="elm", solver="ridge", labeler="threshold", random_state=0).fit_predict(X)
    >>> sorted(map(int, set(labels)))
    [0, 1]
    """

    _always_fitted = FittedAttributes._always_fitted | {"_takes_sparse_rows"}

    _slots: ClassVar[Mapping[str, str]] = {slot: slot for slot in compose.KINDS}
    _on_devices: ClassVar[bool] = True

    def __init__(
        self,
        featuremap: FeatureMapLike = "elm",
        solver: SolverLike = "ridge",
        labeler: LabelerLike = "auto",
        balancer: BalancerLike | None = "auto",
        init: InitLike = "kmeans",
        tuner: TunerLike | None = None,
        n_clusters: NumberLike = None,
        n_init: int = 1,
        max_iter: int = 100,
        metric: str = "euclidean",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.featuremap = featuremap
        self.solver = solver
        self.labeler = labeler
        self.balancer = balancer
        self.init = init
        self.tuner = tuner
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.metric = metric
        self.random_state = random_state
        self.verbose = verbose

    @weighing
    def fit(
        self,
        X: SamplesLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        links: LinksLike | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X, shape (n, d), or what `clusterkit.open` gives; `y` is ignored.

        `sample_weight` (n,) counts the rows: one of weight 3 as three equal ones. Methods that count rows refuse it.

        `links` are rows of (i, j, sign): rows i and j belong together (+1) or are apart (-1). They are numbers of rows,
        or for a data frame labels of its index; `clusterkit.Links` survives a cross-validation. `seeds` (n,) are the
        clusters of some rows, -1 where not known, and fix the numbers of these clusters. Both are kept, or one error
        names those that contradict each other.
        """
        engine = engine_for(X)
        of_cells = is_table(X) if engine is None else engine.are_tables(X)
        stages = stages_of_tables(self) if of_cells else None
        if engine is None:
            if stages is not None:
                fitted = prepared_for(self, X)
                self._weighted(stages, sample_weight, fitted.rows)
                stages = self._linked(stages, links, seeds, fitted.rows, index_of(X))
                attach(self, fit_mixed(self, stages, X, fitted))
                return self
            if of_cells:
                refuse_changed_stages(self, X)
            refuse_unsuited(X)
        elif stages is not None:
            from clusterkit.estimators.mixed_blocks import fit_collection

            self._weighted(stages, sample_weight, 0)
            if links is not None or seeds is not None:
                raise IncompatibleStages(
                    f"links and seeds need the rows of the table in memory; fit a data frame instead of this "
                    f"{type(X).__name__}"
                )
            fit_collection(self, stages, X, engine)
            return self
        composition = self.composition()
        whole = SAMPLE if domain_of_sample(composition) else 0
        dense_only = not _takes_sparse(composition)
        placed = PlacedSamples.of(self, X, composition.featuremap, whole=whole, dense_only=dense_only)
        if self.metric == "haversine":
            from clusterkit.tables.preparing.places import check_order

            check_order(getattr(self, "feature_names_in_", ()))
        samples, streams = placed.samples, Seeds.of(self.random_state)
        composition = self._weighted(composition, sample_weight, samples.n)
        composition = self._linked(composition, links, seeds, samples.n, index_of(X))
        check_place(self, composition, samples)
        report: Mapping[str, object] = {}
        with (
            placed.fitted_where(),
            same_place.surroundings(self.verbose, samples.n, composition.featuremap),
        ):
            if self._chooses_number(composition):
                tuning, answer = compose.Tuning(composition), choose_number(self, placed.in_memory(), streams)
                fit, report = answer.fit, answer.report
            else:
                tuning = self._tuned(composition, placed.array, streams)
                if tuning.composition.rows is not None and not (links is None and seeds is None):
                    raise IncompatibleStages(
                        f"links and seeds need a fit to all rows: of {samples.n} rows the tuner chose "
                        f"{len(tuning.composition.rows)} to be fitted. Fit fewer rows, or set the parameters that it "
                        "chooses"
                    )
                fit = SingleDriver().run([tuning.composition], samples, streams).fit
        self._takes_sparse_rows = isinstance(placed.array, SparseRows)
        self._set_fitted(fit, tuning, self._reported_labeler(tuning.composition))
        self._set_report(report)
        placed.place(self)
        whole_rows = self.metric != "euclidean" or composition.featuremap.takes_pairs
        if placed.array is not None and not whole_rows:  # a unit is one of a column
            warn_of_units(self, placed.array, placed.with_samples(fit.space), SCALE_FIRST)
        return self

    def _weighted(
        self, c: Composition, sample_weight: ArrayLike | None, n: int, others: Sequence[Problem] = ()
    ) -> Composition:
        """The composition with sample weights, refused where something counts rows: `others`, too."""
        problems = list(others)
        if self.tuner is not None:
            problems.append(Problem("tuner", "it compares fits by rows; tuner=None takes weights"))
        if self._chooses_number(c):
            problems.append(Problem("n_clusters", "its choice compares fits by rows; a number takes weights"))
        return weighted(c, sample_weight, n, problems)

    def _why_not_weighted(self) -> str | None:
        """Which stages count rows, so that `fit` takes no weights; None if it takes them."""
        c = self._planned()
        if c is None:
            return None  # fit reports what is wrong
        problems = [problem.reason for problem in weight_problems(c)]
        if self.tuner is not None or self._chooses_number(c):
            problems.append("a tuner, or the choice of n_clusters, compares fits by rows")
        return "; ".join(problems) or None

    def _linked(
        self,
        c: Composition,
        links: LinksLike | None,
        seeds: ArrayLike | None,
        n: int,
        index: object = None,
        others: Sequence[Problem] = (),
    ) -> Composition:
        """The composition with links and seeds of n rows, refused where something breaks them: `others`, too."""
        if links is None and seeds is None:
            return c
        problems = list(others)
        if self._chooses_number(c):
            problems.append(Problem("n_clusters", "its choice compares fits without links; a number takes links"))
        pairs = None if links is None else checked_links(links, n, index)
        sown = None if seeds is None else checked_seeds(seeds, n, c.n_clusters, index)
        groups = linked_groups(pairs, sown, n, c.n_clusters)
        if c.n_clusters is None and c.solver.chooses_number:
            solver: Any = c.solver
            fewest, most = groups.fewest_clusters(), solver.most_clusters
            if fewest > most:
                try:
                    linked_groups(pairs, sown, n, most)
                except Infeasible as error:
                    instead = f"n_clusters=({fewest}, {2 * fewest})"
                    raise Infeasible(f"{error}. The number is open up to {most}; {instead} tries more") from None
            c = attrs.evolve(c, solver=solver.with_parameters(least_clusters=max(solver.least_clusters, fewest)))
        return linked(c, groups, problems)

    def _rows_of(self, X: SamplesLike) -> Array:
        """New samples X as the stages take them, (m, d): checked, and prepared where the fit prepared a table."""
        rows = features_of(self, X)
        if rows is None:
            sparse = self._takes_sparse_rows if self.space_ is not None else None
            rows = checked(self, X, self._featuremap_or_none(), reset=False, sparse=sparse)
        if self.space_ is not None:  # no row is near or far to a single cluster
            check_new(rows, self._featuremap_or_none())
        return rows

    def _planned(self) -> Composition | None:
        """The composition that a fit would run; None if a parameter is wrong, which fit reports."""
        try:
            return self.composition()
        except ValueError:
            return None

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        fitted = vars(self).get("preparation_")
        if fitted is None or not fitted.coded or stages_of_tables(self) is None:  # a table may leave the number open
            self.composition()
        super()._check_parameters()

    def composition(self, X: Array | None = None, seeds: Seeds | None = None) -> Composition:
        """The stages, resolved and checked; with data X, shape (n, d), and seeds also tuned."""
        # a subclass for a method that finds the number of clusters may drop the parameter
        number: object = getattr(self, "n_clusters", None)
        if is_open(number):
            try:
                c = self._composition_at(None)
            except NeedsClusters:
                c = self._composition_at(PLACEHOLDER)
            chooses = c.n_clusters is None and c.solver.chooses_number
            between = limits_of(number, 1 if chooses else 2)
            if between is not None and chooses:
                least, most = between
                return attrs.evolve(c, solver=c.solver.with_parameters(least_clusters=least, most_clusters=most))
            only = c.labeler.max_clusters
            if between is not None and only is not None and not between[0] <= only <= between[1]:
                raise InvalidParameter(f"n_clusters={number!r}: labeler '{c.labeler.name}' makes {only} clusters only")
        else:
            c = self._composition_at(checked_number(number))
        # resolved before the data are read, so that a wrong tuner costs no time
        compose.resolve("tuner", self.tuner)
        return c if X is None or seeds is None else self._tuned(c, X, seeds).composition

    def _composition_at(self, k: int | None) -> Composition:
        """The stages, resolved and checked, at a number of clusters; None where the method finds it."""
        n_init = check_count("n_init", self.n_init, at_most=MOST_REPEATS)
        max_iter = check_count("max_iter", self.max_iter)
        return compose.compose({slot: getattr(self, slot) for slot in self._slots}, k, n_init, max_iter, self.metric)

    def _chooses_number(self, c: Composition) -> bool:
        """Whether the number of clusters is left to the criterion: it is open, and the method makes any."""
        any_number = c.n_clusters is not None and c.labeler.max_clusters is None
        return any_number and is_open(getattr(self, "n_clusters", None))

    def _reported_labeler(self, c: Composition) -> str | None:
        """The name of the labeler of a composition, for `resolved_`; None where the user named it."""
        return c.labeler.name if isinstance(self.labeler, str) and self.labeler == compose.AUTO else None

    def _why_not_inductive(self) -> str | None:
        """Why there is no `predict`, with what would give one; None if there is."""
        try:
            c = self.composition()
        except ValueError:
            return None  # fit reports what is wrong
        if c.inductive:
            return None
        blamed = f"labeler '{c.labeler.name}'" if not c.labeler.inductive else f"solver '{c.solver.name}'"
        return f"{blamed} labels the fitted samples only (transductive). {inductive_instead(c)}"

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # small samples are made dense where a stage needs it
        tags.array_api_support = takes_arrays(self)
        featuremap = self._featuremap_or_none()
        if featuremap is not None and featuremap.takes_pairs:
            tags.input_tags.pairwise, tags.input_tags.sparse = True, False
        return tags

    def _tuned(self, c: Composition, X: Array | None, seeds: Seeds) -> compose.Tuning:
        """The composition with the tuner's values, and how the tuner found them; without a tuner X is not read."""
        tuner = compose.resolve_tuner(self.tuner)
        if tuner is None:
            return compose.Tuning(c)
        assert X is not None
        check_new(X, c.featuremap)  # no search for data that the fit refuses
        return compose.tuned(c, tuner, X, seeds)

    def _featuremap_or_none(self) -> FeatureMap | None:
        """The feature map; None where the slot has no valid value, which fit reports."""
        try:
            solver = compose.resolve_as(Solver, "solver", self.solver)
            return compose.measured(compose.resolve_as(FeatureMap, "featuremap", self.featuremap), self.metric, solver)
        except ValueError:
            return None

    def _stage(self, name: str) -> Stage | None:
        """The stage of a slot; for "auto" the balancer that follows from the solver, else None."""
        value = getattr(self, name)
        if isinstance(value, str) and value == compose.AUTO:
            if name != "balancer":
                return None
            return compose.resolve_balancer(value, compose.resolve_as(Solver, "solver", self.solver))
        return compose.resolve(name, value)


def _takes_sparse(c: Composition) -> bool:
    """Whether every stage that would see sparse samples can work on them."""
    if not c.featuremap.sparse or c.featuremap.makes_dense or not c.featuremap.keeps_sparse:
        return c.featuremap.sparse
    return c.path is not None and c.path.sparse


def choose_number(pipeline: Pipeline, X: Array, seeds: Seeds, driver: Driver | None = None) -> DriverResult:
    """The fit at the number of clusters that the criterion chooses, compared where the feature map scales to.

    Parameters
    ----------
    pipeline : Pipeline
        Pipeline whose `n_clusters` is "auto" or a range, and whose method takes any number.
    X : ndarray of shape (n, d)
    seeds : Seeds
    driver : Driver or None, default None
        Driver that fits the pipeline at each number; None: a single fit.

    Returns
    -------
    DriverResult
        Fit with the report of the driver, and of the choice (`REPORT`).

    Raises
    ------
    InvalidParameter
        If there is a tuner, or the samples are sparse.
    """
    from clusterkit.drivers.auto import AutoDriver
    from clusterkit.drivers.auto_fits import of_composition, pool_of

    if isinstance(X, SparseRows) or pipeline.tuner is not None:
        raise InvalidParameter("n_clusters='auto' needs dense samples and no tuner; give a number")
    if pipeline.composition().featuremap.takes_pairs:
        raise InvalidParameter(
            f"n_clusters={pipeline.n_clusters!r} compares numbers by coordinates, and a precomputed matrix has none; "
            "give a number, or take recipe 'hdbscan', which finds it from distances"
        )
    if driver is None or isinstance(driver, SingleDriver):
        driver = None
    composition = pipeline.composition()
    between = limits_of(pipeline.n_clusters)

    def at(k: int) -> Composition:
        return pipeline._composition_at(k)

    if isinstance(driver, AutoDriver):
        members = [of_composition(composition, composition.solver.name, at), *pool_of(driver.pool)]
        return attrs.evolve(driver, between=between).choose(members, None, X, seeds)
    member = of_composition(composition, composition.solver.name, at, driver)
    with reusing():
        space = bind(composition, X, seeds).space.scaled_points() if len(X) >= PLACEHOLDER else None
        return AutoDriver(pool=(), between=between).choose([member], None, X, seeds, space)


def check_place(model: Pipeline, composition: Composition, samples: Samples) -> None:
    """Refuse, before any work, what needs all samples in memory where they are not there."""
    if not isinstance(samples, EngineSamples):
        return
    check_rows(composition, samples.engine, samples.n)
    number = getattr(model, "n_clusters", None)
    if model.tuner is not None or is_open(number):
        option = "tuner" if model.tuner is not None else "n_clusters='auto'"
        raise IncompatibleStages(f"{option} compares fits of all rows in memory. {samples.engine.by_sample}")


def takes_arrays(model: Pipeline) -> bool:
    """Whether arrays of other libraries can be fitted on their device (scikit-learn's tag `array_api_support`)."""
    number = getattr(model, "n_clusters", None)
    if model.tuner is not None or is_open(number):
        return False
    key = _frozen((number, model.featuremap, model.solver, model.labeler, model.metric))
    try:
        known = _taken.get(key)
    except TypeError:  # the fit reports the error
        return False
    if known is None:
        if len(_taken) >= REMEMBERED:
            _taken.clear()
        known = _taken[key] = _take_arrays(
            {"featuremap": model.featuremap, "solver": model.solver, "labeler": model.labeler}, number, model.metric
        )
    return known


def _frozen(value: object) -> object:
    """The value of a slot, lists, arrays and dicts in it too, as something with a hash."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return frozenset((key, _frozen(each)) for key, each in value.items()) if isinstance(value, dict) else value


def _take_arrays(slots: dict[str, object], number: int | None, metric: str) -> bool:
    """Whether a composition with these slots takes arrays on their device."""
    # few rows are started and balanced on the host, whatever stage does that
    try:
        c = attrs.evolve(
            compose.compose({**slots, "balancer": None, "init": "random"}, number, metric=metric), init=None
        )
    except ValueError:  # fit reports what is wrong
        return False
    c = attrs.evolve(c, init=None)
    return not list(row_problems(c, in_process=True)) and not list(device_problems(c))
