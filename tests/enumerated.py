"""Problems whose oracle tries all outputs, as the docstring of ``Problem.decode`` says."""

from maxmargin.problem import Problem


class Enumerated(Problem):
    """An oracle by brute force over ``all_outputs``."""

    def all_outputs(self, x):
        raise NotImplementedError

    def dense(self, x, y):
        """phi(x, y) as an array, where ``features`` has another form."""
        return self.features(x, y)

    def value(self, x, w, y, y_true=None, rescaling="margin"):
        """What the oracle maximises."""
        score = w @ self.dense(x, y)
        if y_true is None:
            return score
        loss = self.loss(y_true, y)
        if rescaling == "margin":
            return loss + score
        return loss * (1 + score - w @ self.dense(x, y_true))

    def decode(self, x, w, y_true=None, rescaling="margin"):
        return max(self.all_outputs(x), key=lambda y: self.value(x, w, y, y_true, rescaling))


class Sign(Enumerated):
    """Two classes, 1 and -1."""

    def all_outputs(self, x):
        return (-1, 1)

    def features(self, x, y):
        return 0.5 * y * x

    def loss(self, y_true, y):
        return float(y != y_true)
