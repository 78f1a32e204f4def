// One pair of axes: what is drawn by Plot, and over it what follows the slider.

// A drawing has one name; those that Plot gives to its parts may not stand on them. It knows its
// axes by them, so that `axis: null` must keep it from adding others.
function unnamed(marks) {
  return marks
    .flat(Infinity)
    .filter(Boolean)
    .map((mark) => Object.assign(mark, { ariaLabel: null }));
}

const BAR_ROOM = 22;
const MARGINS = { marginTop: 12, marginRight: 22, marginBottom: 28 };

function frameOf(panel, cursors) {
  const flip = panel.x.categories?.length > 0;
  const domains = domainsOf(panel, cursors);
  const series = panel.marks.filter((mark) => mark.kind === "bars");
  return {
    flip,
    // On the page, x is across: of a panel that is turned, it has the values.
    axes: flip ? { x: panel.y, y: panel.x } : { x: panel.x, y: panel.y },
    domains: flip ? { x: domains.y, y: [...domains.x].reverse() } : domains,
    log: panel.y.scale === "log",
    clip: panel.x.range || panel.y.range ? "frame" : null,
    bars: new Map(series.map((mark, at) => [mark, { at, of: series.length }])),
  };
}

function heightOf(panel, width, tall) {
  if (panel.x.categories?.length) {
    const series = Math.max(1, panel.marks.filter((mark) => mark.kind === "bars").length);
    return panel.x.categories.length * (14 + BAR_ROOM * Math.sqrt(series)) + 44;
  }
  return Math.round(
    tall ? Math.max(280, Math.min(440, width * 0.69)) : Math.max(230, Math.min(320, width * 0.6)),
  );
}

function tipText(panel, { name, point, ends }) {
  const lines = [point.length > 2 ? `${name}: ${plain(point[2])}` : name];
  const say = (axis, value) => `${axis.label ? `${axis.label}: ` : ""}${inUnits(axis, value)}`;
  lines.push(say(panel.x, point[0]), say(panel.y, point[1]));
  if (ends) lines.push(`from ${inUnits(panel.y, ends[0])} to ${inUnits(panel.y, ends[1])}`);
  return lines.filter(Boolean).join("\n");
}

function axisMarks(frame, width, labels) {
  const { axes, domains } = frame;
  const across = ticksOf(axes.x, domains.x, width - labels.margin, 72);
  const grid = { stroke: "var(--grid)", strokeOpacity: 1 };
  const text = { label: null, tickSize: 4, tickPadding: 4, color: "var(--muted)" };
  const zero = frame.flip && axes.x.scale !== "log" && within(0, domains.x);
  return [
    Plot.gridX(across.values, grid),
    frame.flip ? null : Plot.gridY(labels.values, grid),
    Plot.axisX(across.values, { ...text, tickFormat: across.format }),
    Plot.axisY(labels.values, { ...text, tickSize: frame.flip ? 0 : 4, tickFormat: labels.format }),
    zero ? Plot.ruleX([0], { stroke: "var(--line)" }) : null,
    Plot.frame({ anchor: "bottom", stroke: "var(--line)" }),
  ];
}

// The labels of the vertical axis, and how much room they take on the left.
function leftLabels(frame, width, height) {
  const labels = ticksOf(
    frame.axes.y,
    frame.domains.y,
    height - MARGINS.marginTop - MARGINS.marginBottom,
    44,
  );
  const format = (value) => (frame.flip ? wrap(labels.format(value), width * 0.4) : labels.format(value));
  const widest =
    d3.max(
      labels.values.flatMap((value) => format(value).split("\n")),
      measure,
    ) ?? 0;
  return { values: labels.values, format, margin: Math.ceil(widest) + 14 };
}

function drawPanel(panel, cursors, width, height, label) {
  const frame = frameOf(panel, cursors);
  const labels = leftLabels(frame, width, height);
  const parts = panel.marks.map((mark) => KINDS[mark.kind](mark, frame));
  const tips = parts.flatMap((part) => part.tips);
  const svg = Plot.plot({
    width,
    height,
    marginLeft: labels.margin,
    ...MARGINS,
    className: "plot",
    ariaLabel: label,
    axis: null,
    x: scaleOf(frame.axes.x, frame.domains.x),
    y: scaleOf(frame.axes.y, frame.domains.y),
    color: panel.shade?.color,
    marks: unnamed([
      ...axisMarks(frame, width, labels),
      ...parts.flatMap((part) => part.plots),
      Plot.tip(
        tips,
        Plot.pointer({
          x: "x",
          y: "y",
          title: (tip) => tip,
          format: (tip) => tipText(panel, tip),
          stroke: "var(--line)",
          lineWidth: Math.min(20, width / 20),
          lineHeight: 1.25,
          maxRadius: 30,
        }),
      ),
    ]),
  });
  svg.setAttribute("role", "img");
  return { svg, frame };
}

