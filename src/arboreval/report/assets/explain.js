"use strict";
/** Gives the figures of evidence below `root` their life: what is pointed at shows its words and its partner. */
const liven = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const HINT = "Point at a mark to see what it was matched with.";
  const SIDES = ["output", "reference"];
  const LOSS = ["precision", "recall"];

  /** Children are text unless they are nodes, so no text becomes markup. */
  function el(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function figure(root) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const panel = root.querySelector(".panel");
    const sides = SIDES.map((_, s) => root.querySelector(`.side[data-s="${s}"]`));
    const over = root.querySelector(".over");
    const get = (s, p) => {
      const [label, text, words, partner, similarity, loss, grade, feature] = data.sides[s].parts[p];
      return { s, p, label, text, words, partner, similarity, loss, grade, feature };
    };
    let kept = null; // what was clicked stays until something else is, or Escape
    let lit = [];

    const named = (part) => [...(part.label ? [el("i", {}, part.label), " "] : []), el("bdi", {}, part.text)];

    function sentence(part) {
      const nodes = [`${SIDES[part.s]}: `, ...named(part)];
      if (part.partner === null) {
        const why = part.feature === null ? "" : ` with ${part.feature}`;
        nodes.push(` found nothing${why} in the ${SIDES[1 - part.s]}.`);
      } else {
        nodes.push(" ↔ ", ...named(get(1 - part.s, part.partner)), " · similarity ", el("b", {}, part.similarity.toFixed(3)));
        if (part.grade === "none") nodes.push(", nothing close");
      }
      if (part.loss > 0) nodes.push(` · costs ${part.loss.toFixed(4)} of ${LOSS[part.s]}`);
      return nodes;
    }

    function light(node) {
      if (!node) return;
      node.classList.add("on");
      lit.push(node);
    }

    function marks(part) {
      if (!sides[part.s]) return [];
      return [...sides[part.s].querySelectorAll("[data-p]")].filter((m) => m.dataset.p.split(" ").includes(String(part.p)));
    }

    /** The rows of a part: top and bottom, and where they end towards the middle. */
    function reach(part) {
      const boxes = part.words.map((w) => sides[part.s].querySelector(`[data-w="${w}"] .band`).getBBox());
      return {
        x: part.s === 0 ? boxes[0].x + boxes[0].width : boxes[0].x,
        top: Math.min(...boxes.map((b) => b.y)) + 2,
        bottom: Math.max(...boxes.map((b) => b.y + b.height)) - 2,
      };
    }

    function ribbon(part, partner) {
      const [a, b] = part.s === 0 ? [reach(part), reach(partner)] : [reach(partner), reach(part)];
      const bend = (b.x - a.x) * 0.45;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute(
        "d",
        `M${a.x} ${a.top}C${a.x + bend} ${a.top} ${b.x - bend} ${b.top} ${b.x} ${b.top}V${b.bottom}` +
          `C${b.x - bend} ${b.bottom} ${a.x + bend} ${a.bottom} ${a.x} ${a.bottom}Z`
      );
      over.append(path);
    }

    function show(chosen) {
      lit.forEach((node) => node.classList.remove("on", "chosen"));
      lit = [];
      if (over) over.replaceChildren();
      root.classList.toggle("lit", chosen !== null);
      if (chosen === null) return panel.replaceChildren(HINT);
      const part = get(chosen.s, chosen.p);
      const partner = part.partner === null ? null : get(1 - part.s, part.partner);
      for (const each of [part, ...(partner ? [partner] : [])]) {
        marks(each).forEach(light);
        if (sides[each.s]) each.words.forEach((w) => light(sides[each.s].querySelector(`[data-w="${w}"]`)));
      }
      if (over && partner && part.words.length && partner.words.length) ribbon(part, partner);
      const row = root.querySelector(`.weakest [data-s="${part.s}"] [data-p="${part.p}"]`)?.closest("tr");
      if (row) row.classList.add("chosen"), lit.push(row);
      panel.replaceChildren(...sentence(part), ...others(chosen));
    }

    /** An arc can be the start of several paths. */
    function others(chosen) {
      const more = (chosen.all || []).length - 1;
      return more > 0 ? [` · the weakest of ${more + 1} here; Enter or a click shows the next`] : [];
    }

    function keep(chosen) {
      const again = kept && chosen && kept.s === chosen.s && (chosen.all || [chosen.p]).includes(kept.p);
      if (again && chosen.all && chosen.all.length > 1) {
        const next = chosen.all[(chosen.all.indexOf(kept.p) + 1) % chosen.all.length];
        kept = { ...chosen, p: next };
      } else kept = again ? null : chosen;
      show(kept);
    }

    const spoken = (part) => sentence(part).map((n) => (typeof n === "string" ? n : n.textContent)).join("");

    sides.forEach((side, s) => {
      if (!side) return;
      const all = [...side.querySelectorAll("[data-p]")];
      const parts = (mark) => mark.dataset.p.split(" ").map(Number);
      const chosen = (mark) => ({ s, p: parts(mark)[0], all: parts(mark) });
      all.forEach((mark, i) => {
        mark.setAttribute("tabindex", i ? -1 : 0); // a side is one stop of Tab; arrow keys go on from there
        mark.setAttribute("role", "button");
        mark.setAttribute("aria-label", spoken(get(s, parts(mark)[0])));
        mark.addEventListener("pointerenter", () => show(chosen(mark)));
        mark.addEventListener("pointerleave", () => show(kept));
        mark.addEventListener("focus", () => show(kept && kept.s === s && parts(mark).includes(kept.p) ? kept : chosen(mark)));
        mark.addEventListener("blur", () => show(kept));
        mark.addEventListener("click", () => keep(chosen(mark)));
        mark.addEventListener("keydown", (event) => {
          const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
          if (step && all[i + step]) {
            mark.setAttribute("tabindex", -1);
            all[i + step].setAttribute("tabindex", 0);
            all[i + step].focus();
          } else if (event.key === "Enter" || event.key === " ") keep(chosen(mark));
          else return;
          event.preventDefault();
          event.stopPropagation();
        });
      });
      side.querySelectorAll("[data-w]").forEach((word) => {
        // a word shows its weakest sub-word
        const mine = data.sides[s].parts.flatMap((part, p) => (part[2].length === 1 && part[2][0] === Number(word.dataset.w) ? [p] : []));
        if (!mine.length) return;
        const weakest = mine.reduce((a, b) => (get(s, b).similarity < get(s, a).similarity ? b : a));
        word.addEventListener("pointerenter", () => show({ s, p: weakest }));
        word.addEventListener("pointerleave", () => show(kept));
      });
    });

    function listen(button, s) {
      const p = Number(button.dataset.p);
      const row = button.closest("tr");
      row.addEventListener("pointerenter", () => show({ s, p }));
      row.addEventListener("pointerleave", () => show(kept));
      button.addEventListener("focus", () => show({ s, p }));
      button.addEventListener("blur", () => show(kept));
      button.addEventListener("click", () => keep({ s, p }));
    }

    /** A row of the list; the first ones are in the page already. */
    function row(s, p) {
      const part = get(s, p);
      const partner = part.partner === null ? null : get(1 - s, part.partner);
      const button = el("button", { type: "button", "data-p": p }, ...named(part));
      const tr = el(
        "tr",
        { class: part.grade },
        el("td", { class: "num" }, partner ? part.similarity.toFixed(3) : "–"),
        el("td", { class: "num" }, part.loss.toFixed(4)),
        el("td", {}, button),
        partner ? el("td", {}, ...named(partner)) : el("td", {}, el("span", { class: "reason" }, `nothing${part.feature === null ? "" : ` with ${part.feature}`}`))
      );
      listen(button, s);
      return tr;
    }

    root.querySelectorAll(".weakest > [data-s]").forEach((list) => {
      const s = Number(list.dataset.s);
      list.querySelectorAll("[data-p]").forEach((button) => listen(button, s));
      const body = list.querySelector("tbody");
      const order = data.sides[s].order;
      if (!body || order.length <= body.rows.length) return;
      const more = el("button", { type: "button", class: "more" }, `Show all ${order.length}`);
      more.addEventListener("click", () => {
        body.append(...order.slice(body.rows.length).map((p) => row(s, p)));
        more.remove();
      });
      list.append(more);
    });
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") (kept = null), show(null);
    });
    const frame = root.querySelector(".figure");
    const svg = frame && frame.querySelector("svg");
    if (svg) svg.setAttribute("role", "group"), svg.style.setProperty("--width", svg.getAttribute("width"));
    if (frame) frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2; // the words stand in the middle
    show(null);
  }

  return (root) => root.querySelectorAll(".evidence").forEach(figure);
})();
liven(document);
