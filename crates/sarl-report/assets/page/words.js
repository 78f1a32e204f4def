// Elements, numbers out of text, copying and saving. Names come from anybody's data: they only
// ever become text, never markup.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Six digits, without the zeros that say nothing.
function plain(value, digits = 6) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const extreme = size !== 0 && (size < 1e-4 || size >= 1e9);
  const text = extreme ? value.toExponential(digits - 3) : String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
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

async function copyFrom(button) {
  const done = await copyText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = done ? "Copied" : "Not copied";
  announce(done ? "Copied" : "Could not be copied");
  setTimeout(() => {
    button.textContent = "Copy";
    announce("");
  }, 2000);
}

// The exact numbers of a table, as a file.
function saveTable(table) {
  const cell = (node) => {
    const text = node.dataset.value ?? node.textContent;
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [...table.rows].map((row) => [...row.cells].map(cell).join(","));
  const file = new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" });
  const name = (table.caption?.textContent ?? "table").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
  const link = element("a", { href: URL.createObjectURL(file), download: `${name}.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
}

// A table that follows the slider. Cells are texts or numbers.
function tableOf(title, header, rows) {
  const cell = (value, tag, scope) => {
    const figure = typeof value === "number";
    const node = element(tag, { class: figure ? "number" : "name", ...scope });
    node.append(figure ? plain(value) : element("bdi", {}, value));
    if (figure && Number.isFinite(value)) node.dataset.value = String(value);
    return node;
  };
  const line = (row) =>
    element("tr", {}, ...row.map((v, k) => (k ? cell(v, "td") : cell(v, "th", { scope: "row" }))));
  const head = header.map((name) => cell(name, "th", { scope: "col" }));
  const table = element(
    "table",
    {},
    element("caption", {}, title),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows.map(line)),
  );
  const save = element("button", { type: "button", class: "save live" }, "Save as CSV");
  const scroller = { class: "scroller", tabindex: 0, role: "region", "aria-label": title };
  return element("div", { class: "tabled" }, element("div", scroller, table), save);
}

// Fills the table behind a chart when it is opened, and again when it is open and has changed.
function tableBehind(figure, make) {
  const details = figure.querySelector("details");
  const fill = () => details.open && details.querySelector(".tables").replaceChildren(make());
  details.addEventListener("toggle", fill);
  return fill;
}
