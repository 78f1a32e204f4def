// The slider, and what is known of where it stands.

const MAIN_FIELDS = ["leakage", "utility"];
const OTHER_FIELDS = ["heldout_leakage", "heldout_utility", "dim", "lambda", "js", "jy", "dual_bound", "gap"];

function readoutView(index, makes) {
  const pair = (name, shown) => element("div", {}, element("dt", {}, name), element("dd", {}, shown));
  const command = element("code", { id: `command-${index}`, dir: "ltr", tabindex: 0 });
  const copy = copyButton(() => command.textContent, "the command");
  const method = element("span", {});
  const bound = element("span", {});
  const place = element("p", { class: "print-only" });
  const node = element(
    "section",
    { id: `readout-${index}`, class: "readout", "aria-label": "At the slider" },
    element("h3", {}, "At the slider"),
    place,
    element("dl", { class: "main" }, ...MAIN_FIELDS.map((name) => pair(FIELDS[name].name, field(name)))),
    element(
      "dl",
      {},
      ...OTHER_FIELDS.map((name) => pair(name === "dual_bound" ? bound : FIELDS[name].name, field(name))),
      pair("Method", method),
    ),
    element(
      "div",
      { class: "command" },
      element("div", { class: "command-head" }, element("h4", {}, makes), copy),
      command,
    ),
  );
  return {
    node,
    show(position, where) {
      fillFields(node, position);
      method.textContent = position.method;
      bound.textContent = `Bound on ${position.bound_on} loss`;
      command.replaceChildren(...typed(position.command));
      place.textContent = where;
    },
  };
}

function arrow(label, sign, step) {
  const button = element("button", { type: "button", class: "arrow", "aria-label": label }, sign);
  button.addEventListener("click", step);
  return button;
}

// The bar that stays in view while its explorer is on screen.
function sliderBar(explorer, index, moveBy, moveTo) {
  const last = explorer.positions.length - 1;
  const slider = element("input", {
    type: "range",
    id: `slider-${index}`,
    min: 0,
    max: last,
    step: 1,
    value: explorer.start,
    disabled: last === 0,
  });
  slider.addEventListener("input", () => moveTo(Number(slider.value)));
  const back = arrow("Previous position", "‹", () => moveBy(-1));
  const forth = arrow("Next position", "›", () => moveBy(1));
  const key = (label, shown) =>
    element("span", { class: "key" }, element("span", { class: "key-name" }, label), shown);
  const place = element("span", {});
  const ends = ["hides more", "keeps more"].map((text) => element("span", {}, text));
  const keys = [
    key("Leakage", field("leakage")),
    key("Utility", field("utility")),
    key("Dim. of z", field("dim")),
    key("Position", place),
  ];
  const node = element(
    "div",
    { class: "bar", role: "group", "aria-label": "Trade-off" },
    element(
      "div",
      { class: "bar-slider" },
      element(
        "div",
        { class: "track" },
        element("label", { for: slider.id }, "Trade-off"),
        back,
        slider,
        forth,
      ),
      element("div", { class: "ends", "aria-hidden": "true" }, ...ends),
    ),
    element("div", { class: "keys" }, ...keys),
  );
  return {
    node,
    show(position, at) {
      fillFields(node, position);
      slider.value = at;
      const [leakage, utility] = MAIN_FIELDS.map((name) => percent(orGap(position[name])));
      slider.setAttribute("aria-valuetext", `leakage ${leakage}, utility ${utility}`);
      place.textContent = `${at + 1} of ${last + 1}`;
      back.disabled = at === 0;
      forth.disabled = at === last;
    },
  };
}
