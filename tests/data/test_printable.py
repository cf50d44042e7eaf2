"""Control characters become visible; all other text stays as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.data.printable import clipped, printable

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("character", [*map(chr, range(32)), *map(chr, range(127, 160)), *BIDI])
def test_controls_become_visible(character):
    shown = printable(f"a{character}b")
    assert shown.isprintable() and shown.startswith("a\\") and shown.endswith("b")
    assert shown.encode().decode("unicode_escape") == f"a{character}b"
    assert printable(f"a{character}b", keep=character) == f"a{character}b"


@given(st.text())
def test_other_text_stays_as_it_is(text):
    shown = printable(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in shown)
    if all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text):
        assert shown == text


def test_labels_of_other_types_and_long_ones():
    assert printable(3) == "3"
    assert printable(("a\x1b", 1)) == "('a\\x1b', 1)"
    assert clipped("x" * 10, 10) == "x" * 10
    assert clipped("x" * 11, 10) == "x" * 9 + "…"
    assert clipped("\0" * 10**6, 4) == "\\x00" * 3 + "…"
