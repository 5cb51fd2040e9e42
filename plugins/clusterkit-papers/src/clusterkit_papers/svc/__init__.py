"""Fast support vector clustering: tables 1 to 4 and the visual experiments of the paper.

A contour ``{x : Σ_i w_i exp(-γ ||x - x_i||²) = level}`` encloses the samples; its connected parts are the clusters. The
paper compares the sphere with the complete graph (SVC), a hyperplane by stochastic gradients (SGD-LMSVC) and a
sphere on a part of the samples (FSVC).

==========  ===========================================================================================================
data_sets   The data sets, their scaling, and the part of the paper's grid that is run on each.
fits        The three methods, their grids, and the measured fits.
tables      Tables 1 to 4: sizes, indices with and without known classes, times.
figures     The visual experiments: rings, moons and Gaussians.
steps       The number of steps that the analysis of convergence asks for.
width_path  Clusters at many widths of the kernel.
==========  ===========================================================================================================

The solvers and labelers are in clusterkit/families/support_vectors/. What the paper leaves open is in
docs/results/prose/readings-svc.txt.
"""
