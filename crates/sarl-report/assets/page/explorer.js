// A front to play with: everything in it follows one slider.

// `titled` where a tab already says the name.
function explorerView(explorer, index, { titled, moved }) {
  const { positions } = explorer;
  const heading = element("h2", { class: titled ? "offscreen" : null }, explorer.name);
  const intro = element(
    "div",
    { class: "intro" },
    heading,
    element("p", { class: "prose" }, ...prose(explorer.words)),
  );
  if (!positions.length) return { node: element("div", {}, intro), write() {} };
  const last = positions.length - 1;
  if (last === 0)
    intro.append(element("p", { class: "note" }, "There is only one position: the slider does not move."));
  let at = Math.max(0, Math.min(last, explorer.start));
  let frame = 0;

  const readout = readoutView(index, explorer.makes);
  const bar = sliderBar(explorer, index, (by) => moveTo(at + by), moveTo);
  const front = frontView(explorer, index, moveTo, () => at);
  const charts = explorer.charts.map((chart, k) =>
    chartView(chart, { id: `chart-${index}-${k}`, pick: moveTo }),
  );
  const followers = [front, ...charts];
  if (explorer.embedding) followers.push(embeddingView(explorer, `embedding-${index}`));
  if (explorer.weights) followers.push(weightsView(explorer, `weights-${index}`));

  // Figures are written at once; charts at the next frame, however many moves come before it.
  function moveTo(next) {
    at = Math.max(0, Math.min(last, next));
    write();
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      followers.forEach((follower) => follower.moveTo(at));
    });
  }

  function write() {
    bar.show(positions[at], at);
    readout.show(positions[at], `The slider stands at position ${at + 1} of ${last + 1}.`);
    moved(positions[at]);
  }

  followers.forEach((follower) => follower.moveTo(at));
  const node = element(
    "div",
    { class: "explorer" },
    intro,
    bar.node,
    element("div", { class: "front-row" }, front.node, readout.node),
    element("div", { class: "charts" }, ...followers.slice(1).map((follower) => follower.node)),
  );
  return { node, write };
}

// The front in the units that the reader chooses.
function frontView({ fronts }, index, pick, where) {
  const holder = element("div", { class: "front" });
  let view = null;

  function show(k) {
    stage.forget(holder);
    view?.node.remove();
    view = chartView(fronts[k].chart, { id: `front-${index}`, tall: true, pick });
    holder.append(view.node);
    view.moveTo(where());
    stage.drawVisible();
  }

  if (fronts.length > 1)
    holder.append(
      choice(
        "Units of the front",
        fronts.map((front) => front.name),
        show,
      ),
    );
  if (fronts.length) show(0);
  return { node: holder, moveTo: (at) => view?.moveTo(at) };
}
