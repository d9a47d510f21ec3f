"""Compiled kernels: arrays in, arrays out. The only user of numba; see ``jit`` for the one compilation policy."""
