
/* Sliders: every number is looked up in the page's tables; only a product is multiplied here. */
(() => {
  const sliders = JSON.parse(document.getElementById("page-data").textContent).sliders ?? {};
  const SVG = "http://www.w3.org/2000/svg";
  const BOX = { width: 390, height: 250, left: 62, right: 22, top: 26, bottom: 42 };
  const grouped = (text) => text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

  function drawn(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function shown({ digits, unit, beyond }, value) {
    if (value === null) return beyond;
    if (unit === "%" && value === 0) return "less than 0.1%";
    if (unit === "%" && value === 100) return "more than 99.9%";
    return grouped(value.toFixed(digits)) + unit;
  }

  // The numbers of a readout along the slider, for what is chosen.
  function rowOf(readout, chosen, sizes) {
    const place = readout.by.reduce((place, key) => place * sizes[key] + chosen[key], 0);
    return readout.rows[readout.places[place]];
  }

  const at = (row, place) => row[Math.min(place, row.length - 1)];

  function ticks(low, high) {
    const decades = Math.log10(high / low);
    const digits = decades < 2.4 ? [1, 2, 5] : decades < 4 ? [1, 3] : [1];
    const marks = [];
    for (let power = 1; power <= high; power *= 10) {
      for (const digit of digits) marks.push(digit * power);
    }
    return marks.filter((mark) => mark >= low && mark <= high);
  }

  // A round number not below `value`, and the step of four or five marks up to it.
  function axisTop(value) {
    const step = 10 ** Math.floor(Math.log10(value / 4));
    const wide = [1, 2, 2.5, 5, 10].find((factor) => factor * step * 5 >= value) * step;
    return { top: Math.ceil(value / wide - 1e-9) * wide, step: wide };
  }

  function drawChart(chart, numbers, values, place, axis) {
    const { width, height, left, right, top, bottom } = BOX;
    const all = chart.lines.flatMap(({ row }) => values.map((_, i) => at(row, i)).slice(chart.from));
    const scale = axisTop(chart.top ?? Math.max(...all));
    const low = Math.log(values[0]);
    const span = Math.log(values[values.length - 1]) - low;
    const x = (value) => left + ((Math.log(value) - low) / span) * (width - left - right);
    const y = (value) => height - bottom - (value / scale.top) * (height - top - bottom);
    const unit = chart.lines[0].unit;
    const words = chart.lines.map(({ label, text }) => `${label} ${text}`).join(", ");
    const svg = drawn("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${chart.y} against ${axis}; at ${numbers}: ${words}`,
    });
    for (let step = 0; step * scale.step <= scale.top * (1 + 1e-9); step += 1) {
      const mark = step * scale.step;
      const text = unit === "%" ? `${mark}%` : String(Number(mark.toPrecision(6)));
      svg.append(drawn("path", { class: "grid", d: `M${left} ${y(mark)}H${width - right}` }));
      svg.append(drawn("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, text));
    }
    for (const mark of ticks(values[0], values[values.length - 1])) {
      const text = grouped(String(mark));
      svg.append(drawn("path", { class: "axis", d: `M${x(mark)} ${height - bottom}v5` }));
      svg.append(drawn("text", { x: x(mark), y: height - bottom + 18, "text-anchor": "middle" }, text));
    }
    svg.append(drawn("path", { class: "axis", d: `M${left} ${height - bottom}H${width - right}` }));
    svg.append(drawn("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, axis));
    const middle = (top + height - bottom) / 2;
    const turned = { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` };
    svg.append(drawn("text", turned, chart.y));
    if (chart.goal !== null && chart.goal <= scale.top) {
      svg.append(drawn("path", { class: "goal", d: `M${left} ${y(chart.goal)}H${width - right}` }));
    }
    svg.append(drawn("path", { class: "here", d: `M${x(values[place])} ${top}V${height - bottom}` }));
    chart.lines.forEach(({ row, label }, i) => {
      const second = i ? " second" : "";
      const points = values.map((value, k) => [value, at(row, k)]).filter(([, v]) => v <= scale.top);
      const path = points.map(([value, v]) => `${x(value).toFixed(2)} ${y(v).toFixed(2)}`).join("L");
      svg.append(drawn("path", { class: `line${second}`, d: `M${path}` }));
      if (at(row, place) <= scale.top) {
        const dot = { class: `dot${second}`, cx: x(values[place]), cy: y(at(row, place)), r: 4.5 };
        svg.append(drawn("circle", dot));
      }
      const start = left + i * 110;
      svg.append(drawn("path", { class: `line${second}`, d: `M${start} 10h22` }));
      svg.append(drawn("text", { class: "name", x: start + 28, y: 14 }, label));
    });
    return svg;
  }

  function setUp(box) {
    const data = sliders[box.id];
    const range = box.querySelector("input[type=range]");
    const lists = [...box.querySelectorAll("select")];
    const quantities = [...box.querySelectorAll("input[type=number]")];
    const sizes = Object.fromEntries(data.choices.map(({ key, size }) => [key, size]));
    const byKey = Object.fromEntries(data.readouts.map((readout) => [readout.key, readout]));

    function product(number) {
      const typed = quantities.map(({ value }) => (value.trim() === "" ? NaN : Number(value)));
      if (!typed.every((value) => Number.isFinite(value) && value >= 0)) return ["–", ""];
      const total = typed.reduce((whole, value) => whole * value, number) / data.product.divisor;
      const items = grouped((number * typed[0]).toFixed(0));
      return [grouped(total.toFixed(total < 10 ? 1 : 0)) + data.product.unit, `${items} ${data.product.counted}`];
    }

    function update() {
      const place = Number(range.value);
      const number = grouped(String(data.values[place]));
      const chosen = Object.fromEntries(lists.map((list) => [list.dataset.key, list.selectedIndex]));
      const words = { value: number };
      for (const { key, phrases } of data.choices) words[key] = phrases[chosen[key]];
      const lines = {};
      for (const readout of data.readouts) {
        const row = rowOf(readout, chosen, sizes);
        words[readout.key] = shown(readout, at(row, place));
        lines[readout.key] = { row, label: readout.label, unit: readout.unit, text: words[readout.key] };
        box.querySelector(`dd[data-key="${readout.key}"] output`).textContent = words[readout.key];
      }
      if (data.product) {
        const [total, items] = product(data.values[place]);
        box.querySelector(".product output").textContent = total;
        box.querySelector(".product .note").textContent = items;
      }
      box.querySelector(".wide output").textContent = number;
      range.setAttribute("aria-valuetext", number);
      const sentence = data.sentence.replace(/\{(\w+)\}/g, (whole, key) => words[key] ?? whole);
      box.querySelector(".sentence").textContent = sentence;
      const charts = data.charts.map((chart) => {
        const choice = data.choices.find(({ key }) => key === chart.goalChoice);
        const goal = choice ? choice.numbers[chosen[choice.key]] : chart.goal;
        // Few topics would press all others onto the axis.
        const from = chart.top === null ? data.values.findIndex((value) => value >= 20) : 0;
        const itsLines = chart.readouts.map((key) => lines[key]);
        return drawChart({ ...chart, goal, from, lines: itsLines }, number, data.values, place, data.axis);
      });
      box.querySelector(".charts").replaceChildren(...charts);
    }

    box.addEventListener("input", update);
    // A browser that comes back to the page restores what was typed before.
    addEventListener("pageshow", update);
    update();
  }

  document.querySelectorAll(".slider").forEach(setUp);
})();
