// What the encoder looks at: the columns that weigh most at a position.

const MOST_COLUMNS = 20;
const ROW_HEIGHT = 26;

// The numbers of each position and direction, in the order of the columns.
function loadsOf({ weights, positions }) {
  const parts = ["net", "up", "down"].map((part) => new Float32Array(bytesOf(weights[part])));
  const columns = weights.columns.length;
  const directions = Math.max(1, Math.round(parts[0].length / Math.max(1, positions.length * columns)));
  const at = (position, direction) =>
    weights.columns.map((column, k) => {
      const [net, up, down] = parts.map((part) => part[(position * directions + direction) * columns + k]);
      return { ...column, net, up, down };
    });
  const range = (direction) => {
    const low = d3.min(positions, (_, position) =>
      d3.min(at(position, direction), (c) => Math.min(0, c.down)),
    );
    const high = d3.max(positions, (_, position) =>
      d3.max(at(position, direction), (c) => Math.max(0, c.up)),
    );
    if (!(high > low)) return [-1, 1];
    const pad = (high - low) * 0.03;
    return [low && low - pad, high && high + pad];
  };
  return { at, directions, ranges: d3.range(directions).map(range) };
}

function heaviest(columns) {
  return d3.sort(columns, (a, b) => d3.descending(a.up + Math.abs(a.down), b.up + Math.abs(b.down)));
}

function weightLabels(columns, width) {
  const suffix = " · sensitive";
  const room = width * 0.42;
  // Isolated, so that a name that runs to the left leaves the rest in place.
  const short = (name, rest) => `\u2068${fit(name, rest)}\u2069`;
  // Bold letters are wider.
  const bold = (name) => short(name, room - measure(suffix) * 1.1) + suffix;
  const labels = columns.map(({ name, sensitive }) => (sensitive ? bold(name) : short(name, room)));
  return { labels, margin: Math.ceil((d3.max(labels, measure) ?? 0) * 1.06) + 14 };
}

function weightTip({ name, sensitive, categories, net, up, down }) {
  const lines = [sensitive ? `${name} (sensitive)` : name, `sum: ${plain(net)}`];
  if (categories > 0) lines.push(`${categories} categories: up ${plain(up)}, down ${plain(down)}`);
  return lines.join("\n");
}

function drawWeights(columns, domain, width, label) {
  const { labels, margin } = weightLabels(columns, width);
  const order = d3.range(columns.length);
  const across = ticksOf({}, domain, width - margin, 72);
  const text = { label: null, tickSize: 0, tickPadding: 6, tickFormat: (k) => labels[k] };
  const kept = (sensitive) => order.filter((k) => columns[k].sensitive === sensitive);
  const svg = Plot.plot({
    width,
    height: columns.length * ROW_HEIGHT + 40,
    marginLeft: margin,
    ...MARGINS,
    className: "plot",
    ariaLabel: label,
    axis: null,
    x: { type: "linear", domain },
    y: { type: "band", domain: order, padding: 0.28 },
    marks: unnamed([
      Plot.gridX(across.values, { stroke: "var(--grid)", strokeOpacity: 1 }),
      Plot.axisX(across.values, {
        label: null,
        tickSize: 4,
        tickFormat: across.format,
        color: "var(--muted)",
      }),
      Plot.axisY(kept(false), { ...text, color: "var(--muted)" }),
      Plot.axisY(kept(true), { ...text, fontWeight: 700 }),
      Plot.barX(columns, {
        x1: (c) => (c.categories > 0 ? c.down : 0),
        x2: (c) => (c.categories > 0 ? c.up : c.net),
        y: (_, k) => k,
        fill: (c) => (c.sensitive ? "var(--series-1)" : "var(--series-0)"),
      }),
      Plot.ruleX([0], { stroke: "var(--muted)" }),
      Plot.dot(
        columns.map((column, k) => ({ ...column, k })).filter((c) => c.categories > 0),
        {
          x: "net",
          y: "k",
          r: 4,
          fill: "var(--series-6)",
          stroke: "var(--paper)",
          strokeWidth: 1.5,
        },
      ),
      Plot.tip(
        columns,
        Plot.pointerY({
          x: "net",
          y: (_, k) => k,
          title: (c) => c,
          format: weightTip,
          stroke: "var(--line)",
          lineWidth: Math.min(20, width / 20),
          lineHeight: 1.25,
          maxRadius: 200,
        }),
      ),
    ]),
  });
  svg.setAttribute("role", "img");
  return svg;
}

