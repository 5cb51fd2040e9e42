"""Maximum margin clustering as semidefinite programs."""
