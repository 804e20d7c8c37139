"use strict";
(() => {
  const PAGE = 20;
  const MAX_CELLS = 4e6; // words x words; longer texts are shown without marks
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /** An element; attributes are set as given and children are text unless they are nodes, so no text becomes markup. */
  function el(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // --- differences between two texts ---------------------------------------------------------------------------

  const segmenter = "Segmenter" in Intl ? new Intl.Segmenter(data.lang, { granularity: "word" }) : null;

  /** Words and punctuation marks, each with the white space before it. */
  function words(text) {
    const parts = segmenter ? Array.from(segmenter.segment(text), (s) => s.segment) : text.match(/\s+|\S+/g) || [];
    const result = [];
    // the first word may come to stand after a word of the other text; some scripts have no spaces
    let space = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]/u.test(text) ? "" : " ";
    for (const part of parts) {
      if (part.trim()) result.push({ word: part, space }), (space = "");
      else if (result.length) space = part;
    }
    return result;
  }

  /** Longest common subsequence: table[i][j] is its length for a from i on and b from j on. */
  function lcs(a, b) {
    const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        table[i][j] = a[i].word === b[j].word ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
      }
    }
    return table;
  }

  /** The output as nodes: <ins> for what the closest reference has not, <del> for what only the reference has. */
  function marked(output, references) {
    const a = words(output);
    let best = null;
    references.forEach((reference, index) => {
      const b = words(reference);
      if (a.length * b.length > MAX_CELLS) return;
      const table = lcs(a, b);
      const likeness = (2 * table[0][0]) / (a.length + b.length || 1);
      if (!best || likeness > best.likeness) best = { b, table, likeness, index };
    });
    if (!best || !a.length) return { nodes: [output], closest: null };
    const { b, table, index } = best;
    const runs = [];
    const add = (kind, { word, space }) => {
      const last = runs[runs.length - 1];
      if (last && last.kind === kind) last.text += space + word;
      else runs.push({ kind, space: last ? space : "", text: word });
    };
    for (let i = 0, j = 0; i < a.length || j < b.length; ) {
      if (i < a.length && j < b.length && a[i].word === b[j].word) add("same", a[i++]), j++;
      else if (j < b.length && (i === a.length || table[i][j + 1] >= table[i + 1][j])) add("del", b[j++]);
      else add("ins", a[i++]);
    }
    const nodes = runs.flatMap((run) => [run.space, run.kind === "same" ? run.text : el(run.kind, {}, run.text)]);
    return { nodes, closest: index };
  }

  // --- cards ---------------------------------------------------------------------------------------------------

  const text = (lang, ...nodes) => el("p", { lang, dir: "auto" }, ...nodes);
  const row = (label, content, kind = "") => el("div", { class: `row ${kind}` }, el("div", { dir: "auto" }, label), content);

  function scoreItem(segment, system, m) {
    const metric = data.metrics[m];
    const value = segment.scores[system][m];
    const item = el("li", { class: m === state.metric ? "chosen" : null }, `${metric.name} ${metric.higher ? "↑" : "↓"}`);
    const problem = segment.problems.find((p) => p[0] === system && p[1] === m);
    if (value === null) item.append(": no score");
    else {
      const share = Math.min(Math.max((value - metric.low) / (metric.high - metric.low), 0), 1);
      const fill = el("i");
      fill.style.width = `${100 * share}%`;
      item.append(el("span", { class: "meter", "aria-hidden": "true" }, fill), value.toFixed(metric.digits));
    }
    if (problem) item.append(el("span", { class: "reason" }, ` (${problem[2]}: ${problem[3]})`));
    return item;
  }

  /** What a metric found in an output: made when it is opened for the first time. */
  function evidence(m, number) {
    const node = el("details", {}, el("summary", {}, `What ${data.metrics[m].name} found`));
    node.addEventListener(
      "toggle",
      () => {
        node.append(byId(`evidence-${number}`).content.cloneNode(true));
        liven(node);
      },
      { once: true }
    );
    return node;
  }

  function card(segment) {
    const node = el("article", { class: "card", id: segment.anchor });
    const head = el("header", {}, el("h3", {}, "Segment ", el("a", { href: `#${encodeURIComponent(segment.anchor)}` }, segment.id)));
    if (segment.doc !== null) head.append(el("span", {}, `document ${segment.doc}`));
    const difference = state.order === "difference" ? gap(segment) : null;
    if (difference !== null) {
      const [a, b] = [data.systems[state.system], data.systems[state.other]];
      const { name, digits } = data.metrics[state.metric];
      head.append(el("span", {}, `${a} − ${b}: ${difference < 0 ? "" : "+"}${difference.toFixed(digits)} ${name}`));
    }
    node.append(head);
    if (segment.source !== null) node.append(row("Source", text(data.sourceLang, segment.source)));
    segment.refs.forEach((reference, i) => {
      node.append(row(segment.refs.length > 1 ? `Reference ${i + 1}` : "Reference", text(data.lang, reference)));
    });
    if (!segment.refs.length) node.append(row("Reference", el("p", { class: "empty" }, "none")));
    data.systems.forEach((name, s) => {
      if (!state.shown.has(s)) return;
      const output = segment.outputs[s];
      const { nodes, closest } = marked(output, segment.refs);
      const body = output.trim() ? text(data.lang, ...nodes) : el("p", { class: "empty" }, "no output");
      const scores = el("ul", { class: "segment-scores" }, ...data.metrics.map((_, m) => scoreItem(segment, s, m)));
      if (closest !== null && segment.refs.length > 1) scores.append(el("li", {}, `closest to reference ${closest + 1}`));
      const found = segment.evidence.filter(([system]) => system === s).map(([, m, n]) => evidence(m, n));
      node.append(row(name, el("div", {}, body, scores, ...found), "output"));
    });
    return node;
  }

  // --- choosing and ordering -----------------------------------------------------------------------------------

  const state = { order: "file", metric: 0, system: 0, other: 1, filter: "", page: 0, shown: new Set(data.systems.keys()) };
  let found = [];

  function gap(segment) {
    const [a, b] = [segment.scores[state.system][state.metric], segment.scores[state.other][state.metric]];
    return a === null || b === null ? null : a - b;
  }

  /** Smaller comes first; segments without a score come last. */
  function key(segment) {
    if (state.order === "difference") {
      const difference = gap(segment);
      return difference === null ? Infinity : -Math.abs(difference);
    }
    const value = segment.scores[state.system][state.metric];
    if (value === null) return Infinity;
    return data.metrics[state.metric].higher ? value : -value;
  }

  function matches(segment, needle) {
    const texts = [segment.id, segment.doc, segment.source, ...segment.refs, ...segment.outputs.filter((_, s) => state.shown.has(s))];
    return texts.some((t) => t !== null && t.toLocaleLowerCase().includes(needle));
  }

  function choose() {
    const needle = state.filter.trim().toLocaleLowerCase();
    found = data.segments.filter((segment) => !needle || matches(segment, needle));
    if (state.order !== "file") {
      const keys = new Map(found.map((segment) => [segment, key(segment)]));
      found.sort((a, b) => keys.get(a) - keys.get(b) || 0); // Infinity - Infinity is NaN: keep the order of the file
    }
    state.page = 0;
  }

  function show() {
    const start = state.page * PAGE;
    const page = found.slice(start, start + PAGE);
    byId("cards").replaceChildren(...page.map(card));
    byId("count").textContent = page.length
      ? `${start + 1} to ${start + page.length} of ${found.length.toLocaleString("en")} segment${found.length === 1 ? "" : "s"}`
      : "No segment matches.";
    for (const button of document.querySelectorAll("[data-step]")) {
      const next = state.page + Number(button.dataset.step);
      button.disabled = next < 0 || next * PAGE >= found.length;
    }
  }

  function turn(step) {
    const next = state.page + step;
    if (next < 0 || next * PAGE >= found.length) return;
    state.page = next;
    show();
    byId("explorer").scrollIntoView();
  }

  /** Opens the page of the list that holds the segment of the address, #seg-12. */
  function follow() {
    let anchor = location.hash.slice(1);
    try {
      anchor = decodeURIComponent(anchor);
    } catch {} // a lone % is taken as it is
    const segment = data.segments.find((s) => s.anchor === anchor);
    if (!segment) return;
    if (!found.includes(segment)) {
      byId("filter").value = state.filter = "";
      choose();
    }
    state.page = Math.floor(found.indexOf(segment) / PAGE);
    show();
    const node = byId(anchor);
    node.classList.add("linked");
    node.scrollIntoView();
  }

  // --- controls ------------------------------------------------------------------------------------------------

  function options(id, names, value) {
    const select = byId(id);
    select.append(...names.map(([v, label]) => el("option", { value: v }, label)));
    select.value = value;
    select.addEventListener("change", () => {
      state[id] = id === "order" ? select.value : Number(select.value);
      refresh();
    });
  }

  function refresh() {
    byId("metric").parentElement.hidden = byId("system").parentElement.hidden = state.order === "file";
    byId("other").parentElement.hidden = state.order !== "difference";
    choose();
    show();
  }

  function start() {
    const systems = data.systems.map((name, i) => [i, name]);
    const orders = [["file", "as in the file"]];
    if (data.metrics.length && systems.length > 1) orders.unshift(["difference", "largest difference"]);
    if (data.metrics.length) orders.unshift(["worst", "worst first"]);
    state.order = orders[0][0];
    options("order", orders, state.order);
    options("metric", data.metrics.map((m, i) => [i, `${m.name} (${m.higher ? "higher" : "lower"} is better)`]), 0);
    options("system", systems, 0);
    options("other", systems, 1);
    byId("shown").hidden = systems.length < 2;
    for (const [i, name] of systems) {
      const box = el("input", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => {
        if (box.checked) state.shown.add(i);
        else state.shown.delete(i);
        const page = state.page;
        choose();
        state.page = page * PAGE < found.length ? page : 0;
        show();
      });
      byId("shown").append(el("label", {}, box, name));
    }
    byId("filter").addEventListener("input", (event) => {
      state.filter = event.target.value;
      refresh();
    });
    document.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
    for (const button of document.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => turn(Number(button.dataset.step)));
    }
    document.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const inside = event.target.closest("#explorer") && !event.target.closest("select, input");
      if (step && inside && !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) turn(step);
    });
    addEventListener("hashchange", follow);
    byId("explorer").hidden = false;
    refresh();
    follow();
  }

  /** Makes the heads of a table buttons that sort it. */
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.matches(".plotted")) return;
      const button = el("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const value = (tr) => tr.cells[column].dataset.value ?? tr.cells[column].textContent.trim();
        const compare = (x, y) => (isNaN(x) ? x.localeCompare(y) : x - y);
        const rows = [...table.tBodies[0].rows].sort((a, b) => sign * compare(value(a), value(b)));
        table.tBodies[0].append(...rows);
      });
    });
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  start();
})();
