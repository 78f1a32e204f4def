// When things are drawn: once the reader comes near them, again when their width changes, and
// all of them before printing.

const stage = (() => {
  const entries = new Map();

  function draw(node) {
    const entry = entries.get(node);
    const width = Math.floor(node.clientWidth);
    if (!entry || width === 0 || width === entry.width) return;
    entry.width = width;
    entry.draw(width);
  }

  const reached = new IntersectionObserver(
    (changes) => {
      for (const { isIntersecting, target } of changes) if (isIntersecting) draw(target);
    },
    { rootMargin: "400px 0px" },
  );

  // In the next frame: drawing changes sizes, which the observer must not see while it runs.
  const resized = new ResizeObserver((changes) => {
    requestAnimationFrame(() => {
      for (const { target } of changes) if (entries.get(target)?.width > 0) draw(target);
    });
  });

  // The page takes the width of the paper first, so that charts are drawn for it.
  function layOut(printing) {
    document.documentElement.classList.toggle("printing", printing);
    for (const [node, { width }] of entries) if (printing || width > 0) draw(node);
  }

  window.addEventListener("beforeprint", () => layOut(true));
  window.addEventListener("afterprint", () => layOut(false));

  return {
    add(node, drawing) {
      entries.set(node, { draw: drawing, width: 0 });
      reached.observe(node);
      resized.observe(node);
    },

    forget(root) {
      for (const node of [...entries.keys()].filter((node) => root.contains(node))) {
        entries.delete(node);
        reached.unobserve(node);
        resized.unobserve(node);
      }
    },

    // What was never reached is drawn with current values when it is. To ask for the width here
    // would lay out the page at every step of the slider.
    redraw(node) {
      const entry = entries.get(node);
      if (entry?.width > 0) entry.draw(entry.width);
    },

    drawVisible() {
      for (const node of entries.keys()) {
        if (node.getBoundingClientRect().top < window.innerHeight) draw(node);
      }
    },
  };
})();
