"""The one compilation policy: cached on disk, without the GIL, without fastmath (costs may be NaN or infinite)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel at its first call and cache it, so that a second start compiles nothing.

    Kernels run in threads of the caller (``statistics`` splits the work), never in parallel on their own: what they
    return cannot depend on the number of threads. Division by zero gives inf or NaN as in NumPy.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
