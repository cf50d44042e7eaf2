"""Chunking from a CoNLL file.

Features from a template, results by chunk type, and wrong labels.
"""

import maxmargin as mm

# Sentences of a small grammar; one label is wrong in about 2 % of the training sentences.
mm.datasets.write_conll("train.txt", 400, seed=1, noise=0.02)
mm.datasets.write_conll("test.txt", 100, seed=2)

X, Y = mm.io.read_conll("train.txt")
X_test, Y_test = mm.io.read_conll("test.txt")
clf = mm.ChainSVC(C=0.1, template="chunking", transitions="bio").fit(X, Y)

found = mm.metrics.evaluate_sequences(Y_test, clf.predict(X_test), clf.classes_)
print(found)
found.plot("tagging.png")

print("\nWhere the labels may be wrong:")
for suspect in clf.suspects(X, Y, n=5):
    words = [token[0] for token in X[suspect["index"]]]
    for word, label, other in zip(words, suspect["truth"], suspect["worst"], strict=True):
        if label != other:
            print(f"  sentence {suspect['index'] + 1}: {word!r} is {label}, the model says {other}")