function weightsLegend(columns) {
  const bar = (name, series) => ({ kind: "bars", name, colour: { series } });
  const marks = [bar("column", 0)];
  if (columns.some((c) => c.sensitive)) marks.push(bar("sensitive column", 1));
  if (columns.some((c) => c.categories > 0)) {
    marks.push({
      kind: "points",
      name: "sum over the categories of a column",
      colour: { series: 6 },
      shape: "circle",
    });
  }
  return legendOf(marks);
}

function weightsView(explorer, id) {
  const { positions, weights } = explorer;
  const loads = loadsOf(explorer);
  let at = explorer.start;
  let chosen = 0;

  const title = "What the encoder looks at";
  const frame = chartFrame({ id, title, tables: () => [allColumns()] });
  const drawing = element("div", { class: "drawing" });
  const axis = element("p", { class: "axis-label across" }, weights.axis);
  const empty = element(
    "p",
    { class: "note", hidden: true },
    "z has no dimensions at this position: nothing is looked at.",
  );
  const directions =
    loads.directions > 1 ? choice("Direction of z", ["Direction 1", "Direction 2"], choose) : null;
  if (directions) frame.controls.append(directions);
  frame.body.append(element("div", { class: "panel" }, drawing, axis, empty));
  frame.setLegend(weightsLegend(weights.columns));
  frame.setCaption(
    weights.words,
    weights.omitted > 0 ? `${count(weights.omitted)} more columns weigh less.` : "",
  );

  // A position with one direction shows that, whatever was chosen.
  const shown = () => Math.min(chosen, Math.max(1, positions[at].dim) - 1);

  function choose(direction) {
    chosen = direction;
    show();
  }

  function draw(width) {
    const columns = heaviest(loads.at(at, shown())).slice(0, MOST_COLUMNS);
    const first = columns
      .slice(0, 3)
      .map((column) => column.name)
      .join(", ");
    const label = [
      `${title}, direction ${shown() + 1}.`,
      `Horizontal axis: ${weights.axis}.`,
      `${columns.length} columns, the heaviest first: ${first}.`,
    ].join(" ");
    drawing.replaceChildren(drawWeights(columns, loads.ranges[shown()], width, label));
  }

  function allColumns() {
    const cell = (number) => ({ number, text: plain(number) });
    const rows = heaviest(loads.at(at, shown())).map((c) => [
      c.name,
      c.sensitive ? "sensitive" : "",
      cell(c.net),
      cell(c.up),
      cell(c.down),
      { number: c.categories, text: c.categories > 0 ? count(c.categories) : NONE },
    ]);
    const header = ["column", "kind", "sum", "positive", "negative", "categories"];
    return { title: `Weights in direction ${shown() + 1}`, header, rows, names: 2 };
  }

  function show() {
    const { dim } = positions[at];
    drawing.hidden = axis.hidden = dim === 0;
    empty.hidden = dim !== 0;
    directions?.querySelectorAll("input").forEach((input, k) => {
      input.disabled = k >= dim;
      input.checked = k === shown();
    });
    frame.setTitle(loads.directions > 1 ? `${title}: direction ${shown() + 1}` : title);
    if (dim > 0) stage.redraw(drawing);
    frame.refresh();
  }

  drawing.style.minHeight = `${Math.min(MOST_COLUMNS, weights.columns.length) * ROW_HEIGHT + 40}px`;
  stage.add(drawing, draw);
  show();
  return {
    node: frame.node,
    moveTo(next) {
      at = next;
      show();
    },
  };
}
