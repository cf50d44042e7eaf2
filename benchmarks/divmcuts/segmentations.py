"""The DivMCuts paper on segmentations: attractive two-label images, decoded by minimum cuts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..framework.display import Column, count, ratio, seconds
from ..framework.figures import clean, legend, style
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

#: One cut, the paper's combination of M solutions, and ours, with the full steps of the paper. The
#: default reward for a different label, 0.1, was chosen after a first run with 1.
VARIANTS: dict[str, dict[str, Any]] = {
    "one cut": {},
    "ordering, M = 5": {"m_cuts": 5, "combine": "ordering"},
    "greedy, M = 2": {"m_cuts": 2},
    "greedy, M = 5": {"m_cuts": 5},
    "greedy, M = 10": {"m_cuts": 10},
    "greedy, M = 5, diversity 1": {"m_cuts": 5, "diversity": 1.0},
    "one cut, cache of 5": {"cache": 5},
}

#: The gap at which training ends, in wrong pixels per image.
TOL = 0.05

#: Channels of the images.
CHANNELS = 8


class Scene(NamedTuple):
    """Images of an ellipse: their number, their side in pixels, and the noise of the channels."""

    n: int
    side: int
    noise: float


@experiment(
    "divmcuts-segmentations",
    title="One-slack training of segmentations with M diverse cuts per iteration",
    claim="On attractive segmentations with M = 5, greedy cuts need at most 0.7 times the "
    "iterations of one cut, and less CPU time.",
)
def run(session: Session) -> Verdict:
    """Two amounts of noise, every variant."""
    n, side = (6, 12) if session.quick else (30, 24)
    scenes = {"little noise": Scene(n, side, 1.0), "much noise": Scene(n, side, 2.0)}
    grid = {name: measure_all(session, name, scene) for name, scene in scenes.items()}
    for name, groups in grid.items():
        show(session, name, groups)
    session.draw(lambda figure: paint(figure, grid), width=9, height=3.6)
    return judge(grid)


def make_scene(scene: Scene) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Images with noisy channels and a constant, and masks of their ellipses."""
    random, grid = np.random.default_rng(0), np.mgrid[: scene.side, : scene.side] / scene.side
    X, Y = [], []
    for _ in range(scene.n):
        center, radius = random.uniform(0.3, 0.7, 2), random.uniform(0.15, 0.4, 2)
        mask = (((grid - center[:, None, None]) / radius[:, None, None]) ** 2).sum(axis=0) < 1
        noise = scene.noise * random.standard_normal((*mask.shape, CHANNELS))
        share = np.linspace(0.0, 1.0, CHANNELS)  # of the mask, from none to all
        X.append(np.dstack([share * (mask[:, :, None] - 0.5) + noise, np.ones(mask.shape)]))
        Y.append(mask.astype(int))
    return X, Y


def measure_all(session: Session, name: str, scene: Scene) -> dict[str, Group]:
    """All variants in turn, so that whatever else the machine does affects them alike."""
    return {label: measure(session, name, scene, label) for label in VARIANTS}


def measure(session: Session, name: str, scene: Scene, label: str) -> Group:
    """Train to the tolerance."""
    options = VARIANTS[label]

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import GridSVC, OneSlack

        X, Y = make_scene(scene)
        solver = OneSlack(**{"cache": 0, "step": 1.0, **options})
        clf = GridSVC(
            C=0.1, pairwise="associative", contrast=True, solver=solver,
            random_state=seed, max_time=600.0,
        )  # fmt: skip
        clf.set_params(tol=1e6).fit(X[:2], Y[:2])  # compiles
        start = time.process_time()
        clf.set_params(tol=TOL).fit(X, Y)
        cpu = time.process_time() - start
        passes = clf.result_.n_oracle / scene.n
        return run_values(clf.result_) | {"cpu": cpu, "outputs": passes}

    config = {"problem": name, **scene._asdict(), "variant": label, "options": repr(options)}
    return session.measure(config, once)


def show(session: Session, name: str, groups: dict[str, Group]) -> None:
    """One row per variant, with its iterations relative to those of one cut."""
    one = groups["one cut"].median("iterations")
    rows = [
        group._replace(values=[v | {"against": v["iterations"] / one} for v in group.values])
        for group in groups.values()
    ]
    columns = [
        Column("variant", name),
        Column("iterations", "iterations", count, "converged"),
        Column("against", "of one cut", ratio),
        Column("outputs", "outputs / n", lambda value: f"{value:.1f}", "converged"),
        Column("cpu", "CPU seconds", seconds, "converged"),
    ]
    config = next(iter(groups.values())).config
    session.table(rows, columns, f"{config['n']} images of {config['side']} x {config['side']}")


def judge(grid: dict[str, dict[str, Group]]) -> Verdict:
    """Iterations and CPU seconds with M = 5 relative to one cut."""
    passed, parts = True, []
    for name, groups in grid.items():
        one, five = groups["one cut"], groups["greedy, M = 5"]
        iterations, cpu = (five.median(key) / one.median(key) for key in ("iterations", "cpu"))
        passed &= five.every("converged") and iterations <= 0.7 and cpu < 1
        parts.append(f"{name}: iterations {iterations:.2f}, CPU time {cpu:.2f} of one cut")
    return Verdict(passed, "greedy, M = 5\n" + "\n".join(parts))


def paint(figure: Figure, grid: dict[str, dict[str, Group]]) -> None:
    """Iterations on the left, CPU seconds on the right, for each number of cuts."""
    panels = figure.subplots(1, 2)
    sizes = {"one cut": 1, "greedy, M = 2": 2, "greedy, M = 5": 5, "greedy, M = 10": 10}
    for axes, (key, title) in zip(
        panels, {"iterations": "iterations", "cpu": "CPU seconds"}.items(), strict=True
    ):
        for number, (name, groups) in enumerate(grid.items()):
            values = [groups[label].median(key) for label in sizes]
            axes.plot(list(sizes.values()), values, label=name, **style(number, markersize=6))
        axes.set_ylim(bottom=0)
        clean(axes, "", "cuts per iteration, M", title)
    legend(figure, panels[0], columns=2)
