"""The headline claims of the papers, answered from the rows of tables; two of them have a table of their own.

===========  ==========================================================================================================
headlines    Every claim with its place in the text, and the rule of an answer.
comparisons  The comparisons of two numbers that claims are cut into.
theorem      SGD-LMSVC, theorem 2: the bound on the objective of a random iterate.
starts       EMMC is less sensitive to its starting labels than other methods.
===========  ==========================================================================================================

The page docs/claims.md has the answers.
"""
