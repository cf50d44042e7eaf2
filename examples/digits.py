"""Handwritten digits: train, read the certificate, draw the convergence and the errors."""

import maxmargin as mm
from maxmargin.report.confusion import plot_confusion

X_train, X_test, y_train, y_test = mm.datasets.load_digits_split()
clf = mm.MulticlassSVC(C=0.1, tol=1e-3).fit(X_train, y_train)

result = clf.result_
print(f"test accuracy {clf.score(X_test, y_test):.4f}")
print(f"the optimum lies between {result.dual:.4f} and {result.primal:.4f}")
result.plot("digits.png")

found = mm.metrics.SequenceEvaluation.of([y_test], [clf.predict(X_test)], clf.classes_)
plot_confusion(found.labels, found.confusion, "digits_confusion.png")
