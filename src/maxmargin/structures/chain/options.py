"""The options of ``maxmargin train chain``.

This module imports nothing that is slow to import, so that ``maxmargin train chain --help`` is
fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ..options import C_HELP, TOL_HELP, KernelOptions, option

chain_option = partial(option, rich_help_panel="Options for chains")


@dataclass(frozen=True)
class ChainOptions(KernelOptions):
    """Options for sequences."""

    C: float = option(0.1, C_HELP, "--C", "-C")
    tol: float | None = option(
        None, TOL_HELP, show_default="a hundredth of the loss if all labels are wrong"
    )
    format: Literal["auto", "conll", "hmm"] = chain_option(
        "auto", "Columns (conll) or numbered features with qid: (hmm); auto looks at DATA."
    )
    template: str | None = chain_option(
        None,
        "The template that turns columns into features: default, chunking, pos or a file.",
        show_default="default",
    )
    min_count: int = chain_option(
        1, "Leave out features that occur fewer times in the training data.", min=1
    )
    label: int | None = chain_option(
        None, "The column of the labels: 0 is the first, -1 the last.", show_default="-1"
    )
    scheme: Literal["iob1", "bio", "bioes"] | None = chain_option(
        None, "Convert the labels to this scheme of tags, which predictions have then."
    )
    transitions: Literal["bio", "bioes"] | None = chain_option(
        None, "Predict only label sequences that are valid in this tagging scheme."
    )
    start_stop: bool = chain_option(
        True,
        "Learn weights for the first and the last label of a sequence, or not, as SVM-HMM.",
        "--start-stop/--no-start-stop",
    )
    loss: Literal["hamming", "zero-one"] = chain_option(
        "hamming", "Count wrong labels (hamming), or sequences with any error (zero-one)."
    )

    cache: Path | None = chain_option(  # noqa: RUF009
        None,
        "Pack the files into arrays in this directory, which training maps into memory: for data "
        "larger than memory. A second run reads them from there.",
        metavar="DIR",
    )

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``ChainSVC``."""
        own = self.given("template", "min_count", "transitions", "start_stop", "loss")
        return super().parameters() | own

    def check(self) -> None:
        """Check the options, before the data are read."""
        from ...errors import MaxMarginError
        from ...features import Template

        super().check()
        if self.format == "hmm":
            self.check_for_hmm()
        if self.template is not None:
            Template(self.template)
        for given, name in ((self.scheme, "--scheme"), (self.kernel != "linear", "--kernel")):
            if given and self.cache is not None:
                raise MaxMarginError(f"{name} needs the examples in memory: leave out --cache")
        if self.class_weight is not None and self.loss != "hamming":
            raise MaxMarginError("--class-weight needs the loss of tokens: use --loss hamming")

    def check_for_hmm(self) -> None:
        """Raise an error for options about columns, which the file does not have."""
        from ...errors import MaxMarginError

        if self.template is not None:
            raise MaxMarginError(
                "--template makes features from columns, but SVM-HMM files already contain "
                "features: omit it"
            )
        if self.min_count > 1:
            raise MaxMarginError(
                "--min-count is for features that a template makes, but SVM-HMM files already "
                "contain features: omit it"
            )
        if self.scheme is not None:
            raise MaxMarginError("--scheme is for tags in columns, as in CoNLL files: omit it")
        if self.label is not None:
            raise MaxMarginError("--label is a column, but SVM-HMM files have no columns: omit it")
