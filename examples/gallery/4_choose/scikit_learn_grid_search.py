"""
Inside scikit-learn's tools
===========================

A recipe is an estimator: it stands in a pipeline, and a grid search may exchange its parameters or whole stages. Where
a few classes are known they can be the score; here all of them are used.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterkit import recipe

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), recipe("emmc", n_clusters=3, random_state=0))
step = model.steps[-1][0]
grid = [
    {f"{step}__solver__df": [6.0, 12.0], f"{step}__balancer__slack": [0.03, 0.3]},
    {f"{step}__featuremap": ["rbf"], f"{step}__solver__df": [6.0, 12.0]},
]
comparison = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=StratifiedKFold(3)).fit(X, y)
for mark, parameters in zip(comparison.cv_results_["mean_test_score"], comparison.cv_results_["params"], strict=True):
    print(f"{mark:.3f}", {name.removeprefix(f"{step}__"): value for name, value in parameters.items()})
errors = comparison.cv_results_["std_test_score"]
plt.barh(range(len(errors)), comparison.cv_results_["mean_test_score"], xerr=errors)
plt.gca().set(xlabel="adjusted Rand index", ylabel="parameters, as listed above")
plt.show()
