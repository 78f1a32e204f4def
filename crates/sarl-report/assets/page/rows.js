// Rows as the encoder sends them: points, or bins, between axes that stay where they are.

const narrow = matchMedia("(max-width: 640px)");

function rowsView(figure, { count, z, unit, bins, labels }, dims) {
  const codes = new Int16Array(bytesOf(z));
  const groups = labels.map(({ of }) => Array.from(of, (letter) => (letter === "-" ? -1 : Number(letter))));
  const panels = all("[data-dim]", figure);
  let chosen = 0;
  let at = 0;

  // Where each position starts: it has as many directions as z has dimensions, at most two.
  let total = 0;
  const starts = dims.map((dim) => (total += Math.min(2, dim)) - Math.min(2, dim));
  const values = (direction) => {
    const start = (starts[at] + direction) * count;
    return Array.from(codes.subarray(start, start + count), (code) => code * unit);
  };
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

  function points(paths, [left, top, right, bottom, x0, x1, y0, y1]) {
    const [x, y] = [values(0), values(1)];
    const across = (v) => left + ((clamp(v, x0, x1) - x0) / (x1 - x0)) * (right - left);
    const up = (v) => bottom - ((clamp(v, y0, y1) - y0) / (y1 - y0)) * (bottom - top);
    const parts = paths.map(() => []);
    groups[chosen].forEach((group, row) => {
      if (group >= 0)
        parts[group].push(
          `M${across(x[row]).toFixed(1)},${up(y[row]).toFixed(1)}${paths[group].dataset.shape}`,
        );
    });
    paths.forEach((path, k) => path.setAttribute("d", parts[k].join("")));
  }

  // The share of each group's rows in each bin; what is outside counts at the end.
  function skylines(paths, [left, top, right, bottom, x0, x1, , y1]) {
    const shares = paths.map(() => new Array(bins).fill(0));
    const sizes = paths.map(() => 0);
    values(0).forEach((value, row) => {
      const group = groups[chosen][row];
      if (group < 0) return;
      shares[group][clamp(Math.floor((bins * (value - x0)) / (x1 - x0)), 0, bins - 1)] += 1;
      sizes[group] += 1;
    });
    paths.forEach((path, k) => {
      const steps = shares[k].map((times, bin) => {
        const height = bottom - (times / Math.max(1, sizes[k]) / y1) * (bottom - top);
        return `V${height.toFixed(1)}H${(left + ((bin + 1) / bins) * (right - left)).toFixed(1)}`;
      });
      path.setAttribute("d", `M${left},${bottom}${steps.join("")}V${bottom}Z`);
    });
  }

  function draw(screens) {
    const kind = Math.min(2, dims[at]);
    const shown = panels.find((panel) => Number(panel.dataset.dim) === kind);
    for (const svg of all(screens, shown)) {
      const frame = svg.dataset.frame.split(" ").map(Number);
      const paths = all(`.rows[data-label="${chosen}"] path`, svg);
      if (kind === 2) points(paths, frame);
      else skylines(paths, frame);
    }
  }

  function statistics() {
    const directions = [0, 1].slice(0, Math.min(2, dims[at])).map(values);
    const { name, names } = labels[chosen];
    const header = [name, "rows", ...directions.flatMap((_, k) => [`mean of z${k + 1}`, `sd of z${k + 1}`])];
    const lines = names.map((group, k) => {
      const members = groups[chosen].flatMap((g, row) => (g === k ? [row] : []));
      const moments = directions.flatMap((z) => {
        const mean = members.reduce((sum, row) => sum + z[row], 0) / members.length;
        const squares = members.reduce((sum, row) => sum + (z[row] - mean) ** 2, 0);
        return [mean, Math.sqrt(squares / (members.length - 1))];
      });
      return [group, members.length, ...moments];
    });
    return tableOf(`z by ${name}`, header, lines);
  }

  const refill = tableBehind(figure, statistics);

  function show() {
    panels.forEach((panel) => (panel.hidden = Number(panel.dataset.dim) !== Math.min(2, dims[at])));
    for (const node of all("[data-label]", figure)) {
      const mine = Number(node.dataset.label) === chosen;
      if (node.matches("g")) node.style.display = mine ? "inline" : "none";
      else node.hidden = !mine;
    }
    if (dims[at]) draw(narrow.matches ? "svg.narrow" : "svg.wide");
    refill();
  }

  figure.querySelector("select")?.addEventListener("change", (event) => {
    chosen = Number(event.target.value);
    figure.querySelector("h3").textContent = `What z looks like, by ${labels[chosen].name}`;
    show();
  });
  narrow.addEventListener("change", show);
  window.addEventListener("beforeprint", () => dims[at] && draw("svg.plot"));
  return (position) => {
    at = position;
    show();
  };
}
