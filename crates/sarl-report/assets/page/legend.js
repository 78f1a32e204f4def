// Which mark is which, above the chart.

function swatchOf(mark) {
  const svg = d3.create("svg").attr("viewBox", "0 0 28 14").attr("width", 28).attr("height", 14);
  svg.attr("aria-hidden", "true").attr("class", "swatch");
  const { dash = mark.dash, marker = mark.shape } = mark.style ?? {};
  const ink = mark.kind === "cursor" ? "var(--accent)" : colourOf(mark.style?.colour ?? mark.colour);
  const area = { bars: 1, histogram: 0.2, region: 0.2, line: mark.band?.length ? 0.16 : 0 }[mark.kind];
  if (area) {
    svg.append("rect").attr("width", 28).attr("height", 14).style("fill", ink).style("fill-opacity", area);
  }
  if (dash && mark.kind !== "points") {
    const stroke = svg.append("line").attr("x2", 28).attr("y1", 7).attr("y2", 7);
    stroke.style("stroke", ink).style("stroke-width", 2).attr("stroke-dasharray", DASHES[dash]);
  }
  if (marker) {
    const shape = svg.append("path").attr("transform", "translate(14,7)");
    shape.attr("d", d3.symbol(SHAPES[marker], 44)());
    if (marker === "cross") shape.style("stroke", ink).style("stroke-width", 1.8);
    else shape.style("fill", ink);
  }
  if (mark.kind === "cursor") drawCursor(svg, mark.y.length > 0, 14, 7, 14);
  return svg.node();
}

const SHAPES = {
  circle: d3.symbolCircle,
  square: d3.symbolSquare,
  triangle: d3.symbolTriangle,
  diamond: d3.symbolDiamond,
  cross: d3.symbolTimes,
};

// A dot with a halo, or an upright line where there is no height.
function drawCursor(parent, dot, x, y, height) {
  if (!dot)
    return parent.append("line").attr("class", "cursor-rule").attr("x1", x).attr("x2", x).attr("y2", height);
  const group = parent.append("g").attr("transform", `translate(${x},${y})`);
  group.append("circle").attr("class", "cursor-halo").attr("r", 7);
  group.append("circle").attr("class", "cursor-dot").attr("r", 4.5);
  return group;
}

// Marks that look the same and have the same name stand once.
function legendOf(marks) {
  const list = element("ul", { class: "legend" });
  const seen = new Set();
  for (const mark of marks) {
    const { kind, name, style, colour, dash, shape } = mark;
    const key = JSON.stringify([kind, name, style, colour, dash, shape]);
    if (!name || seen.has(key)) continue;
    seen.add(key);
    list.append(element("li", {}, swatchOf(mark), element("bdi", {}, name)));
  }
  return list.childElementCount ? list : null;
}

function cursorMarks(cursors) {
  return cursors.map((cursor) => ({ kind: "cursor", ...cursor }));
}

// The colours of numbers.
function rampOf(shade) {
  return Plot.legend({
    color: shade.color,
    label: shade.name,
    width: 260,
    tickFormat: (value) => plain(value),
    className: "ramp",
  });
}
