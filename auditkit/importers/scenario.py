"""What the description of an ASlib scenario says (``description.txt``, YAML)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditkit.errors import SourceError, UsageError
from auditkit.importers.mapping import nearest
from auditkit.importers.sources import Source, read_source

_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0", "?", ""}


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a scenario.

    Attributes
    ----------
    source
        The file.
    measures
        Names of the performance measures.
    maximize
        Whether higher is better, per measure.
    kinds
        ``runtime`` or ``solution_quality``, per measure.
    cutoff
        The cutoff of a run as stated; None where it is ``?``, 0, infinite or no number.
    stated_cutoff
        The cutoff as it is written.
    algorithms
        The algorithms that the metainfo lists; empty where it lists none.
    steps
        The feature step that provides each feature, the first one where several do.
    """

    source: Source
    measures: tuple[str, ...]
    maximize: tuple[bool, ...]
    kinds: tuple[str, ...]
    cutoff: float | None
    stated_cutoff: str
    algorithms: tuple[str, ...]
    steps: dict[str, str]

    def measure(self, name: str | None) -> int:
        """The position of a measure; the first without a name.

        Raises
        ------
        UsageError
            There is no such measure.
        """
        if name is None:
            return 0
        if name not in self.measures:
            expected = nearest(name, self.measures) or " or ".join(self.measures)
            raise UsageError(
                "no such measure", found=repr(name), expected=expected, where=self.source.where()
            )
        return self.measures.index(name)


def read_description(path: Path) -> Description:
    """Read ``description.txt``.

    Raises
    ------
    SourceError
        It is no YAML, or says nothing of the performance measures.
    """
    source = read_source(path)
    about = _yaml(source)

    def several(key: str) -> list[str]:
        value = about.get(key)
        if isinstance(value, str):
            return [part.strip() for part in value.split(",")]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return value
        if value is None:
            return []
        raise SourceError(
            f"cannot read {key}",
            found=type(value).__name__,
            expected="a text or a list of texts",
            where=source.where(),
        )

    measures = several("performance_measures")
    if not measures or "" in measures:
        raise SourceError(
            "no performance measures", expected="performance_measures", where=source.where()
        )
    maximize = _per_measure("maximize", several("maximize") or ["false"], measures, source)
    kinds = _per_measure(
        "performance_type", several("performance_type") or ["runtime"], measures, source
    )
    for word in maximize:
        if word.lower() not in _TRUE | _FALSE:
            raise SourceError(
                "unknown direction",
                found=repr(word),
                expected="true or false",
                where=f"{source.where()}, maximize",
            )
    stated = about.get("algorithm_cutoff_time", "?")
    algorithms = about.get("metainfo_algorithms")
    return Description(
        source=source, measures=tuple(measures),
        maximize=tuple(word.lower() in _TRUE for word in maximize),
        kinds=tuple(kind.lower() for kind in kinds),
        cutoff=_cutoff(stated), stated_cutoff=str(stated),
        algorithms=tuple(_names(algorithms)),
        steps=_steps(about.get("feature_steps")),
    )  # fmt: skip


def _yaml(source: Source) -> dict[str, Any]:
    import yaml

    text = source.text()
    if len(text) > 2**23:
        raise SourceError(
            "source too large", found=f"{len(text):,} characters", where=source.where()
        )
    # a bare ? as a value is common in scenarios, and no YAML; tabs at the ends of lines likewise
    text = re.sub(r"(?m):[ \t]+\?[ \t]*$", ": '?'", text.replace("\r\n", "\n"))
    text = re.sub(r"(?m)[ \t]+$", "", text)
    try:
        # the base loader keeps every scalar a text (an algorithm named 1.70 stays 1.70) and builds no objects
        about = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = source.where() if mark is None else source.where(mark.line + 1, mark.column + 1)
        raise SourceError(
            "not YAML", found=getattr(error, "problem", None) or "broken text", where=where
        ) from None
    except (RecursionError, ValueError) as error:
        raise SourceError(
            "not YAML", found=str(error) or "nested too deep", where=source.where()
        ) from None
    if not isinstance(about, dict):
        raise SourceError(
            "not a scenario description", expected="key: value", where=source.where(1, 1)
        )
    return about


def _per_measure(key: str, words: list[str], measures: list[str], source: Source) -> list[str]:
    """One word per measure; a single one goes for all."""
    if len(words) == 1:
        return words * len(measures)
    if len(words) != len(measures):
        raise SourceError(
            f"wrong length of {key}",
            found=len(words),
            expected=f"{len(measures)}, one per measure",
            where=source.where(),
        )
    return words


def _cutoff(stated: Any) -> float | None:
    try:
        cutoff = float(stated)
    except (TypeError, ValueError):
        return None
    return cutoff if math.isfinite(cutoff) and cutoff > 0 else None


def _names(stated: Any) -> list[str]:
    """Names as the forms of the format have them: a list, the keys of a mapping, or one text with commas."""
    if isinstance(stated, str):
        return [part.strip() for part in stated.split(",") if part.strip() not in {"", "?"}]
    return (
        [name for name in stated if isinstance(name, str)]
        if isinstance(stated, list | dict)
        else []
    )


def _steps(stated: Any) -> dict[str, str]:
    steps: dict[str, str] = {}
    if isinstance(stated, dict):
        for step, content in stated.items():
            for feature in _names(
                content.get("provides") if isinstance(content, dict) else content
            ):
                steps.setdefault(feature, str(step))
    return steps
