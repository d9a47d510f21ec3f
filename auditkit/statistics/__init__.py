"""Bootstrap, tests, intervals and multiplicity: validate, seed, call kernels."""
