"""Handwritten codes, alone and as chains.

The digits of a code are traced on the keypad of a telephone. A classifier of single images cannot
use that; a chain learns it, and recognises digits that are hard to read alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

import maxmargin as mm

X_train, X_test, Y_train, Y_test = mm.datasets.make_codes()

alone = LinearSVC().fit(np.concatenate(X_train), np.concatenate(Y_train))
chain = mm.ChainSVC(C=0.1).fit(X_train, Y_train)

by_digit = [alone.predict(x).tolist() for x in X_test]
by_code = chain.predict(X_test)
for name, found in (("each digit alone", by_digit), ("as a chain", by_code)):
    digits = np.mean(np.array(found) == np.array(Y_test))
    codes = np.mean([a == b for a, b in zip(found, Y_test, strict=True)])
    print(f"{name:<18}{digits:.1%} of the digits and {codes:.1%} of the codes are right")

result = chain.result_
print(f"the optimum lies between {result.dual:.4f} and {result.primal:.4f}")

print("digits that the chain favours after each digit:")
for digit, weights in zip(chain.classes_, chain.transition_, strict=True):
    print(f"  {digit}: {', '.join(str(k) for k in np.flatnonzero(weights > 0))}")

# The first codes that the classifier of single digits gets wrong, with both predictions.
shown = [i for i, code in enumerate(Y_test) if by_digit[i] != code][:6]
figure, axes = plt.subplots(3, 2, figsize=(10, 4.5))
for axis, i in zip(axes.flat, shown, strict=True):
    axis.imshow(np.hstack(X_test[i].reshape(-1, 8, 8)), cmap="Greys")
    axis.set_xticks([]), axis.set_yticks([])
    for row, (name, found) in enumerate((("alone", by_digit[i]), ("chain", by_code[i]))):
        axis.text(-2, 10 + 3 * row, name, ha="right", va="center", fontsize=9)
        for k, (digit, right) in enumerate(zip(found, Y_test[i], strict=True)):
            color = "black" if digit == right else "red"
            axis.text(8 * k + 3.5, 10 + 3 * row, digit, color=color, ha="center", va="center")
figure.tight_layout()
figure.savefig("codes.png", dpi=120, bbox_inches="tight")
