"""``maxmargin demo``: models with and without structure, on data that needs no download."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from ..demo.page import write_page
from ..demo.tasks import Codes, Sentences, read_codes, read_sentences
from ..demo.terminal import code_text, figures_table, tree_text, words_text
from ..report.certificate import certificate
from ..report.convergence import check_format, require_matplotlib
from ..report.page import check_name
from .guard import check_output
from .show import Console

NEXT = """\
maxmargin train chain train.txt -o tagger.mm --report tagger.html
maxmargin evaluate tagger.mm test.txt
maxmargin info tagger.mm"""


def run(out: Path | None, report: Path) -> None:
    """Train, show one example of each task, compare the models, and write the page."""
    check_name(report)
    if out is not None:
        require_matplotlib()
        check_format(out)
    for path in (report, out):
        if path is not None:
            check_output(path)
    console = Console()
    codes = _show_codes(console)
    sentences = _show_sentences(console)
    console.print(figures_table(codes, sentences))
    console.print(Text(f"The chain of digits: {certificate(codes.model.result_)}"))
    write_page(report, codes, sentences)
    written = f"Open {report} in a browser to see all examples."
    if out is not None:
        codes.model.result_.plot(out)
        written += f" {out} shows the convergence."
    console.print(Text(written, style="green"))
    console.print("\nNext, with your own data in CoNLL format:")
    console.print(Text(NEXT, style="bold"))


def _show_codes(console: Console) -> Codes:
    console.print(
        "[bold]Codes[/bold] of handwritten digits; each digit is next to the one before on a "
        "keypad.\nTraining two models on 300 codes (the first run also compiles code) ..."
    )
    codes = read_codes()
    console.print(code_text(codes))
    return codes


def _show_sentences(console: Console) -> Sentences:
    console.print(
        "[bold]Sentences[/bold] in which words such as “saw” are nouns or verbs.\n"
        "Training three models on 300 trees ..."
    )
    sentences = read_sentences()
    console.print(words_text(sentences))
    console.print(Text(tree_text(sentences), no_wrap=True))
    return sentences
