"""Images as graphs: edges and contrast from their definitions, files and pictures."""

import base64
import io
import json
import re

import numpy as np
import pytest

import maxmargin as mm
from command_line import error_of, passed, run
from maxmargin.report.pictures import label_colors
from maxmargin.structures.grid.images import contrast_scale, edge_names, grid_edges, grid_graphs

C = 0.5
TIGHT = dict(tol=1e-8, max_iter=100_000)


def images(n=3, seed=0):
    random = np.random.RandomState(seed)
    X = [random.randn(2 + i, 3, 2) for i in range(n)]
    return X, [(x[:, :, 0] > 0).astype(int) for x in X]


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize(("h", "w"), [(3, 4), (1, 3), (2, 1), (1, 1), (0, 3)])
def test_all_neighbours_are_joined_once(h, w, neighbours):
    places = [(r, c) for r in range(h) for c in range(w)]
    near = {
        frozenset((r * w + c, s * w + t))
        for r, c in places
        for s, t in places
        if (abs(r - s) + abs(c - t) == 1) or (neighbours == 8 and abs(r - s) == abs(c - t) == 1)
    }
    found = [frozenset(edge) for kind in grid_edges(h, w, neighbours) for edge in kind.tolist()]
    assert len(found) == len(near) and set(found) == near


def test_contrast_from_its_definition():
    X, _ = images(1)
    scale = contrast_scale(X, 4)
    graph = grid_graphs(X, 4, 2, scale)[0]
    flat = X[0].reshape(-1, 2)
    steps = [((flat[a] - flat[b]) ** 2).sum() for a, b in graph.edges]
    assert scale == pytest.approx(2 * np.mean(steps))
    horizontal = [b == a + 1 for a, b in graph.edges]
    for step, flag, row in zip(steps, horizontal, graph.edge_features, strict=True):
        mine = [1.0, np.exp(-step / scale)]
        assert row == pytest.approx([*mine, 0, 0] if flag else [0, 0, *mine])
    names = ["horizontal", "horizontal, contrast", "vertical", "vertical, contrast"]
    assert edge_names(4, 2, True) == names


def test_images_are_graphs():
    X, Y = images()
    graphs = [mm.Graph(x.reshape(-1, 2), np.vstack(grid_edges(*x.shape[:2], 4))) for x in X]
    a = mm.GridSVC(C=C, pairwise="associative", **TIGHT).fit(X, Y)
    b = mm.GraphSVC(C=C, pairwise="associative", **TIGHT).fit(graphs, [y.ravel() for y in Y])
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-6)
    found = a.predict(X)
    assert [y.shape for y in found] == [x.shape[:2] for x in X]
    assert [y.ravel().tolist() for y in found] == [y.tolist() for y in b.predict(graphs)]
    assert a.score(X, Y) == b.score(graphs, [y.ravel() for y in Y])


def test_pixels_without_a_label_do_not_count():
    X, Y = images(1)
    holes = Y[0].copy()
    holes[0, 0] = 255
    clf = mm.GridSVC(C=C, void=255, pairwise="associative").fit(X, [holes])
    assert clf.classes_.tolist() == [0, 1]
    right = clf.predict(X)[0]
    holes[holes != 255] = right[holes != 255]
    assert clf.score(X, [holes]) == 1.0


def test_grey_images_and_contrast_come_back(tmp_path):
    X = [x[:, :, 0] for x in images()[0]]
    Y = images()[1]
    clf = mm.GridSVC(C=C, contrast=True, directions=2, pairwise="associative").fit(X, Y)
    clf.save(tmp_path / "m.mm")
    again = mm.load(tmp_path / "m.mm")
    assert again.contrast_scale_ == clf.contrast_scale_
    assert again.pairwise_.shape == (4, 2, 2)
    for a, b in zip(again.predict(X), clf.predict(X), strict=True):
        assert np.array_equal(a, b)
    assert "vertical, contrast" in str(clf.explain())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 2, 1)), "one image"),
        ([np.zeros((2, 2, 1)), np.zeros((2, 2, 3))], "image 1 has 3 channels"),
        ([np.zeros((2, 2, 1)), np.zeros(2)], "image 1 has shape"),
        ([np.zeros((2, 2, 1)), np.full((2, 2, 1), np.nan)], "image 1"),
    ],
)
def test_bad_images_are_named(X, message):
    with pytest.raises(mm.DataError, match=message):
        mm.GridSVC().fit(X, [np.eye(2)] * 2)


