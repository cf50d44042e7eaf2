"""The known structures: the folders of ``structures/`` and the plug-ins of other packages.

Names are listed without importing anything. A plug-in that cannot be imported is reported and
skipped, so that the other structures still work.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import MaxMarginError, ModelFileError
from .structures.base import Structure

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The entry-point group of structures in other packages.
GROUP = "maxmargin.structures"


@cache
def _found() -> dict[str, str | EntryPoint]:
    """By name: the package of a built-in structure, or the entry point of a plug-in."""
    from importlib.metadata import entry_points  # slow to import

    folder = Path(__file__).with_name("structures")
    names = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    built_in: dict[str, str | EntryPoint] = {n: f"{__package__}.structures.{n}" for n in names}
    return {point.name: point for point in entry_points(group=GROUP)} | built_in


def structure_names() -> list[str]:
    """The names of all structures, built-in ones first."""
    return sorted(_found(), key=lambda name: (not isinstance(_found()[name], str), name))


@cache
def get_structure(name: str) -> Structure:
    """The description of a structure.

    Raises
    ------
    MaxMarginError
        If there is no structure with this name, or its plug-in cannot be imported.
    """
    where = _found().get(name)
    if where is None:
        known = ", ".join(structure_names())
        raise MaxMarginError(f"there is no structure {name!r}: use one of {known}")
    try:
        found = import_module(where).STRUCTURE if isinstance(where, str) else where.load()
    except Exception as error:
        raise MaxMarginError(f"the structure {name!r} cannot be imported: {error!r}") from error
    if not isinstance(found, Structure):
        raise MaxMarginError(f"the plug-in {name!r} is a {type(found).__name__}, not a Structure")
    return found


def all_structures() -> list[Structure]:
    """All structures that can be imported; a warning names those that cannot."""
    found = []
    for name in structure_names():
        try:
            found.append(get_structure(name))
        except MaxMarginError as error:
            warnings.warn(f"{error}; it is skipped", stacklevel=2)
    return found


def structure_of(estimator: str) -> Structure:
    """The structure whose estimator has this class name.

    Raises
    ------
    ModelFileError
        If there is no such structure.
    """
    structures = all_structures()
    for structure in structures:
        if structure.estimator_name == estimator:
            return structure
    known = ", ".join(s.estimator_name for s in structures)
    raise ModelFileError(
        f"contains a {estimator!r}, which this maxmargin does not know (it knows {known}): "
        "install the package that defines it"
    )


def load(path: Any, problem: Any = None, *, max_bytes: int | None = None) -> Any:
    """Read an estimator back from a file that its ``save`` wrote.

    Parameters
    ----------
    path : str or path
        The model file.
    problem : Problem or CompiledProblem, optional
        Needed for a StructuredSVC, because a file does not contain the problem: an object of the
        same class.
    max_bytes : int, optional
        Limit on the memory that the content of the file may take: a file that asks for more is
        refused before it is allocated. By default the environment variable
        ``MAXMARGIN_MAX_MODEL_BYTES``, or else 256 MiB, or 256 bytes for each byte of the file if
        that is more.

    Returns
    -------
    estimator
        Its predictions are bit for bit those of the saved estimator.

    Raises
    ------
    ModelFileError
        If the file is not a valid model, or ``problem`` is of another class.
    """
    from .saving import models

    return models.load(path, structure_of, problem, max_bytes)


def summary(path: Any) -> dict[str, Any]:
    """The description of a model file; see ``saving.models.summary``."""
    from .saving import models

    return models.summary(path, structure_of)
