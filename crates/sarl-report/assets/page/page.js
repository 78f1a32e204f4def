// What follows the slider, the tabs and the theme. Everything else is in the file as it is.

// Writes what a position says into every field that stands for it. The exact number stays beside
// the rounded one.
function fieldsView(index, fields) {
  const roots = all(`[data-explorer="${index}"], [data-verdict="${index}"]`);
  const nodes = roots.flatMap((root) => all("[data-field]", root));
  const verdicts = roots.filter((root) => root.matches(".verdict"));
  const command = document.getElementById(`command-${index}`);
  const said = (name, at) => {
    const field = fields[name];
    return field?.text[field.at ? field.at[at] : at];
  };
  return {
    said,
    show(at) {
      for (const node of nodes) {
        const name = node.dataset.field;
        const value = fields[name]?.value?.[at];
        node.textContent = said(name, at) ?? "";
        if (typeof value === "number") node.dataset.value = String(value);
        else delete node.dataset.value;
      }
      verdicts.forEach((node) => (node.className = `verdict ${said("state", at)}`));
      const words = said("command", at).split(" ");
      command.replaceChildren(
        ...words.flatMap((word, k) => [k ? " " : "", element("span", { class: "word" }, word)]),
      );
    },
  };
}

// The marks of charts, with their place at every position.
function cursorsView(root) {
  const cursors = all("[data-at]", root).map((node) => ({ node, places: node.dataset.at.split(" ") }));
  return (at) => {
    for (const { node, places } of cursors) {
      const place = places[at];
      if (!place || place === "-") node.setAttribute("display", "none");
      else {
        node.removeAttribute("display");
        node.setAttribute("transform", `translate(${place})`);
      }
    }
  };
}

// The position whose mark is nearest to a click in a drawing.
function nearest(svg, event) {
  const box = svg.getBoundingClientRect();
  const scale = svg.viewBox.baseVal.width / box.width;
  const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let best = { far: Infinity, at: undefined };
  for (const node of all("[data-at]", svg)) {
    const upright = node.querySelector(".cursor-rule");
    node.dataset.at.split(" ").forEach((place, at) => {
      const [px, py] = place.split(",").map(Number);
      const far = upright ? Math.abs(px - x) : Math.hypot(px - x, py - y);
      if (far < best.far) best = { far, at };
    });
  }
  return best.at;
}

// Sections about one position say so where the slider stands elsewhere.
function sectionsView(index, moveTo) {
  const sections = all(`[data-of="${index}"]`);
  for (const section of sections) {
    const at = section.dataset.holds.indexOf("1");
    section.querySelector(".there").addEventListener("click", () => moveTo(at));
  }
  return (at) => {
    for (const section of sections) {
      const holds = section.dataset.holds[at] === "1";
      section.classList.toggle("dim", !holds);
      section.querySelector(".elsewhere").hidden = holds;
    }
  };
}

// The slider of a part, its arrows, and clicks on charts. `write` is told where it stands, and whether
// it was moved there; it says what that place is.
function sliderView(root, write) {
  const slider = root.querySelector(".slide input");
  const [back, forth] = all(".arrow", root);
  const last = Number(slider.max);
  let at = Number(slider.getAttribute("value"));

  function mark(moved) {
    slider.value = at;
    slider.setAttribute("aria-valuetext", write(at, moved));
    back.disabled = at === 0;
    forth.disabled = at === last;
  }

  function moveTo(next) {
    at = Math.max(0, Math.min(last, next));
    mark(true);
  }

  slider.addEventListener("input", () => moveTo(Number(slider.value)));
  for (const button of [back, forth])
    button.addEventListener("click", () => moveTo(at + Number(button.dataset.step)));
  root.addEventListener("click", (event) => {
    const svg = event.target.closest("svg.pick");
    const found = svg && nearest(svg, event);
    if (found !== null && found !== undefined) moveTo(found);
  });
  mark(false);
  return moveTo;
}

function explorerView(explorer, index) {
  const { count, fields } = explorer;
  const root = document.getElementById(`explorer-${index}`);
  if (!document.getElementById(`slider-${index}`)) return;
  const dims = fields.dim.value;
  const words = fieldsView(index, fields);
  let here = explorer.start;
  let frame = 0;
  const moveTo = sliderView(root, write);
  const followers = [cursorsView(root), sectionsView(index, moveTo)];
  if (explorer.rows)
    followers.push(rowsView(document.getElementById(`embedding-${index}`), explorer.rows, dims));
  if (explorer.weights)
    followers.push(weightsView(document.getElementById(`weights-${index}`), explorer.weights, dims));

  // Figures are written at once; charts at the next frame, however many moves come before it.
  function write(at, moved) {
    here = at;
    root.querySelector(".place").textContent = `${at + 1} of ${count}`;
    if (moved) {
      words.show(at);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        followers.forEach((follow) => follow(here));
      });
    }
    const [leakage, utility] = ["leakage", "utility"].map((name) => words.said(name, at));
    return `leakage ${leakage}, utility ${utility}`;
  }
}

// Of the frames under a slider one is shown.
function stepsView(root) {
  const frames = all("[data-frame]", root);
  const follow = cursorsView(root);
  sliderView(root, (at, moved) => {
    if (moved) follow(at);
    for (const node of frames) node.hidden = Number(node.dataset.frame) !== at;
    return frames.find((node) => node.dataset.says && !node.hidden)?.dataset.says ?? "";
  });
}

// Tabs choose the explorer that is shown, where there are several.
function tabsView() {
  const tabs = all("[role=tab]");
  if (!tabs.length) return;
  const parts = all("[data-explorer]");
  const show = (next) => {
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", String(k === next));
      tab.tabIndex = k === next ? 0 : -1;
    });
    parts.forEach((part) => (part.hidden = Number(part.dataset.explorer) !== next));
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => show(k));
    tab.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = (steps[event.key] + tabs.length) % tabs.length;
      show(next);
      tabs[next].focus();
    });
  });
  show(0);
}

// Light, dark, or as the system has it. Storage may be shut off for files.
function followTheme(button) {
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  try {
    theme = themes.find((name) => name === localStorage.getItem("sarl-theme")) ?? "auto";
  } catch {
    theme = "auto";
  }
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem("sarl-theme", theme);
    } catch {
      // It holds until the page is closed.
    }
    apply();
  });
  apply();
}

document.documentElement.classList.add("scripted");
followTheme(document.getElementById("theme"));
tabsView();
JSON.parse(document.getElementById("data").textContent).explorers.forEach(explorerView);
all(".steps").forEach(stepsView);
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches(".copy")) copyFrom(button);
  if (button?.matches(".save")) saveTable(button.closest(".tabled").querySelector("table"));
});
document.documentElement.dataset.ready = "true";
