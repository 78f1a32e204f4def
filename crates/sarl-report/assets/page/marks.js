// From the marks of a figure to those of Plot.

const COLOURS = 7;
const DASHES = { solid: null, dashed: "7 4", dash_dot: "8 3.5 2 3.5", dotted: "2 3.5" };
const SYMBOLS = {
  circle: "circle",
  square: "square",
  triangle: "triangle",
  diamond: "diamond",
  cross: "times",
};

function colourOf(colour) {
  return colour === "neutral" ? "var(--neutral)" : `var(--series-${colour.series % COLOURS})`;
}

// The colour of what stands out among marks of this colour.
function contrastOf(colour) {
  return colourOf({ series: colour.series % COLOURS === 1 ? 0 : 1 });
}

// The look of the n-th series: colour, dash and marker all differ from its neighbours'.
function nthLook(n) {
  return {
    colour: { series: n },
    dash: Object.keys(DASHES)[n % 4],
    shape: Object.keys(SYMBOLS)[n % 5],
  };
}

// The corners of a piecewise constant function; the last point only ends the one before.
function staircase(points) {
  return points.slice(0, -1).flatMap(([x, y], k) => [
    [x, y],
    [points[k + 1][0], y],
  ]);
}

function skyline({ edges, counts }) {
  const tops = counts.flatMap((height, k) => [
    [edges[k], height],
    [edges[k + 1], height],
  ]);
  return [[edges[0], 0], ...tops, [edges[edges.length - 1], 0]];
}

// A frame knows which way a panel lies: names stand on the vertical axis, so that they can be
// read, and everything is turned with them.
function turned(frame, points) {
  return points.map(([x, y, ...more]) =>
    frame.flip ? [orGap(y), orGap(x), ...more] : [orGap(x), orGap(y), ...more],
  );
}

function within(value, [a, b]) {
  return value >= Math.min(a, b) && value <= Math.max(a, b);
}

function inside(frame, [x, y]) {
  return within(x, frame.domains.x) && within(y, frame.domains.y);
}

const AT = { x: (point) => point[0], y: (point) => point[1] };

function lineMark(frame, points, colour, dash, more = {}) {
  return Plot.line(turned(frame, points), {
    ...AT,
    stroke: colour,
    strokeWidth: 2,
    strokeDasharray: DASHES[dash],
    clip: frame.clip,
    ...more,
  });
}

function areaMark(frame, points, colour, opacity) {
  const style = { fill: colour, fillOpacity: opacity, stroke: "none", curve: "linear-closed" };
  return Plot.line(turned(frame, points), { ...AT, clip: frame.clip, ...style });
}

function dotMark(frame, points, colour, shape, size, more = {}) {
  const shown = turned(frame, points).filter((point) => inside(frame, point));
  const ink = shape === "cross" ? { stroke: colour, strokeWidth: 1.8 } : { fill: colour, stroke: "none" };
  return Plot.dot(shown, { ...AT, symbol: SYMBOLS[shape], r: size, ...ink, ...more });
}

function tipsOf(frame, mark, points) {
  const at = turned(frame, points);
  return points
    .map((point, k) => ({ x: at[k][0], y: at[k][1], name: mark.name, point }))
    .filter((tip) => inside(frame, [tip.x, tip.y]));
}

function bandMark(frame, band, colour) {
  const style = { fill: colour, fillOpacity: 0.16, clip: frame.clip };
  const [at, low, high] = [(s) => orGap(s.x), (s) => orGap(s.low), (s) => orGap(s.high)];
  return frame.flip
    ? Plot.areaX(band, { y: at, x1: low, x2: high, ...style })
    : Plot.areaY(band, { x: at, y1: low, y2: high, ...style });
}

function whiskerMarks(frame, ends, middle, cap) {
  const segments = ends.flatMap(({ from, to, k }) => [
    [
      [middle(k), from],
      [middle(k), to],
    ],
    [
      [middle(k) - cap, from],
      [middle(k) + cap, from],
    ],
    [
      [middle(k) - cap, to],
      [middle(k) + cap, to],
    ],
  ]);
  const all = segments.map((segment) => turned(frame, segment));
  const ink = { stroke: "currentColor", strokeWidth: 1.2, clip: frame.clip };
  return Plot.link(all, {
    x1: (s) => s[0][0],
    y1: (s) => s[0][1],
    x2: (s) => s[1][0],
    y2: (s) => s[1][1],
    ...ink,
  });
}

