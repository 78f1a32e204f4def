// The page from top to bottom.

function noteOf({ kind, title, text }) {
  const piece = (words) =>
    typeof words === "string" ? prose(words) : field(words.live, { "data-live": words.live });
  const pieces = text.flatMap(piece);
  return element(
    "article",
    { class: `note-card ${kind}` },
    element("h3", {}, title),
    element("p", {}, ...pieces),
  );
}

function summaryOf(notes) {
  if (!notes.length) return null;
  const isWarning = (note) => note.kind === "warning";
  const cards = element("div", { class: "cards" }, ...notes.filter((note) => !isWarning(note)).map(noteOf));
  const warnings = notes.filter(isWarning).map(noteOf);
  return element(
    "section",
    { class: "summary", "aria-labelledby": "summary-title" },
    element("h2", { id: "summary-title", class: "offscreen" }, "Summary"),
    cards,
    ...warnings,
  );
}

// One explorer is shown at a time, and built when it first is; tabs choose which, where there
// are several.
function explorersOf(explorers, { shown, moved }) {
  const several = explorers.length > 1;
  const views = [];
  const panels = explorers.map((_, k) => {
    const role = several ? { role: "tabpanel", "aria-labelledby": `tab-${k}` } : {};
    return element("section", { id: `explorer-${k}`, class: "explorer-panel", ...role });
  });
  const tabs = explorers.map(({ name }, k) => {
    const target = { id: `tab-${k}`, "aria-controls": `explorer-${k}` };
    return element("button", { type: "button", role: "tab", ...target }, name);
  });

  function show(next) {
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", String(k === next));
      tab.tabIndex = k === next ? 0 : -1;
    });
    panels.forEach((panel, k) => (panel.hidden = k !== next));
    shown(explorers[next]);
    if (!views[next]) {
      views[next] = explorerView(explorers[next], next, { titled: several, moved });
      panels[next].append(views[next].node);
    }
    views[next].write();
    stage.drawVisible();
  }

  function step(event, k) {
    const steps = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = (steps[event.key] + tabs.length) % tabs.length;
    show(next);
    tabs[next].focus();
  }

  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => show(k));
    tab.addEventListener("keydown", (event) => step(event, k));
  });
  const list = several
    ? element("div", { role: "tablist", "aria-label": "Encoders", class: "tabs" }, ...tabs)
    : null;
  return { nodes: [list, ...panels].filter(Boolean), start: () => panels.length && show(0) };
}

function sectionOf(section, k) {
  const charts = section.charts.map((chart, c) => chartView(chart, { id: `section-${k}-chart-${c}` }).node);
  return element(
    "section",
    { id: `section-${k}`, class: "section", "aria-labelledby": `section-${k}-title` },
    element("h2", { id: `section-${k}-title` }, section.title),
    ...section.text.map((text) => element("p", { class: "prose" }, ...prose(text))),
    charts.length ? element("div", { class: "charts" }, ...charts) : null,
    ...section.tables.map(tableOf),
  );
}

function aboutOf(facts) {
  if (!facts.length) return null;
  const value = (fact) =>
    fact.code
      ? [
          element("code", { dir: "ltr", tabindex: 0 }, ...typed(fact.value)),
          copyButton(() => fact.value, fact.name),
        ]
      : [element("bdi", {}, fact.value)];
  const rows = facts.map((fact) =>
    element("div", {}, element("dt", {}, fact.name), element("dd", {}, ...value(fact))),
  );
  return element(
    "section",
    { id: "about", class: "section", "aria-labelledby": "about-title" },
    element("h2", { id: "about-title" }, "About this report"),
    element("dl", { class: "about" }, ...rows),
  );
}

// Light, dark, or as the system has it. Storage may be shut off for files.
function followTheme(button) {
  const themes = ["auto", "light", "dark"];
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let theme = "auto";
  try {
    theme = themes.find((name) => name === localStorage.getItem("sarl-theme")) ?? "auto";
  } catch {
    theme = "auto";
  }
  const apply = () => {
    document.documentElement.dataset.theme = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
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
  system.addEventListener("change", apply);
  apply();
}

function start() {
  followTheme(document.getElementById("theme"));
  const page = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  document.getElementById("title").textContent = page.title;
  document.getElementById("subtitle").textContent = page.subtitle;
  const summary = element("div", {});
  const summarise = (notes) =>
    summary.replaceChildren(...[summaryOf([...notes, ...page.warnings])].filter(Boolean));
  summarise([]);
  const explorers = explorersOf(page.explorers, {
    shown: (explorer) => summarise(explorer.summary),
    moved: (position) => fillFields(summary, position),
  });
  main.append(
    ...[summary, ...explorers.nodes, ...page.sections.map(sectionOf), aboutOf(page.about)].filter(Boolean),
  );
  explorers.start();
  stage.drawVisible();
  document.documentElement.dataset.ready = "true";
}

start();
