// What the encoder looks at: the columns that weigh most at a position, as bars in a table.

function weightsView(figure, { columns, directions, ranges, ...parts }, dims) {
  const [net, up, down] = ["net", "up", "down"].map((part) => new Float32Array(bytesOf(parts[part])));
  const table = figure.querySelector("table.weights");
  const lines = [...table.tBodies[0].rows];
  const radios = all("input[type=radio]", figure);
  let chosen = 0;
  let at = 0;

  // A position with one direction shows that, whatever was chosen.
  const direction = () => Math.min(chosen, Math.max(1, dims[at]) - 1, directions - 1);

  function heaviest() {
    const start = (at * directions + direction()) * columns.length;
    const loads = columns.map(([name, sensitive, categories], k) => ({
      name,
      sensitive,
      categories,
      net: net[start + k],
      up: up[start + k],
      down: down[start + k],
    }));
    return loads.sort((a, b) => b.up - b.down - (a.up - a.down));
  }

  function write(line, load, [low, high]) {
    const percent = (weight) => (100 * (weight - low)) / (high - low);
    const [from, to] = load.categories
      ? [load.down, load.up]
      : [Math.min(0, load.net), Math.max(0, load.net)];
    line.className = load.sensitive ? "sensitive" : "";
    line.querySelector("bdi").textContent = load.name;
    const bar = line.querySelector(".length");
    bar.style.left = `${percent(from)}%`;
    bar.style.width = `${percent(to) - percent(from)}%`;
    const dot = line.querySelector(".dot");
    dot.hidden = !load.categories;
    dot.style.left = `${percent(load.net)}%`;
    line.querySelector(".number").textContent = plain(load.net, 3);
    line.title = load.categories
      ? `${load.name}: ${load.categories} categories, up ${plain(load.up)}, down ${plain(load.down)}`
      : `${load.name}: ${plain(load.net)}`;
  }

  const refill = tableBehind(figure, () => {
    const rows = heaviest().map((c) => [
      c.name,
      c.sensitive ? "sensitive" : "",
      c.net,
      c.up,
      c.down,
      c.categories,
    ]);
    const header = ["column", "kind", "sum", "positive", "negative", "categories"];
    return tableOf(`Weights in direction ${direction() + 1}`, header, rows);
  });

  function show() {
    table.hidden = dims[at] === 0;
    figure.querySelector(".nothing").hidden = dims[at] !== 0;
    radios.forEach((radio, k) => {
      radio.disabled = k >= dims[at];
      radio.checked = k === direction();
    });
    const range = ranges[direction()];
    table.style.setProperty("--zero", `${(-100 * range[0]) / (range[1] - range[0])}%`);
    const loads = heaviest();
    lines.forEach((line, k) => write(line, loads[k], range));
    refill();
  }

  radios.forEach((radio, k) =>
    radio.addEventListener("change", () => {
      chosen = k;
      show();
    }),
  );
  return (position) => {
    at = position;
    show();
  };
}
