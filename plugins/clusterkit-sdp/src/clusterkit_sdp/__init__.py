"""Maximum margin clustering as semidefinite programs: a certified optimum of a relaxation, for small data."""
