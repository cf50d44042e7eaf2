// Colours of the charts follow the page's, which follow light, dark and paper.
"use strict";
(() => {
  const plots = () => Bokeh.documents.flatMap((doc) => doc.roots());
  const LIGHT = "LIGHT_COLOURS";
  let painted = LIGHT;
  const colour = (name) => painted[name];
  const paint = (plot) => {
    const [muted, line] = ["--muted", "--line"].map(colour);
    for (const axis of [...plot.below, ...plot.left]) {
      axis.setv({ major_label_text_color: muted, axis_line_color: line,
        major_tick_line_color: line });
    }
    for (const piece of plot.center) {
      if ("grid_line_color" in piece) piece.setv({ grid_line_color: line });
      else if (piece.tags.length) piece.setv({ line_color: colour(piece.tags[0]) });
    }
    for (const renderer of plot.renderers) {
      const value = colour(renderer.tags[0] ?? "--grey");
      const hollow = renderer.tags.includes("hollow");
      const glyph = renderer.glyph;
      const wanted = {};
      if ("line_color" in glyph) wanted.line_color = { value };
      if ("fill_color" in glyph) wanted.fill_color = hollow ? { value: colour("--back") } : { value };
      glyph.setv(wanted);
    }
  };
  const repaint = () => {
    const style = getComputedStyle(document.documentElement);
    const now = (name) => style.getPropertyValue(name).trim();
    painted = Object.fromEntries(Object.keys(LIGHT).map((name) => [name, now(name)]));
    plots().forEach(paint);
  };
  const toggle = (button) => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    const group = button.closest("[data-group]").dataset.group;
    for (const plot of plots()) {
      if (plot.tags[0] !== group) continue;
      for (const renderer of plot.renderers) {
        if (renderer.tags[1] === button.dataset.series) renderer.visible = shown;
      }
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.key");
    if (button) toggle(button);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  // Paper gets a drawing of each chart in light colours, as wide as its column there.
  const rgb = (hex) => `rgb(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join()})`;
  const lighten = (drawing) => {
    const light = new Map();
    for (const [name, value] of Object.entries(LIGHT)) {
      const now = colour(name);
      light.set(now, value).set(rgb(now), rgb(value));
    }
    return drawing.replace(/(fill|stroke)="([^"]*)"/g,
      (all, what, value) => (light.has(value) ? `${what}="${light.get(value)}"` : all));
  };
  const preparePaper = () => {
    for (const view of Bokeh.index) {
      const chart = view.el?.closest(".chart");
      if (!chart) continue;
      const drawing = lighten(view.export("svg").ctx.get_serialized_svg());
      const image = chart.querySelector("img.paper") ??
        chart.insertBefore(new Image(), chart.querySelector(".under"));
      image.className = "paper";
      image.alt = chart.getAttribute("aria-label");
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawing);
    }
  };
  matchMedia("print").addEventListener("change", (event) => event.matches && preparePaper());
  addEventListener("beforeprint", preparePaper);
  const wait = () => {
    if (!Bokeh.documents.length) return setTimeout(wait, 30);
    repaint();
    document.documentElement.dataset.drawn = "yes";
  };
  wait();
})();
