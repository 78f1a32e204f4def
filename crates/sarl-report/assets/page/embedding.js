// Rows as the encoder sends them: a histogram of one direction, or two against each other.

const BINS = 40;
const MOST_CLASSES = 7;
const DIRECTIONS = ["direction 1 of z (standard deviations)", "direction 2 of z (standard deviations)"];

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
}

// The codes at z for each position, direction and row, and ranges that hold nearly all of them
// at every position, so that axes stay where they are.
function cloudOf({ embedding, positions }) {
  const { rows, unit } = embedding;
  const codes = new Int16Array(bytesOf(embedding.z));
  const slice = (position, direction) => {
    const start = (2 * position + direction) * rows;
    return codes.subarray(start, start + rows);
  };
  const range = (direction) => {
    const tally = new Uint32Array(65536);
    let total = 0;
    positions.forEach(({ dim }, position) => {
      if (dim <= direction) return;
      for (const code of slice(position, direction)) tally[code + 32768] += 1;
      total += rows;
    });
    if (total === 0) return [-1, 1];
    const quantile = (share) => {
      let seen = 0;
      const index = tally.findIndex((times) => (seen += times) >= share * total);
      return (index - 32768) * unit;
    };
    const [low, high] = [quantile(0.0025), quantile(0.9975)];
    const pad = (high - low || 1) * 0.03;
    return [low - pad, high + pad];
  };
  const at = (position, direction) => Array.from(slice(position, direction), (code) => code * unit);
  return { ranges: [range(0), range(1)], at };
}

// Which rows belong together: classes, the rarest of many as one, or thirds of numbers.
function groupsOf({ classes, values }) {
  return classes.length ? classGroups(classes, values) : thirds(values);
}

function classGroups(classes, values) {
  const sizes = d3.rollup(
    values.filter(isNumber),
    (rows) => rows.length,
    (value) => value,
  );
  const used = d3.range(classes.length).filter((k) => sizes.has(k));
  if (used.length <= MOST_CLASSES) {
    return { names: used.map((k) => classes[k]), of: values.map((value) => used.indexOf(value)) };
  }
  const common = d3.sort(used, (k) => -sizes.get(k)).slice(0, MOST_CLASSES - 1);
  const rare = used.length - common.length;
  const place = (value) => (common.includes(value) ? common.indexOf(value) : common.length);
  return {
    rest: common.length,
    names: [...common.map((k) => classes[k]), `other (${rare} classes)`],
    of: values.map((value) => (isNumber(value) ? place(value) : -1)),
  };
}

// Fewer than three where many numbers are equal.
function thirds(values) {
  const finite = d3.sort(values.filter(isNumber));
  if (!finite.length) return { names: [], of: values.map(() => -1) };
  const [a, b] = [d3.quantileSorted(finite, 1 / 3), d3.quantileSorted(finite, 2 / 3)];
  const names = [`up to ${plain(a)}`, `above ${plain(a)}, up to ${plain(b)}`, `above ${plain(b)}`];
  const third = (value) => (value <= a ? 0 : value <= b ? 1 : 2);
  const used = [0, 1, 2].filter((k) => finite.some((value) => third(value) === k));
  return {
    names: used.map((k) => names[k]),
    of: values.map((value) => (isNumber(value) ? used.indexOf(third(value)) : -1)),
  };
}

function lookOf({ rest }, k) {
  return k === rest ? { colour: "neutral", dash: "dotted", shape: "circle", opacity: 0.35 } : nthLook(k);
}

function shadeOf({ name, values }) {
  const finite = d3.sort(values.filter(isNumber));
  if (!finite.length) return null;
  const domain = [d3.quantileSorted(finite, 0.005), d3.quantileSorted(finite, 0.995)];
  return { name, color: { type: "linear", scheme: "viridis", domain, clamp: true } };
}

// For each group the share of its rows in each bin, in percent; what is outside counts at the end.
function sharesOf(z, groups, [low, high]) {
  const shares = groups.names.map(() => new Array(BINS).fill(0));
  const sizes = groups.names.map(() => 0);
  z.forEach((value, row) => {
    const group = groups.of[row];
    if (group < 0) return;
    const bin = Math.floor((BINS * (value - low)) / (high - low));
    shares[group][Math.max(0, Math.min(BINS - 1, bin))] += 1;
    sizes[group] += 1;
  });
  return shares.map((bins, group) => bins.map((times) => (100 * times) / Math.max(1, sizes[group])));
}

