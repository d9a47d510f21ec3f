"""Joint bootstrap of means, ratios and quantiles: the public entry and what every audit calls.

The draw of replicate b depends on (seed, b) alone. All columns, and all calls with one seed and one number of units,
see the same resamples, so that differences and ratios are paired.
"""

from __future__ import annotations
