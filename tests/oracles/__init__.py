"""What the tests share besides the plain versions in `clusterkit.testing.oracles`: small recipes, inputs, runs."""
