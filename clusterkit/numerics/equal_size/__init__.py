"""Equal clustering on plain arrays: centres move until about the same number of rows is nearest to each of them.

With the cluster sizes W, a step α and a bound l on the quotient of two sizes, all centres c_i move at once in every
iteration (Wen, Lu, Zhao 2005)::

    c_i ← c_i + α Σ_j r_ij (c_j - c_i),   r_ij = (l - 1) (W_j - W_i) / (W_j + (l - 1) W_i)

- `drift`: seeds, choice of the loop, new starts (`find_parts`), the arrays of the sweeps (`TiledLoop`), and exactly
  equal sizes (±1) by offsets of the scores (`even_out`);
- `drift_jit`: the update (`finish`, `_coefficients`, `_move`), the loop for centres on a line (`run_on_line`), and the
  loop of sweeps over tiles of rows in single precision (`run_with_tiles`);
- `fade`: where moving centres does not reach balance, cells with weights that fade to zero (`find_even_parts`).

Source: Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient,
International Conference on Neural Information Processing.
"""
