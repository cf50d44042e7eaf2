"""The built-in templates."""

from __future__ import annotations

DEFAULT = """\
# Chunking, entities, tagging: words in a window, affixes and shape, and all other columns.
word[-2..2]
word[-1] | word[0]
word[0] | word[1]
prefix(word, 1..4)
suffix(word, 1..4)
shape(word)
short_shape(word[-1])
short_shape(word[1])
extra[-2..2]
extra[-2] | extra[-1]
extra[-1] | extra[0]
extra[0] | extra[1]
extra[1] | extra[2]
extra[-2] | extra[-1] | extra[0]
extra[-1] | extra[0] | extra[1]
extra[0] | extra[1] | extra[2]
"""

CHUNKING = """\
# Words and parts of speech in a window: 19 features per token.
word[-2..2]
word[-1] | word[0]
word[0] | word[1]
pos[-2..2]
pos[-2] | pos[-1]
pos[-1] | pos[0]
pos[0] | pos[1]
pos[1] | pos[2]
pos[-2] | pos[-1] | pos[0]
pos[-1] | pos[0] | pos[1]
pos[0] | pos[1] | pos[2]
"""

POS = """\
# Parts of speech: words in a window without regard to case, affixes, and kinds of characters.
word
lower(word[-2..2])
lower(word[-1]) | lower(word[0])
lower(word[0]) | lower(word[1])
prefix(lower(word), 1..4)
suffix(lower(word), 1..5)
suffix(word[-1], 1..3)
suffix(word[1], 1..3)
class(word[-1..1])
"""

BUILTIN = {"default": DEFAULT, "chunking": CHUNKING, "pos": POS}
