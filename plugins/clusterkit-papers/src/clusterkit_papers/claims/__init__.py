"""Claims of the papers that no printed table answers, each tested by a table of its own.

=======  ==============================================================================================================
edsvc    EDSVC is above every base clustering, and above the best PSVC.
theorem  SGD-LMSVC, theorem 2: the bound on the objective of a random iterate.
starts   EMMC is less sensitive to its starting labels than other methods.
=======  ==============================================================================================================

Whether equal clustering loses no accuracy is a question to the table m3-figures. The page docs/claims.md has the
answers.
"""
