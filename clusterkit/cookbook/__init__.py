"""Published algorithms as data: stages, parameters, citation. The function `clusterkit.recipe` builds them."""
