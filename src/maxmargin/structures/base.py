"""``Structure``: the complete description of one kind of output.

It is in the ``__init__.py`` of a structure's folder.

Engine, registry, model files, command line, report and tests read this description; none of them
refers to a structure by name. A description imports nothing: each part is given as
``".module:Name"``, relative to the folder, and imported when it is first used.

A new structure is a folder next to this file, or a package elsewhere that names its description in
the entry-point group ``maxmargin.structures``::

    STRUCTURE = Structure(
        __name__,
        name="chain",
        summary="one label per token of a sequence",
        problem=".problem:Chain",
        estimator=".estimator:ChainSVC",
    )
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MaxMarginError

#: The parts of a description with their defaults; "" means that there is none.
PARTS = {
    "problem": "",
    "estimator": "",
    "model": "maxmargin.saving.parts:ModelParts",
    "files": "maxmargin.structures.files:DataFiles",
    "options": "maxmargin.structures.options:TrainOptions",
    "show": "maxmargin.structures.show:Show",
    "examples": "",
}


class Structure:
    """The description of one structure.

    Parameters
    ----------
    package : str
        The folder as a package: ``__name__`` in its ``__init__.py``.
    name : str
        The name on the command line: ``maxmargin train NAME``.
    summary : str
        What is predicted, in one line.
    problem : str
        The ``CompiledProblem``: packing, compiled functions, the oracle's memory and effort.
    estimator : str
        The scikit-learn estimator, also exported as ``mm.Name``.
    takes_problem : bool
        Whether the user gives the problem: ``maxmargin train module:Class``.
    exports : tuple of str
        Other names to export in ``mm``, such as a cross-validated estimator.
    model : str
        A ``saving.parts.ModelParts``: the content of a ``.mm`` file of the estimator.
    files : str
        A ``structures.files.DataFiles``: how data files are read, and how predictions are written.
    options : str
        A ``structures.options.TrainOptions``: the options of ``maxmargin train NAME``.
    show : str
        A ``structures.show.Show``: how models and predictions are described, evaluated and drawn.
    examples : str
        A function that returns tiny problems for the tests that are run for every structure.
    """

    def __init__(
        self,
        package: str,
        *,
        name: str,
        summary: str,
        takes_problem: bool = False,
        exports: tuple[str, ...] = (),
        **parts: str,
    ):
        unknown = sorted(set(parts) - set(PARTS))
        if unknown:
            raise TypeError(
                f"a Structure has no part {unknown[0]!r}; its parts: {', '.join(PARTS)}"
            )
        self.package, self.name, self.summary, self.exports = package, name, summary, exports
        self.takes_problem = takes_problem
        self.targets = PARTS | parts
        self._loaded: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Structure({self.name!r})"

    def offers(self, part: str) -> bool:
        """Whether the description names this part, or a default exists."""
        return bool(self.targets[part])

    @property
    def estimator_name(self) -> str:
        """The name of the estimator's class, without importing it."""
        return self.targets["estimator"].partition(":")[2]

    @property
    def trains_from_files(self) -> bool:
        """Whether it can read data files, so that it is a sub-command of ``maxmargin train``."""
        return self.targets["files"] != PARTS["files"]

    @property
    def problem(self) -> Any:
        """The class of the problem."""
        return self._load("problem")

    @property
    def estimator(self) -> Any:
        """The class of the estimator."""
        return self._load("estimator")

    @property
    def options(self) -> Any:
        """The dataclass of the options of ``maxmargin train NAME``."""
        return self._load("options")

    @property
    def model(self) -> Any:
        """The content of model files."""
        return self._made("model")

    @property
    def files(self) -> Any:
        """Reads data files and writes predictions."""
        return self._made("files")

    @property
    def show(self) -> Any:
        """Shows models and predictions."""
        return self._made("show")

    def examples(self) -> list[Any]:
        """Tiny problems for tests, possibly none."""
        return self._load("examples")() if self.offers("examples") else []

    def _made(self, part: str) -> Any:
        """The instance of the part's class for this structure."""
        key = f"{part}()"
        if key not in self._loaded:
            self._loaded[key] = self._load(part)(self)
        return self._loaded[key]

    def _load(self, part: str) -> Any:
        """Import the object that the description gives as ``"module:Name"``."""
        if part not in self._loaded:
            module, _, name = self.targets[part].partition(":")
            if not name:
                raise MaxMarginError(f"{part} is not available for {self.name}")
            self._loaded[part] = getattr(import_module(module, self.package), name)
        return self._loaded[part]
