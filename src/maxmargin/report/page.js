// Colours of the charts follow the page's, which follow light, dark and paper.
"use strict";
(() => {
  const plots = () => Bokeh.documents.flatMap((doc) => doc.roots());
  const paper = { on: false };
  const LIGHT = "LIGHT_COLOURS";
  const colour = (name) =>
    paper.on ? LIGHT[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const paint = (plot) => {
    const [ink, muted, line] = ["--ink", "--muted", "--line"].map(colour);
    for (const axis of [...plot.below, ...plot.left]) {
      axis.setv({ axis_label_text_color: muted, major_label_text_color: muted,
        axis_line_color: line, major_tick_line_color: line });
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
    for (const tool of plot.toolbar.tools) {
      if ("overlay" in tool) {
        const lines = Array.isArray(tool.overlay) ? tool.overlay : [tool.overlay];
        for (const span of lines) if (span && "line_color" in span) span.setv({ line_color: muted });
      }
    }
  };
  const repaint = () => plots().forEach(paint);
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
  const print = (on) => { paper.on = on; repaint(); };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  const wait = () => {
    if (Bokeh.documents.length) { repaint(); document.documentElement.dataset.drawn = "yes"; }
    else setTimeout(wait, 30);
  };
  wait();
})();
