"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("data").textContent);
  const make = (name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const ticks = ([low, high, step]) => {
    const digits = [0, 1, 2, 3, 4, 5, 6].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6) ?? 6;
    const values = [];
    for (let i = 0; low + i * step <= high + step / 1000; i++) values.push([low + i * step, (low + i * step).toFixed(digits)]);
    return values;
  };

  const host = document.getElementById("scatter");
  if (host && data.plots.length) {
    host.hidden = false;
    const setChoice = host.querySelector("select[name=set]");
    const metricChoice = host.querySelector("select[name=metric]");
    const figure = host.querySelector("svg");
    const readout = host.querySelector("output");
    const caption = host.querySelector(".caption");
    const option = (select, value) => select.append(new Option(value, value));
    [...new Set(data.plots.map((p) => p.set))].forEach((name) => option(setChoice, name));
    let marks = [];

    const draw = () => {
      const plot = data.plots.find((p) => p.set === setChoice.value && p.metric === metricChoice.value);
      figure.replaceChildren();
      marks = [];
      readout.textContent = "";
      if (!plot) return;
      const [left, right, top, bottom] = [78, 590, 14, 376];
      const x = (v) => left + ((v - plot.xAxis[0]) / (plot.xAxis[1] - plot.xAxis[0])) * (right - left);
      const y = (v) => bottom - ((v - plot.yAxis[0]) / (plot.yAxis[1] - plot.yAxis[0])) * (bottom - top);
      for (const [value, label] of ticks(plot.xAxis)) {
        figure.append(make("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom }));
        figure.append(make("text", { class: "axis", x: x(value), y: bottom + 19, "text-anchor": "middle" }, label));
      }
      for (const [value, label] of ticks(plot.yAxis)) {
        figure.append(make("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }));
        figure.append(make("text", { class: "axis", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, label));
      }
      figure.append(make("text", { class: "name", x: (left + right) / 2, y: bottom + 42, "text-anchor": "middle" }, plot.metric));
      figure.append(make("text", { class: "name", x: 16, y: (top + bottom) / 2, "text-anchor": "middle",
        transform: `rotate(-90 16 ${(top + bottom) / 2})` }, "human: " + plot.human));
      const radius = plot.x.length <= 60 ? 5 : plot.x.length <= 600 ? 3 : 2.2;
      plot.x.forEach((value, i) => {
        const node = make("circle", { class: "point", cx: x(value), cy: y(plot.y[i]), r: radius });
        figure.append(node);
        marks.push({ node, x: x(value), y: y(plot.y[i]),
          words: `${plot.labels[i]}: ${plot.metric} ${plot.x[i]}, human ${plot.y[i]}` });
      });
      const shown = plot.x.length < plot.total ? `${plot.x.length.toLocaleString("en")} of ${plot.total.toLocaleString("en")}` : plot.total.toLocaleString("en");
      caption.textContent = `${shown} ${plot.level === "sys" ? "systems" : "outputs"}. Point at a dot to see what it is.`;
      figure.setAttribute("aria-label", `${plot.set}: ${plot.metric} against human scores`);
    };
    const fill = () => {
      const before = metricChoice.value;
      metricChoice.replaceChildren();
      data.plots.filter((p) => p.set === setChoice.value).forEach((p) => option(metricChoice, p.metric));
      if ([...metricChoice.options].some((o) => o.value === before)) metricChoice.value = before;
      draw();
    };
    let lit = null;
    const light = (mark) => {
      if (lit) lit.node.classList.remove("on");
      lit = mark;
      if (!mark) return;
      mark.node.classList.add("on");
      readout.textContent = mark.words;
    };
    figure.addEventListener("pointermove", (event) => {
      const box = figure.getBoundingClientRect();
      const scale = figure.viewBox.baseVal.width / box.width;
      const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      let best = null;
      let distance = 24 * 24;
      for (const mark of marks) {
        const d = (mark.x - px) ** 2 + (mark.y - py) ** 2;
        if (d < distance) [best, distance] = [mark, d];
      }
      light(best);
    });
    setChoice.addEventListener("change", fill);
    metricChoice.addEventListener("change", draw);
    fill();
  }

  for (const table of document.querySelectorAll(".matrix")) {
    const readout = table.parentElement.parentElement.querySelector(".readout");
    if (!readout) continue;
    const say = (event) => {
      const cell = event.target.closest("[data-words]");
      if (cell) readout.textContent = cell.dataset.words;
    };
    table.addEventListener("pointerover", say);
    table.addEventListener("focusin", say);
  }

  for (const choice of document.querySelectorAll("select[data-view]")) {
    choice.closest(".controls").hidden = false;
    choice.addEventListener("change", () => {
      const section = document.getElementById(choice.dataset.view);
      section.classList.toggle("plain-view", choice.value === "plain");
      section.classList.toggle("given-view", choice.value !== "plain");
    });
  }
})();
