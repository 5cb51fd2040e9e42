"""What the tests share besides the plain versions in `clusterkit_campaign.oracles`: small recipes, inputs, runs."""
