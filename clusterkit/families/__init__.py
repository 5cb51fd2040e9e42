"""The families of methods, each a plugin of the library: one folder with stages, loops, recipes and tuners.

A family registers its stages and recipes by the hooks of a third party's plugin, in its `__init__.py`, whose docstring
says which file has which formula. It imports the plugin interface and `clusterkit.numerics`, and never another family:
the stages of others are reached by their names in a recipe. Its tests are in `tests/families`, below the same name.
"""