// What a chart shows, for those who do not see it.
function describePanel(panel, cursors) {
  const { x, y } = domainsOf(panel, cursors);
  const names = panel.marks.map((mark) => mark.name).filter(Boolean);
  const side = (axis, [low, high]) => {
    const label = axis.label || "no label";
    if (axis.categories?.length) return `${label}, ${axis.categories.length} names`;
    return `${label}, from ${inUnits(axis, low)} to ${inUnits(axis, high)}`;
  };
  const series = `${panel.marks.length} series${names.length ? `: ${names.join(", ")}` : ""}`;
  const axes = `Horizontal axis: ${side(panel.x, x)}. Vertical axis: ${side(panel.y, y)}.`;
  return `${panel.title ? `${panel.title}. ` : ""}${axes} ${series}.`;
}

// Places cursors over a drawing; the drawing itself stays as it is.
function cursorLayer(svg, frame, cursors, height) {
  const { marginTop, marginBottom } = MARGINS;
  const layer = d3
    .select(svg)
    .insert("g", () => svg.lastElementChild)
    .attr("class", "cursors");
  const across = svg.scale("x");
  const up = svg.scale("y");
  const tall = height - marginTop - marginBottom;
  const drawn = cursors.map((cursor) => drawCursor(layer, cursor.y.length > 0, 0, 0, tall));
  // Upright lines stand at the lower end of the other axis, as far as that matters.
  const heightAt = (cursor, at) => (cursor.y.length ? cursor.y[at] : frame.domains.y[0]);
  const pointOf = (cursor, at) => turned(frame, [[cursor.x[at], heightAt(cursor, at)]])[0];
  const place = (cursor, at) => {
    const [x, y] = pointOf(cursor, at);
    return [across.apply(x), up.apply(y)];
  };
  const moveTo = (at) => {
    cursors.forEach((cursor, k) => {
      const shown = inside(frame, pointOf(cursor, at));
      drawn[k].attr("display", shown ? null : "none");
      if (!shown) return;
      const [x, y] = place(cursor, at);
      drawn[k].attr("transform", `translate(${x},${cursor.y.length ? y : marginTop})`);
    });
  };
  const nearest = (x, y) => {
    const far = (cursor, at) => {
      const [cx, cy] = place(cursor, at);
      return cursor.y.length ? Math.hypot(cx - x, cy - y) : Math.abs(cx - x);
    };
    const all = cursors.flatMap((cursor) => d3.range(cursor.x.length).map((at) => [far(cursor, at), at]));
    return d3.least(
      all.filter(([distance]) => isNumber(distance)),
      ([distance]) => distance,
    )?.[1];
  };
  return { moveTo, nearest };
}

// A place for a panel, which may change.
function panelView({ describe, tall = false, pick = null }) {
  const title = element("h4", { class: "panel-title" });
  const above = element("p", { class: "axis-label" });
  const below = element("p", { class: "axis-label across" });
  const drawing = element("div", { class: "drawing" });
  const node = element("div", { class: "panel" }, title, above, drawing, below);
  let panel = null;
  let cursors = [];
  let layer = null;
  let at = 0;

  // Plot would hold on to a tip that is clicked, and then it no longer follows the pointer.
  drawing.addEventListener("pointerdown", (event) => event.stopPropagation(), true);
  drawing.addEventListener("click", (event) => {
    if (!pick || !layer) return;
    const nearest = layer.nearest(...d3.pointer(event, drawing.firstChild));
    if (nearest !== undefined) pick(nearest);
  });

  function draw(width) {
    const height = heightOf(panel, width, tall);
    const { svg, frame } = drawPanel(
      panel,
      cursors,
      width,
      height,
      `${describe()} ${describePanel(panel, cursors)}`,
    );
    drawing.replaceChildren(svg);
    drawing.style.minHeight = "";
    layer = cursors.length ? cursorLayer(svg, frame, cursors, height) : null;
    layer?.moveTo(at);
  }

  stage.add(drawing, draw);
  return {
    node,
    set(next, follow = []) {
      panel = next;
      cursors = follow;
      const flip = panel.x.categories?.length > 0;
      title.textContent = panel.title;
      above.textContent = flip ? panel.x.label : panel.y.label;
      below.textContent = flip ? panel.y.label : panel.x.label;
      drawing.classList.toggle("pick", Boolean(pick && cursors.length));
      if (!drawing.firstChild) drawing.style.minHeight = `${heightOf(panel, 480, tall)}px`;
      stage.redraw(drawing);
    },
    moveTo(next) {
      at = next;
      layer?.moveTo(at);
    },
  };
}
