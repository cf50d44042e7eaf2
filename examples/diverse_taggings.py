"""Five diverse taggings of a sentence.

They have scores, and a rule re-ranks them.
"""

import maxmargin as mm

TRAINING = """
the/D old/A man/N walks/V | the/D boats/N sail/V | they/P man/V the/D boats/N | time/N passes/V
fruit/N flies/N like/V a/D banana/N | the/D bird/N flies/V like/I an/D arrow/N
they/P like/V time/N | an/D arrow/N flies/V | the/D old/N sail/V the/D boats/N
they/P time/V the/D walks/N | a/D man/N flies/V
old/A birds/N like/V fruit/N | the/D walks/N like/I the/D old/A time/N
"""

sentences = [part.split() for line in TRAINING.strip().splitlines() for part in line.split("|")]
tagged = [[token.split("/") for token in sentence] for sentence in sentences]


def features(words):
    """The word, its ending and its neighbours."""
    around = ["<s>", *words, "</s>"]
    return [
        [f"word={word}", f"ends={word[-1]}", f"before={around[t]}", f"after={around[t + 2]}"]
        for t, word in enumerate(words)
    ]


X = [features([word for word, _ in sentence]) for sentence in tagged]
Y = [[tag for _, tag in sentence] for sentence in tagged]
clf = mm.ChainSVC(C=1.0, start_stop=True).fit(X, Y)

words = ["time", "flies", "like", "the", "old", "man"]
best = clf.predict_m_best([features(words)], m=5)[0]
diverse = clf.predict_m_best([features(words)], m=5, diversity=0.2)[0]

for title, outputs in (("The five best taggings", best), ("Five diverse ones", diverse)):
    print(f"{title}:")
    print("   score  " + "  ".join(words))
    for tags, score in outputs:
        row = "  ".join(f"{tag:<{len(word)}}" for tag, word in zip(tags, words, strict=True))
        print(f"{score:8.3f}  {row.rstrip()}")
    print()

print(f"The best beats the second best by {clf.confidence([features(words)])[0]:.3f}.")

# A re-ranker can use what no chain can: the number of verbs in the whole sentence.
for name, outputs in (("best", best), ("diverse", diverse)):
    right = [tags for tags, _ in outputs if tags.count("V") == 1]
    print(f"{len(right)} of the five {name} taggings have exactly one verb:", right[:3])
