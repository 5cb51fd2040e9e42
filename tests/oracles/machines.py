"""Support vector machines with a bias, and the choice of the bias, by plain loops."""

import numpy as np
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.families.shared.codecs import BiasThreshold
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


def solve_once(solver, space, labels, previous=None, **parameters):
    """One iteration: the outcome and its objective."""
    prepared = solver(**parameters).prepare(space, Task(space.n, 2), None)
    coded = BiasThreshold().encode(labels, 2)
    outcome = prepared.solve(coded, previous, None)
    return outcome, float(prepared.objective(coded, outcome)[0])


@st.composite
def problem(draw, most=30):
    """Rows, labels of both kinds, and a width as an inverse squared distance."""
    n, d = draw(st.integers(3, most)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    labels = rng.integers(2, size=n)
    labels[:2] = [0, 1]
    return X, labels, draw(st.sampled_from([0.05, 0.5, 3.0]))


def loss(g, b, y, name, epsilon=0.0):
    """Sum of the losses of scores g with a bias b for targets y, term by term."""
    total = 0.0
    for score, target in zip(g, y, strict=True):
        r = score + b - target
        if name == "hinge":
            total += max(0.0, 1.0 - target * (score + b))
        elif name == "square":
            total += r * r
        else:
            total += max(0.0, abs(r) - (epsilon if name == "epsilon" else 0.0))
    return total


def candidates(g, low, high, name, epsilon=0.0):
    """(loss, k, b) for every k in low..high: the k lowest scores are negative; no k separates equal scores."""
    ordered, n = np.sort(g), len(g)
    splits = []
    for k in range(max(low, 1), min(high, n - 1) + 1):
        if ordered[k - 1] == ordered[k]:
            continue
        b = -(ordered[k - 1] + ordered[k]) / 2.0
        y = [-1.0] * k + [1.0] * (n - k)
        splits.append((loss(ordered, b, y, name, epsilon), k, b))
    return splits


def smo(K, y, low, high, epsilon, tol, max_iter=100_000):
    """Steps on the pair of largest gain until no pair has any: ``½ β'Kβ - y'β + ε|β|₁``, sum 0, low <= β <= high."""
    beta = np.zeros(len(y))
    for _ in range(max_iter):
        G = K @ beta - y
        up = np.where(beta < high, G + np.where(beta >= 0, epsilon, -epsilon), np.inf)
        down = np.where(beta > low, G + np.where(beta > 0, epsilon, -epsilon), -np.inf)
        i = int(np.argmin(up))
        if down.max() - up[i] <= tol:
            break
        bend = np.maximum(K[i, i] + np.diag(K) - 2.0 * K[i], 1e-12)
        gain = np.where(down > up[i], (down - up[i]) ** 2 / bend, -1.0)
        j = int(np.argmax(gain))
        grow = -beta[i] if epsilon > 0 and beta[i] < 0 else high[i] - beta[i]
        shrink = beta[j] if epsilon > 0 and beta[j] > 0 else beta[j] - low[j]
        step = min((down[j] - up[i]) / bend[j], grow, shrink)
        beta[i] += step
        beta[j] -= step
    return beta


def primal(K, alpha, y, C, name, epsilon=0.0):
    """``|w|²/2 + C Σ loss`` at the best bias, at which some loss has a kink; the square loss is halved."""
    g = K @ alpha
    if name == "square":
        biases, C = [float(np.mean(y - g))], 0.5 * C
    else:
        biases = [t - s + e for s, t in zip(g, y, strict=True) for e in (-epsilon, epsilon)]
    return 0.5 * alpha @ g + C * min(loss(g, b, y, name, epsilon) for b in biases)


def dual(K, alpha, y, name, epsilon=0.0):
    """The dual value of feasible α, which never exceeds the primal one."""
    return y @ alpha - 0.5 * alpha @ K @ alpha - (epsilon * np.abs(alpha).sum() if name == "epsilon" else 0.0)


def least_squares(K, y, C):
    """Dual variables and bias of the least squares machine, by one dense system of equations."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.eye(n) / C
    system[:n, n] = system[n, :n] = 1.0
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return solution[:n], solution[n]


def iterate(K, labels, C, low, high, name, max_iter=100):
    """IterSVM or IterSVR by scikit-learn and loops: the labels after each iteration, until they repeat."""
    from sklearn.svm import SVC, SVR

    history = [labels]
    for _ in range(max_iter):
        y = 2.0 * history[-1] - 1.0
        if name == "square":
            alpha, _ = least_squares(K, y, C)
        else:
            machine = SVC if name == "hinge" else SVR
            extra = {} if name == "hinge" else {"epsilon": 0.0}
            fitted = machine(kernel="precomputed", C=C, tol=1e-9, **extra).fit(K, y)
            alpha = np.zeros(len(y))
            alpha[fitted.support_] = fitted.dual_coef_[0]
        g = K @ alpha
        _, _, b = min(candidates(g, low, high, name))
        history.append((g + b > 0).astype(int))
        if any(np.array_equal(history[-1], before) for before in history[:-1]):
            break
    return history


def iterate_squares(K, labels, C, low, high, max_iter=100):
    """IterSVR with the squared loss as published, in the primal: labels and objectives of the iterations.

    Each iteration fits ``|w|²/2 + C/2 Σ (w·φ(x) + b - y)²`` to the labels as a least squares problem in the rows φ of
    a factor of K, sorts the values ``w·φ(x)``, tries every bias between two of them that leaves low to high negative
    rows, and takes the signs for the bias with the smallest loss as the next labels, until they repeat.
    """
    values, vectors = np.linalg.eigh(K)
    Phi = vectors * np.sqrt(np.maximum(values, 0.0))
    n, r = Phi.shape
    history, objectives = [np.asarray(labels)], []
    while len(objectives) < max_iter:
        y = 2.0 * history[-1] - 1.0
        rows = np.vstack([np.sqrt(C) * np.column_stack([Phi, np.ones(n)]), np.eye(r, r + 1)])
        w, b = np.split(np.linalg.lstsq(rows, np.append(np.sqrt(C) * y, np.zeros(r)), rcond=None)[0], [r])
        f = Phi @ w
        objectives.append(0.5 * w @ w + 0.5 * C * np.sum((f + b - y) ** 2))
        ordered, losses = np.sort(f), {}
        for k in range(low, high + 1):
            if ordered[k - 1] < ordered[k]:
                bias = -0.5 * (ordered[k - 1] + ordered[k])
                losses[bias] = np.sum((ordered + bias - np.repeat([-1.0, 1.0], [k, n - k])) ** 2)
        history.append((f + min(losses, key=losses.get) > 0).astype(int))
        if any(np.array_equal(history[-1], before) for before in history[:-1]):
            break
    return history, objectives