def test_parameters_that_are_refused():
    X, Y = images()
    with pytest.raises(mm.DataError, match="neighbours must be 4 or 8"):
        mm.GridSVC(neighbours=6).fit(X, Y)


def test_labels_have_the_shape_of_their_image():
    X, Y = images()
    with pytest.raises(mm.DataError, match=r"image 0 has 2 x 3 pixels, .* shape \(2, 2\)"):
        mm.GridSVC().fit(X, [np.zeros((2, 2)), *Y[1:]])
    grid = mm.GridSVC().fit(X, Y)
    assert grid.score(X, [y.ravel() for y in Y]) == grid.score(X, Y)
    with pytest.raises(mm.DataError, match=r"image 2 has 4 x 3 pixels, .* shape \(3, 4\)"):
        grid.score(X, [*Y[:2], Y[2].T])
    assert grid.predict([]) == grid.max_marginals([]) == []


def test_folders_of_pictures(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for kind in ("images", "masks"):
        (tmp_path / "data" / kind).mkdir(parents=True)
    random = np.random.RandomState(0)
    for i in range(2):
        mask = np.zeros((4, 5), np.uint8)
        mask[:, i + 1 :] = 1
        picture = np.where(mask[:, :, None], 200, 30) + random.randint(0, 20, (4, 5, 3))
        Image.fromarray(picture.astype(np.uint8)).save(tmp_path / "data" / "images" / f"{i}.png")
        Image.fromarray(mask).save(tmp_path / "data" / "masks" / f"{i}.png")
    options = ("-C", "10", "--pairwise", "associative")
    passed("train", "grid", tmp_path / "data", "-o", tmp_path / "m.mm", *options)
    shown = passed("evaluate", tmp_path / "m.mm", tmp_path / "data", "--json").stdout
    assert json.loads(shown)["n"] == 40
    assert {"accuracy", "mean_iou"} <= set(json.loads(shown))
    (tmp_path / "data" / "masks" / "1.png").unlink()
    wrong = error_of(run("train", "grid", tmp_path / "data", "-o", tmp_path / "n.mm"))
    assert "1.png: has no mask" in wrong


def test_reports_show_images(tmp_path):
    """The pictures are those that the arrays describe."""
    Image = pytest.importorskip("PIL.Image")
    X, Y = images()
    clf = mm.GridSVC(C=C, pairwise="associative").fit(X, Y)
    clf.report(tmp_path / "report.html", X, Y)
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    found = re.findall(r'alt="truth"[^>]*base64,([^"]+)"', page)
    assert len(found) == len(X)
    for code, truth in zip(found, Y, strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(code))))
        assert np.array_equal(pixels, label_colors(truth))
        assert len(np.unique(pixels.reshape(-1, 4), axis=0)) == len(np.unique(truth))
    wrong = re.findall(r'alt="errors"[^>]*base64,([^"]+)"', page)
    for code, truth, y in zip(wrong, Y, clf.predict(X), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(code))))
        assert np.array_equal(pixels[:, :, 3] > 0, truth != y)  # the page, dark or light, elsewhere


def test_large_channels_are_named():
    """They make training slow: the estimator says so, once, with the channel and its size."""
    image = np.dstack([np.ones((2, 3)), np.array([[0.0, 255, 0], [255, 0, -12]])])
    truth = (image[:, :, 1] > 0).astype(int)
    clf = mm.GridSVC(tol=1e3)
    with pytest.warns(UserWarning, match="channel 1 has values of up to 255: .* divide it by 255"):
        clf.fit([image], [truth])
    clf.fit([image / [1, 255]], [truth])
    with pytest.warns(UserWarning, match="edge feature 0 has values of up to 1000"):
        mm.GraphSVC(tol=1e3).fit([mm.Graph(np.eye(2), [(0, 1)], [[-1e3]])], [[0, 1]])
