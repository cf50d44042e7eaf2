"""A segmentation: the petals of a flower, from a few marked rows.

The photograph is one of those that scikit-learn contains. It has no mask, so that "petal" is
defined by the colour of the clean picture, and the models see the picture with much noise.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import maxmargin as mm

random = np.random.default_rng(0)
flower = load_sample_image("flower.jpg")[20:420:6, 100:580:6] / 255.0
truth = (flower[:, :, 0] > 0.5).astype(int)
noisy = flower + 0.4 * random.standard_normal(flower.shape)
image = np.dstack([noisy, np.ones(truth.shape)])  # a channel of ones: the constant

marked = slice(26, 38)  # these rows are known
pixels = image.reshape(-1, 4)
alone = mm.BinarySVC(C=0.1).fit(image[marked].reshape(-1, 4), truth[marked].ravel())
grid = mm.GridSVC(C=0.1, pairwise="associative", contrast=True, neighbours=8)
grid.fit([image[marked]], [truth[marked]])

found = {
    "each pixel alone": alone.predict(pixels).reshape(truth.shape),
    "with its neighbours": grid.predict([image])[0],
}
others = np.ones(len(truth), bool)
others[marked] = False
for name, labels in found.items():
    print(f"{name}: {(labels == truth)[others].mean():.3f} of the pixels of other rows are right")
print(f"decoder {grid.inference_!r}, gap {grid.result_.gap:.3g}")
for name, weight in grid.explain().transitions.positive:
    print(f"{weight:+.3f}  {name}")

pictures = {"picture": flower, "what the models see": noisy.clip(0, 1), "truth": truth, **found}
figure, panels = plt.subplots(1, 5, figsize=(15, 3))
for axes, (title, shown) in zip(panels, pictures.items(), strict=True):
    axes.imshow(shown, cmap="viridis")
    axes.axhspan(marked.start, marked.stop, color="none", ec="red", lw=1.5)
    axes.set(xticks=[], yticks=[], title=title)
panels[1].set_xlabel("rows between the red lines are marked")
figure.tight_layout()
figure.savefig("segmentation.png", dpi=80)
