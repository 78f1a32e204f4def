// Elements and the way numbers are written. Names come from anybody's data: they only ever
// become text nodes and attribute values, never markup.

const NARROW_SPACE = "\u202f";
const NONE = "–";

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// What is not finite arrives as null, which Plot takes for a gap once it is NaN.
function orGap(value) {
  return isNumber(value) ? value : NaN;
}

function fixed(value, digits) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

function percent(value, digits = 2) {
  return `${fixed(100 * value, digits)}${NARROW_SPACE}%`;
}

function loss(value) {
  return fixed(value, 6);
}

function multiplier(value) {
  return fixed(value, 6).replace(/0{1,2}$/, "");
}

function smallGap(value) {
  return Math.abs(value) <= 1e-12 ? "0" : value.toExponential(1).replace(/-/g, "−");
}

function count(value) {
  return d3.format(",")(value);
}

function dimensions(value) {
  return value === 1 ? "1 dimension" : `${count(value)} dimensions`;
}

function rowCount(value) {
  return value === 1 ? "1 row" : `${count(value)} rows`;
}

// Six digits, without the zeros that say nothing.
function plain(value) {
  const size = Math.abs(value);
  const extreme = size !== 0 && (size < 1e-4 || size >= 1e9);
  const text = extreme ? value.toExponential(3).replace(/\.?0+e/, "e") : String(Number(value.toPrecision(6)));
  return text.replace(/-/g, "−");
}

function inUnits(axis, value) {
  if (!isNumber(value)) return NONE;
  if (axis.categories?.length) return axis.categories[value] ?? plain(value);
  return axis.format === "percent" ? percent(value) : plain(value);
}

// What can be said of a position of the slider.
const FIELDS = {
  leakage: { name: "Leakage", read: (at) => at.leakage, format: percent },
  utility: { name: "Utility", read: (at) => at.utility, format: percent },
  heldout_leakage: {
    name: "Held-out leakage",
    read: (at) => at.heldout?.leakage,
    spread: (at) => at.heldout?.leakage_sd,
    format: percent,
  },
  heldout_utility: {
    name: "Held-out utility",
    read: (at) => at.heldout?.utility,
    spread: (at) => at.heldout?.utility_sd,
    format: percent,
  },
  dim: { name: "Dimensions of z", read: (at) => at.dim, format: count },
  dimensions: { name: "Dimensions", read: (at) => at.dim, format: dimensions },
  lambda: { name: "Adversary weight λ", read: (at) => at.lambda, format: multiplier },
  js: { name: "Adversary loss Js = α", read: (at) => at.js, format: loss },
  jy: { name: "Target loss Jy", read: (at) => at.jy, format: loss },
  dual_bound: { name: "Dual bound", read: (at) => at.dual_bound, format: loss },
  gap: { name: "Gap to the bound", read: (at) => at.gap, format: smallGap },
};

function field(name, attributes = {}) {
  return element("span", { "data-field": name, class: "figure", ...attributes });
}

// Writes what the position says into every field under a node. The exact number stays beside
// the rounded one.
function fillFields(root, position) {
  for (const node of root.querySelectorAll("[data-field]")) {
    const { read, spread, format } = FIELDS[node.dataset.field];
    const value = read(position);
    if (!isNumber(value)) {
      node.textContent = spread ? "not measured" : NONE;
      delete node.dataset.value;
      continue;
    }
    const around = spread?.(position);
    node.dataset.value = String(value);
    node.textContent = isNumber(around) ? `${format(value)} ± ${format(around)}` : format(value);
  }
}

function announce(text) {
  document.getElementById("status").textContent = text;
}

// Pages that are opened as files may have no clipboard of their own.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "offscreen", "aria-hidden": "true" });
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return done;
  }
}

// A button that copies what `read` gives at that time.
function copyButton(read, what) {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copyText(read());
    button.textContent = done ? "Copied" : "Not copied";
    announce(done ? "Copied" : "Could not be copied");
    setTimeout(() => {
      button.textContent = "Copy";
      announce("");
    }, 2000);
  });
  return button;
}

// A sentence: what stands between backticks is something to type, a sign stays with its number.
function prose(text) {
  const together = (part) => part.replace(/ %/g, `${NARROW_SPACE}%`);
  return text
    .split("`")
    .map((part, k) => (k % 2 === 1 ? element("code", { class: "word" }, part) : together(part)));
}

// What is typed breaks between words only, not after a hyphen.
function typed(text) {
  return text
    .split(/(\s+)/)
    .map((part) => (/\S/.test(part) ? element("span", { class: "word" }, part) : part));
}

let choices = 0;

// Buttons of which one is chosen.
function choice(label, names, choose) {
  choices += 1;
  const group = `choice-${choices}`;
  const box = element("div", { class: "choice", role: "radiogroup", "aria-label": label });
  names.forEach((name, k) => {
    const input = element("input", { type: "radio", name: group, checked: k === 0 });
    input.addEventListener("change", () => choose(k));
    box.append(element("label", {}, input, element("span", {}, name)));
  });
  return box;
}
