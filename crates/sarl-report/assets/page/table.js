// Tables: those of the report, and one behind every chart.

const MOST_ROWS = 500;

// Cells are texts, or numbers with the way they are written.
function cellOf(value, tag, attributes) {
  if (typeof value === "string") return element(tag, attributes, element("bdi", {}, value));
  const { number, text } = value;
  const exact = isNumber(number) ? { "data-value": String(number) } : {};
  return element(tag, { ...attributes, ...exact }, text);
}

function tableOf({ title, header, rows, names }) {
  const isFigure = (cell) => typeof cell !== "string" || /^[−-]?[\d.]/.test(cell);
  const side = (k) => (k < names || !rows.some((row) => isFigure(row[k] ?? "")) ? "name" : "number");
  const head = element(
    "tr",
    {},
    ...header.map((text, k) => cellOf(text, "th", { scope: "col", class: side(k) })),
  );
  const line = (row) => {
    const full = [...row, ...new Array(Math.max(0, header.length - row.length)).fill("")];
    const cells = full.map((cell, k) =>
      cellOf(cell, k === 0 && names > 0 ? "th" : "td", {
        class: side(k),
        scope: k === 0 && names > 0 ? "row" : null,
      }),
    );
    return element("tr", {}, ...cells);
  };
  const table = element(
    "table",
    {},
    title ? element("caption", {}, title) : null,
    element("thead", {}, head),
    element("tbody", {}, ...rows.slice(0, MOST_ROWS).map(line)),
  );
  const name = { role: "region", "aria-label": title || "Table" };
  const scroller = element("div", { class: "scroller", tabindex: 0, ...name }, table);
  if (rows.length <= MOST_ROWS) return scroller;
  const rest = element("p", { class: "note" }, `The first ${MOST_ROWS} of ${count(rows.length)} rows.`);
  return element("div", {}, scroller, rest);
}

// Filled when it is opened, and again whenever what it shows has changed while it is open.
function tableBehind(tables) {
  const body = element("div", { class: "tables" });
  const node = element("details", { class: "behind" }, element("summary", {}, "Table"), body);
  let stale = true;
  const fill = () => {
    if (!node.open || !stale) return;
    body.replaceChildren(...tables().map(tableOf));
    stale = false;
  };
  node.addEventListener("toggle", fill);
  return {
    node,
    refresh() {
      stale = true;
      fill();
    },
  };
}

function written(axis, value) {
  return { number: value, text: inUnits(axis, value) };
}

// Every value of a mark as {x, y, low, high}; x is a text where it is not a number.
function valuesOf(mark, panel) {
  switch (mark.kind) {
    case "histogram":
      return mark.counts.map((height, k) => ({
        x: {
          number: mark.edges[k],
          text: `${inUnits(panel.x, mark.edges[k])} to ${inUnits(panel.x, mark.edges[k + 1])}`,
        },
        y: height,
      }));
    case "bars":
      return mark.values.map((value, k) => {
        const [low, high] = whiskersOf(mark)[k] ?? [];
        return { x: panel.x.categories[k] ?? String(k), y: value, low, high };
      });
    case "rule":
      return mark.direction === "vertical"
        ? [{ x: written(panel.x, mark.at) }]
        : [{ x: "everywhere", y: mark.at }];
    case "line": {
      const band = new Map((mark.band ?? []).map((spread) => [spread.x, spread]));
      return mark.points.map(([x, y]) => {
        const { low, high } = band.get(x) ?? {};
        return { x: written(panel.x, x), y, low, high };
      });
    }
    default:
      return mark.points.map(([x, y]) => ({ x: written(panel.x, x), y }));
  }
}

function sameX(series) {
  const keys = series.map(({ values }) => JSON.stringify(values.map(({ x }) => x)));
  return keys.every((key) => key === keys[0]);
}

function hasSpread(values) {
  return values.some(({ low, high }) => isNumber(low) || isNumber(high));
}

function valueCells(panel, { y, low, high }, spread) {
  return [y, ...(spread ? [low, high] : [])].map((value) => written(panel.y, value ?? null));
}

// One row for each x, which all series share.
function wideTable(panel, series) {
  const header = series.flatMap(({ name, values }) =>
    hasSpread(values) ? [name, `${name}: low`, `${name}: high`] : [name],
  );
  const rows = series[0].values.map(({ x }, k) => [
    x,
    ...series.flatMap(({ values }) => valueCells(panel, values[k], hasSpread(values))),
  ]);
  return { header: [acrossName(panel), ...header], rows, names: 1 };
}

// One row for each value.
function longTable(panel, series) {
  const spread = series.some(({ values }) => hasSpread(values));
  const header = ["series", acrossName(panel), panel.y.label || "y", ...(spread ? ["low", "high"] : [])];
  const rows = series.flatMap(({ name, values }) =>
    values.map((value) => [name, value.x, ...valueCells(panel, value, spread)]),
  );
  return { header, rows, names: panel.x.categories?.length ? 2 : 1 };
}

function acrossName(panel) {
  return panel.x.label || (panel.x.categories?.length ? "name" : "x");
}

// Levels stand beside every x, so they do not keep a table from being wide.
function panelTable(panel, title) {
  const isLevel = (mark) => mark.kind === "rule" && mark.direction === "horizontal";
  const named = (mark, values) => ({ name: mark.name || mark.kind, values });
  const full = (mark) => named(mark, valuesOf(mark, panel));
  // The outline of a region matters least.
  const marks = d3.sort(panel.marks, (mark) => mark.kind === "region");
  const main = marks.filter((mark) => !isLevel(mark)).map(full);
  const levels = marks.filter(isLevel);
  if (!main.length || !sameX(main)) return { title, ...longTable(panel, marks.map(full)) };
  const level = (mark) =>
    named(
      mark,
      main[0].values.map(({ x }) => ({ x, y: mark.at })),
    );
  return { title, ...wideTable(panel, [...main, ...levels.map(level)]) };
}

function figureTables(figure) {
  return figure.panels.map((panel) => panelTable(panel, panel.title || figure.title));
}
