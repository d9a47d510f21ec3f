"""What a paper printed, against what its file gives: printed figures, paths into a result, claims files."""

from auditkit.claims.printed import Printed

__all__ = ["Printed"]
