// Ranges of axes, their ticks, and room for their labels.

// The larger of the two sizes that labels have.
const FONT = "14px system-ui, sans-serif";
const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text) => {
    context.font = FONT;
    return context.measureText(text).width;
  };
})();

// As much of a text as has room, by whole characters.
function fit(text, room) {
  if (measure(text) <= room) return text;
  const letters = Array.from(text);
  let length = letters.length;
  while (length > 1 && measure(`${letters.slice(0, length).join("")}…`) > room) {
    length = Math.min(length - 1, Math.ceil(length * 0.9));
  }
  return `${letters.slice(0, length).join("").trimEnd()}…`;
}

// On two lines where one is too short for it.
function wrap(text, room) {
  const words = text.split(" ");
  const fits = d3.range(words.length - 1, 0, -1).find((k) => measure(words.slice(0, k).join(" ")) <= room);
  if (measure(text) <= room || !fits) return fit(text, room);
  return `${words.slice(0, fits).join(" ")}\n${fit(words.slice(fits).join(" "), room)}`;
}

// The coordinates that a mark reaches; bars and counts start at zero.
function reach(mark) {
  const xs = (points) => points.map((point) => point[0]);
  const ys = (points) => points.map((point) => point[1]);
  switch (mark.kind) {
    case "line": {
      const band = mark.band ?? [];
      return {
        x: [...xs(mark.points), ...band.map((spread) => spread.x)],
        y: [...ys(mark.points), ...band.flatMap((spread) => [spread.low, spread.high])],
      };
    }
    case "histogram":
      return { x: mark.edges, y: [0, ...mark.counts] };
    case "bars":
      return { x: [], y: [0, ...mark.values, ...whiskersOf(mark).flat()] };
    case "rule":
      return mark.direction === "vertical" ? { x: [mark.at], y: [] } : { x: [], y: [mark.at] };
    default:
      return { x: xs(mark.points), y: ys(mark.points) };
  }
}

function whiskersOf(bars) {
  return (bars.whiskers ?? []).map((ends) => ends ?? [null, null]);
}

function domainOf(axis, values, atZero) {
  if (axis.categories?.length) return [-0.5, axis.categories.length - 0.5];
  if (axis.range) return axis.range;
  const log = axis.scale === "log";
  const [low, high] = d3.extent(values.filter((v) => isNumber(v) && (!log || v > 0)));
  if (low === undefined) return log ? [0.1, 1] : [0, 1];
  if (log) {
    const factor = low === high ? 2 : (high / low) ** 0.04;
    return [low / factor, high * factor];
  }
  const pad = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * 0.04;
  if (atZero && low === high) return [0, 1];
  return [atZero && low === 0 ? 0 : low - pad, atZero && high === 0 ? 0 : high + pad];
}

// The ranges of both axes of a panel, with room for what follows the slider.
function domainsOf(panel, cursors) {
  const reached = panel.marks.map(reach);
  const finite = (values) => (values ?? []).filter(isNumber);
  const x = [...reached.flatMap((r) => r.x), ...cursors.flatMap((c) => finite(c.x))];
  const y = [...reached.flatMap((r) => r.y), ...cursors.flatMap((c) => finite(c.y))];
  const atZero = panel.marks.some((mark) => mark.kind === "bars" || mark.kind === "histogram");
  return { x: domainOf(panel.x, x, false), y: domainOf(panel.y, y, atZero) };
}

function logTicks([low, high]) {
  const powers = d3.range(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high)) + 1);
  if (powers.length >= 3) {
    const every = Math.ceil(powers.length / 7);
    return powers.filter((_, k) => k % every === 0).map((power) => 10 ** power);
  }
  const first = Math.floor(Math.log10(low));
  const candidates = d3.range(first, first + 4).flatMap((power) => [1, 2, 5].map((m) => m * 10 ** power));
  const found = candidates.filter((tick) => tick >= low && tick <= high);
  return found.length >= 3 ? found : d3.ticks(low, high, 4);
}

// Where an axis has ticks and what they say, given its length in pixels.
function ticksOf(axis, domain, length, spacing) {
  if (axis.categories?.length) {
    return { values: d3.range(axis.categories.length), format: (i) => axis.categories[i] };
  }
  const unit = axis.format === "percent" ? `${NARROW_SPACE}%` : "";
  const scale = axis.format === "percent" ? 100 : 1;
  if (axis.scale === "log") {
    return { values: logTicks(domain), format: (v) => `${plain(v * scale)}${unit}` };
  }
  const wanted = Math.max(2, Math.min(8, Math.floor(length / spacing)));
  const size = d3.max(domain, Math.abs) * scale;
  const extreme = size < 1e-4 || size >= 1e9;
  const written = extreme ? plain : d3.tickFormat(domain[0] * scale, domain[1] * scale, wanted);
  const values = d3.ticks(domain[0], domain[1], wanted);
  if (axis.format === "whole") return { values: values.filter(Number.isInteger), format: count };
  return { values, format: (v) => `${written(v * scale)}${unit}` };
}

// Plot's options for a scale of positions.
function scaleOf(axis, domain) {
  return { type: axis.scale === "log" ? "log" : "linear", domain };
}
