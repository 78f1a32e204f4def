// A figure of the report: heading, legend, panels, caption, table.

// The frame that every chart shares. `tables` says what is behind it.
function chartFrame({ id, title, wide = false, tables }) {
  const heading = element("h3", { id: `${id}-title`, class: "chart-title" }, title);
  const controls = element("div", { class: "chart-controls" });
  const legend = element("div", { class: "legends" });
  const body = element("div", { class: "panels" });
  const caption = element("figcaption", {});
  const behind = tableBehind(tables);
  const node = element(
    "figure",
    { id, role: "group", "aria-labelledby": heading.id, class: wide ? "chart wide" : "chart" },
    heading,
    controls,
    legend,
    body,
    caption,
    behind.node,
  );
  return {
    node,
    controls,
    body,
    refresh: behind.refresh,
    setTitle(text) {
      heading.textContent = text;
    },
    setLegend(...parts) {
      legend.replaceChildren(...parts.filter(Boolean));
    },
    setCaption(...sentences) {
      caption.textContent = sentences.filter(Boolean).join(" ");
    },
  };
}

function chartView(chart, { id, tall = false, pick = null }) {
  const { figure, cursors } = chart;
  const title = figure.title || figure.name;
  const frame = chartFrame({ id, title, wide: figure.panels.length > 1, tables: () => figureTables(figure) });
  const own = figure.legend === "each_panel";
  const all = (k) => [...figure.panels[k].marks, ...cursorMarks(cursors[k] ?? [])];
  const shared = own || figure.legend === "hidden" ? [] : d3.range(figure.panels.length).flatMap(all);
  const views = figure.panels.map((panel, k) => {
    const view = panelView({ describe: () => `${title}. ${figure.caption}`, tall, pick });
    if (own) view.node.prepend(legendOf(all(k)) ?? "");
    view.set(panel, cursors[k] ?? []);
    return view;
  });
  frame.body.style.setProperty("--columns", Math.min(figure.columns, 4));
  frame.body.append(...views.map((view) => view.node));
  frame.setLegend(legendOf(shared));
  frame.setCaption(figure.caption);
  return {
    node: frame.node,
    moveTo(at) {
      views.forEach((view) => view.moveTo(at));
    },
  };
}
