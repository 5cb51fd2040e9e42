"""An exponential function that the compiler can vectorise, for the inner loops over Gaussian kernels.

``math.exp`` costs a function call for each number. This polynomial is arithmetic only, so the compiler turns a loop
over it into vector instructions. The arguments must be <= 0, as they are in Gaussian kernels.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types
from numba.core import cgutils  # noqa: F401  (numba's intrinsics need the module loaded)
from numba.extending import intrinsic, overload

__all__ = ["fast_exp"]

_LOG2E = 1.4426950408889634
"""1 / ln 2."""
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 as a sum of two numbers: the first has trailing zeros, so that its product with an exponent is exact."""
_LEAST = -708.0
"""Smallest argument: below it the exponential is subnormal, and the shifted exponent would be wrong."""

_LN2_HIGH_32, _LN2_LOW_32 = 0.693359375, -2.12194440e-4
"""The same for float32."""
_LEAST_32 = -87.0
"""The same for float32."""


@intrinsic
def _double_of_bits(typing: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # pragma: no cover - for the compiler
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), build


@intrinsic
def _single_of_bits(typing: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # pragma: no cover - for the compiler
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), build


def fast_exp(x: float) -> float:
    """``exp(x)`` for x <= 0, up to some rounding errors of the argument; constant below -708 (float32: -87).

    Compiled functions use a polynomial (`_exp_64`, `_exp_32`); the body here serves the interpreter.
    """
    return math.exp(x)


@overload(fast_exp, inline="never")
def _fast_exp(x: Any) -> Any:  # pragma: no cover - for the compiler
    if x == types.float32:
        return _exp_32
    return _exp_64


# Both functions round by conversion to an integer, because a caller compiled with fastmath would simplify the usual
# addition and subtraction of 1.5 * 2^52. With x = k ln 2 + r they return 2^k times a Taylor polynomial of exp(r).
def _exp_64(x: Any) -> Any:  # pragma: no cover - runs compiled only
    x = max(x, _LEAST)
    k = types.int64(x * _LOG2E - 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _double_of_bits((k + types.int64(1023)) << types.int64(52))


def _exp_32(x: Any) -> Any:  # pragma: no cover - runs compiled only
    x = max(x, types.float32(_LEAST_32))
    k = types.int32(x * types.float32(_LOG2E) - types.float32(0.5))
    f = types.float32(k)
    r = (x - f * types.float32(_LN2_HIGH_32)) - f * types.float32(_LN2_LOW_32)
    p = types.float32(0.001388888888888889)
    p = p * r + types.float32(0.008333333333333333)
    p = p * r + types.float32(0.041666666666666664)
    p = p * r + types.float32(0.16666666666666666)
    p = p * r + types.float32(0.5)
    p = p * r + types.float32(1.0)
    p = p * r + types.float32(1.0)
    return p * _single_of_bits(types.int32((k + types.int32(127)) << types.int32(23)))
