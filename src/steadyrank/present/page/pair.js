
/* Two runs: everything that is known of them was written into the page; nothing is estimated here. */
(() => {
  const { data: { pairs: panel }, copy, made, place, unfold } = page;
  const byId = (id) => document.getElementById(id);
  const choices = [byId("page-pair-a"), byId("page-pair-b")];
  const SVG = "http://www.w3.org/2000/svg";
  const { scores: units, digits } = panel;

  function field(key, pair) {
    const { texts, codes } = panel.fields[key];
    if (!codes) return texts[0];
    const raw = atob(codes);
    const bytes = (2 * raw.length) / (panel.names.length * (panel.names.length - 1));
    const code = [...raw.slice(pair * bytes, (pair + 1) * bytes)].reduceRight(
      (sum, byte) => 256 * sum + byte.charCodeAt(0), 0);
    return texts[code];
  }

  /* Runs stand best first, and so do the two of a pair. */
  function chosen() {
    const [a, b] = choices.map((choice) => Number(choice.value)).sort((one, other) => one - other);
    const n = panel.names.length;
    return { a, b, pair: a * (2 * n - a - 1) / 2 + b - a - 1 };
  }

  function filled(template, { a, b, pair }, names) {
    const put = (whole, key) => {
      if (key === "a" || key === "b") return names[key === "a" ? a : b];
      return key in panel.fields ? field(key, pair).replace(/\{(\w+)\}/g, put) : whole;
    };
    return template.replace(/\{(\w+)\}/g, put);
  }

  /* Scores are whole numbers of the last decimal shown: their difference is exact. */
  function differences({ a, b }) {
    const n = panel.topics.length;
    return panel.topics
      .map((topic, t) => [topic, units[a * n + t], units[b * n + t], t])
      .filter(([, one, other]) => one !== null && other !== null)
      .map(([topic, one, other, t]) => [topic, one - other, t])
      .sort((one, other) => other[1] - one[1]);
  }

  const typeset = (gap) => {
    const text = (Math.abs(gap) / 10 ** digits).toFixed(digits);
    return `${gap < 0 ? "−" : "+"}${text}`;
  };

  function drawn(tag, attributes, title = "") {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (title) {
      element.append(document.createElementNS(SVG, "title"));
      element.firstChild.textContent = title;
    }
    return element;
  }

  /* Whether a topic, or its cluster, is among the so many that carry the lead: the largest sums. */
  function carrying(gaps, count) {
    const unit = (t) => panel.units[t] ?? t;
    const sums = new Map();
    for (const [, gap, t] of gaps) sums.set(unit(t), (sums.get(unit(t)) ?? 0) + gap);
    const largest = [...sums].sort((one, other) => other[1] - one[1]).slice(0, count);
    const carriers = new Set(largest.map(([key]) => key));
    return (t) => carriers.has(unit(t));
  }

  function chart(gaps, carries) {
    // As wide as its place, so that letters keep their size on a phone.
    const [width, height, left] = [byId("page-pair-chart").clientWidth || 960, 240, 64];
    const most = Math.max(1, ...gaps.map(([, gap]) => Math.abs(gap)));
    const y = (gap) => height / 2 - (gap / most) * (height / 2 - 12);
    const step = (width - left) / Math.max(1, gaps.length);
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", fill: "currentColor",
      "aria-label": byId("page-pair-caption").textContent });
    for (const gap of [most, 0, -most]) {
      const text = drawn("text", { x: left - 8, y: y(gap) + 4, "text-anchor": "end", "font-size": 12 });
      text.textContent = gap ? typeset(gap) : "0";
      svg.append(drawn("line", { x1: left, x2: width, y1: y(gap), y2: y(gap), stroke: "#888888",
        "stroke-width": gap ? 0.4 : 1 }), text);
    }
    gaps.forEach(([topic, gap, t], i) => {
      svg.append(drawn("rect", { x: left + i * step + step * 0.08, width: step * 0.84,
        y: Math.min(y(gap), y(0)), height: Math.max(Math.abs(y(gap) - y(0)), 1),
        fill: gap < 0 ? "#D55E00" : carries(t) ? "#0072B2" : "#8fc1de" },
        `topic ${topic}: ${typeset(gap)}${carries(t) ? ", carries the lead" : ""}`));
    });
    return svg;
  }

  function show() {
    const pair = chosen();
    const facts = byId("page-pair-facts");
    facts.replaceChildren();
    byId("page-pair-chart").replaceChildren();
    if (pair.a === pair.b) {
      byId("page-pair-answer").textContent = "Pick two different runs.";
      byId("page-pair-caption").textContent = "";
      return;
    }
    byId("page-pair-answer").textContent = `${filled("{decision}", pair, panel.shown)}.`;
    byId("page-pair-caption").textContent = `${panel.measure} of ${panel.shown[pair.a]} less that of `
      + `${panel.shown[pair.b]}, topic by topic, largest first; dark: those that carry the lead.`;
    const count = "carry" in panel.fields ? Number(field("carry", pair.pair)) || 0 : 0;
    const gaps = differences(pair);
    byId("page-pair-chart").append(chart(gaps, carrying(gaps, count)));
    for (const [about, template] of panel.rows) {
      const row = made("div");
      row.append(made("dt", about), made("dd", filled(template, pair, panel.shown)));
      facts.append(row);
    }
  }

  function address() {
    return `#pair=${choices.map((choice) => encodeURIComponent(panel.names[choice.value])).join(",")}`;
  }

  /* #pair=a,b: names as they are, each encoded, so that a comma in a name is none here. */
  function fromAddress() {
    if (!location.hash.startsWith("#pair=")) return;
    const names = location.hash.slice(6).split(",").map(decodeURIComponent);
    const places = names.map((name) => panel.names.indexOf(name));
    if (places.length !== 2 || places.some((run) => run < 0)) return;
    choices.forEach((choice, i) => { choice.value = places[i]; });
    document.documentElement.classList.add("pair-chosen");
    unfold(byId("page-pair"));
    show();
    byId("page-pair").scrollIntoView();
  }

  function choose() {
    show();
    document.documentElement.classList.add("pair-chosen");
    place(address());
  }

  /* A click on a name in a table picks it; the second click shows the two. */
  let first = null;
  function pick(run, status) {
    if (first === null || first === run) {
      first = run;
      status.textContent = `${panel.shown[run]}: pick another run to compare it with.`;
      return;
    }
    [choices[0].value, choices[1].value] = [first, run];
    first = null;
    status.textContent = "";
    choose();
    byId("page-pair").scrollIntoView();
    choices[0].focus({ preventScroll: true });
  }

  for (const box of document.querySelectorAll("[data-picks]")) {
    const places = new Map(panel.names.map((name, i) => [name, i]));
    for (const row of box.querySelectorAll("tbody tr")) {
      const cell = row.cells[box.dataset.picks];
      const run = places.get(cell.dataset.v ?? cell.textContent);
      if (run === undefined) continue;
      const button = made("button", cell.textContent, "pick");
      button.type = "button";
      button.title = cell.title || "Pick this run";
      cell.removeAttribute("title");
      cell.removeAttribute("tabindex");
      button.addEventListener("click", () => pick(run, box.querySelector(".status")));
      cell.replaceChildren(button);
    }
  }
  for (const choice of choices) choice.addEventListener("change", choose);
  for (const button of document.querySelectorAll("[data-pair-copy]")) {
    button.addEventListener("click", () => {
      const isLatex = button.dataset.pairCopy !== "sentence";
      const text = filled(panel[button.dataset.pairCopy], chosen(), isLatex ? panel.latex : panel.names);
      copy(isLatex ? text.replaceAll("−", "-").replaceAll("∞", "\\infty") : text,
        button.parentElement.querySelector(".status"));
    });
  }
  addEventListener("hashchange", fromAddress);
  show();
  fromAddress();
})();