const KINDS = {
  line(mark, frame) {
    const { colour, dash, marker } = mark.style;
    const ink = colourOf(colour);
    const plots = [lineMark(frame, mark.points, ink, dash)];
    if (mark.band?.length) plots.unshift(bandMark(frame, mark.band, ink));
    if (marker) plots.push(dotMark(frame, mark.points, ink, marker, 3.5));
    return { plots, tips: tipsOf(frame, mark, mark.points) };
  },

  steps(mark, frame) {
    const { colour, dash, marker } = mark.style;
    const plots = [lineMark(frame, staircase(mark.points), colourOf(colour), dash)];
    if (marker) plots.push(dotMark(frame, mark.points, colourOf(colour), marker, 3.5));
    return { plots, tips: tipsOf(frame, mark, mark.points) };
  },

  // Points that are shaded carry a third number, which is their colour.
  points(mark, frame) {
    const shades = { fill: (point) => point[2], stroke: "var(--edge)", strokeWidth: 0.6 };
    const look = { fillOpacity: mark.opacity, ...(mark.shaded && shades) };
    const plots = [dotMark(frame, mark.points, colourOf(mark.colour), mark.shape, mark.size, look)];
    return { plots, tips: tipsOf(frame, mark, mark.points) };
  },

  histogram(mark, frame) {
    const ink = colourOf(mark.colour);
    const outline = skyline(mark);
    const tips = mark.counts.map((height, k) => [(mark.edges[k] + mark.edges[k + 1]) / 2, height]);
    return {
      plots: [
        areaMark(frame, outline, ink, 0.2),
        lineMark(frame, outline, ink, mark.dash, { strokeWidth: 1.8 }),
      ],
      tips: tipsOf(frame, mark, tips),
    };
  },

  // Bars of several series share the room of a name.
  bars(mark, frame) {
    const { at, of } = frame.bars.get(mark);
    const thick = 0.76 / of;
    const middle = (k) => k - 0.38 + thick * (at + 0.5);
    const [low] = frame.flip ? frame.domains.x : frame.domains.y;
    const base = frame.log ? low : 0;
    const shown = mark.values
      .map((value, k) => ({ value: orGap(value), k }))
      .filter((bar) => isNumber(bar.value));
    const fill = (bar) => (bar.k === mark.highlight ? contrastOf(mark.colour) : colourOf(mark.colour));
    const along = frame.flip ? ["x1", "x2", "y1", "y2"] : ["y1", "y2", "x1", "x2"];
    const box = (from, to, left, right) => ({
      [along[0]]: from,
      [along[1]]: to,
      [along[2]]: left,
      [along[3]]: right,
    });
    const room = thick * 0.46;
    const plots = [
      Plot.rect(shown, {
        ...box(
          base,
          (b) => b.value,
          (b) => middle(b.k) - room,
          (b) => middle(b.k) + room,
        ),
        fill,
        clip: frame.clip,
      }),
    ];
    const ends = whiskersOf(mark)
      .map(([from, to], k) => ({ from, to, k }))
      .filter(({ from, to }) => isNumber(from) && isNumber(to));
    if (ends.length) plots.push(whiskerMarks(frame, ends, middle, Math.min(room, 0.12)));
    const tips = shown.map(({ value, k }) => ({
      ...(frame.flip ? { x: value, y: middle(k) } : { x: middle(k), y: value }),
      name: mark.name,
      point: [k, value],
      ends: mark.whiskers?.[k],
    }));
    return { plots, tips };
  },

  rule(mark, frame) {
    const upright = (mark.direction === "vertical") !== frame.flip;
    if (!within(mark.at, upright ? frame.domains.x : frame.domains.y)) return { plots: [], tips: [] };
    const ink = { stroke: colourOf(mark.colour), strokeWidth: 1.5, strokeDasharray: DASHES[mark.dash] };
    return { plots: [(upright ? Plot.ruleX : Plot.ruleY)([mark.at], ink)], tips: [] };
  },

  region(mark, frame) {
    const corners = mark.points.filter((point) => point.every(isNumber));
    return { plots: [areaMark(frame, corners, colourOf(mark.colour), 0.13)], tips: [] };
  },
};
