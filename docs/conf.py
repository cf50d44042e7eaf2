"""The documentation: ``make docs`` builds it into ``site`` with Sphinx, without network."""

import os
import sys
from pathlib import Path

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

project = "maxmargin"
html_title = "maxmargin"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Links to sources and to folders work on a repository's pages, and are text here.
suppress_warnings = ["myst.xref_missing", "ref.python"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
# Attributes look like parameters: name, type and words in one entry.
napoleon_custom_sections = [("Attributes", "params_style")]
pygments_style = "friendly"
pygments_dark_style = "native"


def setup(app):
    """Formulas become MathML, which browsers draw by themselves; the gallery is made first."""

    def inline(writer, node):
        writer.body.append(convert(node.astext()))
        raise_skip()

    def block(writer, node):
        writer.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
        raise_skip()

    def raise_skip():
        from docutils import nodes

        raise nodes.SkipNode

    def gallery(app):
        from gallery import make_gallery

        make_gallery(keep=os.environ.get("MAXMARGIN_GALLERY") == "keep")

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("builder-inited", gallery)
    return {"parallel_read_safe": True}
