"""Random trees for hypothesis, and two for all who need examples."""

from __future__ import annotations

from hypothesis import strategies as st

from maxmargin import Tree

LABELS = ["S", "NP", "VP", "PRT", "ADVP", "TOP", "NP-SBJ", "-LRB-"]
TAGS = ["NN", "VB", ",", ".", ":", "-NONE-"]
WORDS = ["a", "dog", "-LRB-", "x(y)", "日本", "50\\/50", "é"]

SHE = "(TOP (S (NP (PRP She)) (VP (VBZ eats) (NP (NN fish)))))"


def preterminals(words=WORDS, tags=TAGS):
    return st.builds(
        lambda tag, word: Tree(tag, [word]), st.sampled_from(tags), st.sampled_from(words)
    )


def trees(words=WORDS, tags=TAGS, labels=LABELS):
    """Trees of any shape, single words included."""
    return st.recursive(
        preterminals(words, tags),
        lambda parts: st.builds(
            Tree, st.sampled_from(labels), st.lists(parts, min_size=1, max_size=4)
        ),
        max_leaves=12,
    )


@st.composite
def pairs(draw):
    """Two trees over the same words."""
    tree = draw(trees())
    words = tree.leaves()
    return tree, draw(over(words))


@st.composite
def over(draw, words):
    """A tree over these words: neighbours are joined until one constituent is left."""
    nodes = [Tree(draw(st.sampled_from(TAGS)), [word]) for word in words]
    while len(nodes) > 1 or draw(st.booleans()):
        start = draw(st.integers(0, len(nodes) - 1))
        end = draw(st.integers(start + 1, len(nodes)))
        nodes[start:end] = [Tree(draw(st.sampled_from(LABELS)), nodes[start:end])]
    return nodes[0]