function embeddingView(explorer, id) {
  const { positions, embedding } = explorer;
  const { labels, rows, words } = embedding;
  const cloud = cloudOf(explorer);
  const all = { name: "row", classes: ["all rows"], values: new Array(rows).fill(0) };
  const attributes = (labels.length ? labels : [all]).map((label) => ({
    label,
    groups: groupsOf(label),
    shade: label.classes.length ? null : shadeOf(label),
    top: null,
  }));
  let chosen = attributes[0];
  let at = explorer.start;

  const title = "What z looks like";
  const frame = chartFrame({ id, title, tables: () => [statistics()] });
  const view = panelView({ describe: () => `${title}, by ${chosen.label.name}.` });
  const empty = element(
    "p",
    { class: "note", hidden: true },
    "z has no dimensions at this position: there is nothing to draw.",
  );
  frame.body.append(view.node, empty);
  if (labels.length > 1) frame.controls.append(attributeChoice());

  function attributeChoice() {
    const select = element("select", {});
    labels.forEach(({ name, hidden }, k) => {
      select.append(element("option", { value: k }, hidden ? `${name} (to be hidden)` : name));
    });
    select.addEventListener("change", () => {
      chosen = attributes[Number(select.value)];
      show();
    });
    return element("label", { class: "picker" }, "Rows by ", select);
  }

  // The tallest bin at any position, so that the axis does not jump.
  function topOf(attribute) {
    attribute.top ??= d3.max(positions, ({ dim }, position) =>
      dim === 1
        ? d3.max(sharesOf(cloud.at(position, 0), attribute.groups, cloud.ranges[0]), (bins) => d3.max(bins))
        : 0,
    );
    return attribute.top;
  }

  function histogramPanel() {
    const { groups } = chosen;
    const [range] = cloud.ranges;
    const edges = d3.range(BINS + 1).map((k) => range[0] + ((range[1] - range[0]) * k) / BINS);
    const marks = sharesOf(cloud.at(at, 0), groups, range).map((counts, k) => {
      const { colour, dash } = lookOf(groups, k);
      return { kind: "histogram", name: groups.names[k], edges, counts, colour, dash };
    });
    const y = { label: "share of rows (%)", range: [0, (topOf(chosen) || 1) * 1.04] };
    return { title: "", x: { label: DIRECTIONS[0], range }, y, marks };
  }

  function scatterPanel() {
    const [x, y] = cloud.ranges;
    const border = (value, [low, high]) => Math.max(low, Math.min(high, value));
    const second = cloud.at(at, 1);
    const points = cloud.at(at, 0).map((value, row) => [border(value, x), border(second[row], y)]);
    const look = { kind: "points", size: 3, opacity: 0.7 };
    const { label, groups, shade } = chosen;
    const shaded = () => {
      const coloured = points
        .map((point, row) => [...point, label.values[row]])
        .filter((point) => isNumber(point[2]));
      return [
        {
          ...look,
          name: label.name,
          shaded: true,
          opacity: 0.9,
          shape: "circle",
          colour: "neutral",
          points: coloured,
        },
      ];
    };
    const classed = () => {
      const marks = groups.names.map((name, k) => ({
        ...look,
        name,
        ...lookOf(groups, k),
        points: points.filter((_, row) => groups.of[row] === k),
      }));
      // The rest lies under those that have a name.
      const rest = marks[groups.rest];
      return rest ? [rest, ...marks.filter((mark) => mark !== rest)] : marks;
    };
    const axes = { x: { label: DIRECTIONS[0], range: x }, y: { label: DIRECTIONS[1], range: y } };
    return { title: "", ...axes, marks: shade ? shaded() : classed(), shade };
  }

  function outside(directions) {
    const z = d3.range(directions).map((direction) => cloud.at(at, direction));
    const out = d3
      .range(rows)
      .filter((row) => z.some((values, k) => !within(values[row], cloud.ranges[k]))).length;
    return out ? `${rowCount(out)} outside the axes, drawn at their ends.` : "";
  }

  function statistics() {
    const { dim } = positions[at];
    const directions = Math.min(2, dim);
    const z = d3.range(directions).map((direction) => cloud.at(at, direction));
    const cell = (value) => ({ number: value, text: isNumber(value) ? plain(value) : NONE });
    const header = [
      chosen.label.name,
      "rows",
      ...z.flatMap((_, k) => [`mean of z${k + 1}`, `sd of z${k + 1}`]),
    ];
    const lines = chosen.groups.names.map((name, group) => {
      const members = d3.range(rows).filter((row) => chosen.groups.of[row] === group);
      const moments = z.flatMap((values) => [
        d3.mean(members, (row) => values[row]),
        d3.deviation(members, (row) => values[row]),
      ]);
      return [name, { number: members.length, text: count(members.length) }, ...moments.map(cell)];
    });
    return { title: `z by ${chosen.label.name}`, header, rows: lines, names: 1 };
  }

  function show() {
    const { dim } = positions[at];
    view.node.hidden = dim === 0;
    empty.hidden = dim !== 0;
    frame.setTitle(`${title}, by ${chosen.label.name}`);
    frame.setLegend();
    if (dim > 0) {
      const panel = dim === 1 ? histogramPanel() : scatterPanel();
      view.set(panel);
      frame.setLegend(panel.shade ? rampOf(panel.shade) : legendOf(panel.marks));
    }
    const missing = chosen.groups.of.filter((group) => group < 0).length;
    frame.setCaption(
      `${rowCount(rows)}.`,
      words,
      dim > 2 ? `Two of the ${dim} directions are shown.` : "",
      dim > 0 ? outside(Math.min(2, dim)) : "",
      missing ? `${rowCount(missing)} without a value of ${chosen.label.name}, left out.` : "",
    );
    frame.refresh();
  }

  show();
  return {
    node: frame.node,
    moveTo(next) {
      at = next;
      show();
    },
  };
}
