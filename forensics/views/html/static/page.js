"use strict";
(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const el = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const thousands = (n) => n.toLocaleString("en");
  const say = (text) => { $("status").textContent = text; };
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  // light-dark() is a value only where it is used: what a canvas draws is asked of an element
  const probe = el("span", "visually-hidden");
  document.body.append(probe);
  const ink = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };

  // times

  const utc = (ms) => new Date(D.t0 + ms).toISOString();
  const stamp = (ms) => zone.wall(D.t0 + ms);
  const parse = (text) => {
    const at = zone.parse(text);
    return at === null ? null : at - D.t0;
  };
  const tick = (ms, length) => {
    const text = stamp(ms);
    if (length > 2 * 86400e3) return text.slice(5, 16);
    return length > 8e3 ? text.slice(11, 19) : text.slice(11, 23);
  };

  // the window of time that all lanes and charts show

  let shown = D.window.slice();
  const charts = [];
  function percent(ms) { return Math.min(Math.max(((ms - shown[0]) * 100) / (shown[1] - shown[0]), -5), 105); }
  function move(within = document) {
    for (const r of all(".track rect", within)) {
      const x = percent(+r.dataset.s);
      r.setAttribute("x", x + "%");
      r.setAttribute("width", Math.max(percent(+r.dataset.e) - x, 0.25) + "%");
    }
    for (const t of all(".flags text", within)) {
      const x = percent(+t.dataset.s);
      t.setAttribute("x", x + "%");
      t.style.display = x < -1 || x > 101 ? "none" : "";
    }
    for (const flags of all(".flags", within)) flags.classList.toggle("far", shown[1] - shown[0] > 1.3 * (D.window[1] - D.window[0]));
    for (const t of all(".lane:not(.flags) .track text", within)) {
      const x = Math.max(percent(+t.dataset.s), 0), wide = t.closest("svg").getBoundingClientRect().width;
      t.setAttribute("x", x + "%");
      t.style.display = wide && ((percent(+t.dataset.e) - x) / 100) * wide < t.textContent.length * 6 + 6 ? "none" : "";
    }
    for (const ticks of all(".ticks", within)) {
      all(".tick", ticks).forEach((t, n) => { t.textContent = tick(shown[0] + ((shown[1] - shown[0]) * n) / 4, shown[1] - shown[0]); });
    }
  }
  function show(from, until) {
    if (!(until > from)) return;
    const least = Math.min(50, D.end);
    if (until - from < least) until = from + least;
    shown = [Math.max(Math.floor(from), 0), Math.min(Math.ceil(until), D.end)];
    if (!(shown[1] > shown[0])) return;
    $("from").value = stamp(shown[0]);
    $("until").value = stamp(shown[1]);
    $("zoom-error").textContent = "";
    move();
    charts.forEach((chart) => chart.setScale("x", { min: shown[0], max: shown[1] }));
    if (filters.time.checked) filter();
  }
  function zoom(by) {
    const middle = (shown[0] + shown[1]) / 2, half = ((shown[1] - shown[0]) / 2) * by;
    show(middle - half, middle + half);
  }
  $("whole").addEventListener("click", () => show(0, D.end));
  $("focus").addEventListener("click", () => show(...D.window));
  $("in").addEventListener("click", () => zoom(0.5));
  $("out").addEventListener("click", () => zoom(2));
  for (const id of ["from", "until"]) {
    $(id).addEventListener("change", () => {
      const a = parse($("from").value), b = parse($("until").value);
      if (a === null || b === null || !(b > a)) $("zoom-error").textContent = "Write both times like 2026-01-31 13:45:00, the earlier one first.";
      else show(a, b);
    });
  }
  for (const button of all("button.at")) {
    button.addEventListener("click", () => {
      const a = parse(button.dataset.from), b = button.dataset.to ? parse(button.dataset.to) : D.end;
      const margin = Math.max((b - a) * 0.2, 1000);
      show(a - margin, b + margin);
      $("lanes").scrollIntoView();
    });
  }

  // Lanes: one stop of the tab key, arrow keys from span to span, Enter opens

  const shownTracks = (box) => all(".track", box).filter((track) => track.checkVisibility());
  const spansOf = (track) => all("a, :not(a) > rect:not(.stem)", track).sort((a, b) => +rectOf(a).dataset.s - +rectOf(b).dataset.s);
  const rectOf = (span) => (span.matches("a") ? span.firstElementChild : span);
  const covers = (span, ms) => +rectOf(span).dataset.s <= ms && ms <= +rectOf(span).dataset.e;
  function beside(box, span, key) {
    const track = span.closest(".track"), own = spansOf(track), at = own.indexOf(span);
    const along = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: own.length - 1 }[key];
    if (along !== undefined) return own[along];
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    const lanes = step ? shownTracks(box).filter((t) => t.contains(span) || spansOf(t).length) : [];
    const lane = lanes[lanes.indexOf(track) + step];
    const there = lane ? spansOf(lane) : [], ms = Math.max(+rectOf(span).dataset.s, shown[0]);
    return there.findLast((s) => covers(s, ms)) || there.find((s) => +rectOf(s).dataset.s >= ms) || there[there.length - 1];
  }
  function into(span) {
    const from = +rectOf(span).dataset.s, until = +rectOf(span).dataset.e, half = (shown[1] - shown[0]) / 2;
    if (until < shown[0] || from > shown[1]) show(from - half, from + half);
  }
  for (const box of all(".roving")) {
    const says = box.nextElementSibling, opens = box.closest(".pdetail");
    let current = null;
    for (const track of all(".track", box)) {
      track.setAttribute("role", "group");
      for (const span of spansOf(track)) {
        span.tabIndex = -1;
        if (span.matches("a")) continue;
        span.setAttribute("role", opens || span.dataset.v ? "button" : "img");
        span.setAttribute("aria-label", span.firstElementChild.textContent);
      }
    }
    const name = (span) => `${span.closest(".lane").firstElementChild.textContent}: ${span.getAttribute("aria-label")}`;
    const choose = (span) => {
      if (current) current.tabIndex = -1;
      current = span;
      if (span) span.tabIndex = 0;
    };
    choose(all(".track", box).flatMap(spansOf)[0]);
    box.addEventListener("focusin", (event) => {
      const span = event.target.closest(".track a, .track rect");
      if (span) { choose(span); into(span); says.textContent = name(span); }
    });
    box.addEventListener("pointerover", (event) => {
      const span = event.target.closest(".track a") || event.target.closest(".track rect");
      if (span) says.textContent = name(span);
    });
    box.addEventListener("keydown", (event) => {
      const span = event.target.closest(".track a, .track rect");
      if (!span) return;
      if (event.key === "Enter" || event.key === " ") {
        if (span.matches("a") && event.key === "Enter") return;
        event.preventDefault();
        (span.matches("a") ? span : rectOf(span)).dispatchEvent(new MouseEvent("click", { bubbles: true }));
        return;
      }
      const next = beside(box, span, event.key);
      if (/^(Arrow|Home|End)/.test(event.key)) event.preventDefault();
      if (next) next.focus();
    });
  }

  // charts

  const LINES = ["#0072b2", "#b8860b", "#009e73", "#56a0d3", "#8c6d46", "#c77cae", "#5f7a1f", "#777777"];
  // offsets are not grouped by commas: they are copied into commands
  function axes(box, plain) {
    const name = all(".lane .name").find((n) => n.checkVisibility());
    const side = name ? Math.max(name.getBoundingClientRect().width, 56) : 60;
    const look = { stroke: () => ink("quiet"), grid: { stroke: () => ink("line"), width: 1 }, ticks: { stroke: () => ink("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    return [
      { ...look, size: 26, splits: () => [0, 1, 2, 3, 4].map((n) => shown[0] + ((shown[1] - shown[0]) * n) / 4), values: (_, at) => at.map((x, n) => (n === 4 ? "" : tick(x, shown[1] - shown[0]))) },
      { ...look, size: side, values: (_, at) => at.map((y) => (Number.isInteger(y) ? (plain ? String(y) : thousands(y)) : "")) },
    ];
  }
  function chart(box, height, series, data, more = {}) {
    const hooks = { setSelect: [(u) => { if (u.select.width > 4) show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false); }], ...more.hooks };
    const made = new uPlot({
      width: Math.max(box.clientWidth, 200), height, padding: [10, 2, 0, 0],
      scales: { x: { time: false, range: () => shown }, y: { range: more.range } },
      axes: axes(box, more.plain), cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false } }, series: [{ label: "", value: (_, x) => (x == null ? "" : `${stamp(Math.round(x))} ${zone.label()}`) }, ...series.map((s) => ({ value: (_, v) => (v == null ? "" : String(v)), ...s }))], hooks,
    }, data, box);
    charts.push(made);
    for (const again of [theme.painted, zone.changed]) again.push(() => made.redraw(false, true));
    new ResizeObserver(() => { const wide = Math.max(box.clientWidth, 200); if (Math.abs(wide - made.width) > 1) made.setSize({ width: wide, height }); }).observe(box);
    return made;
  }
  const stepped = uPlot.paths.stepped({ align: 1 });
  function steps(lists) {
    const times = [...new Set([0, ...lists.flatMap((l) => l[0] || []), D.end])].sort((a, b) => a - b);
    const out = [times];
    for (const list of lists) {
      for (let column = 1; column < list.length; column++) {
        let at = 0, now = 0;
        out.push(times.map((t) => { while (at < list[0].length && list[0][at] <= t) now = list[column][at++]; return now; }));
      }
    }
    return out;
  }
  function counts() {
    const box = $("counts-chart"), under = D.under.length ? D.under : [[], [], []], off = D.offline.length ? D.offline : [[], []];
    if (!box) return;
    const fill = (name, part) => () => { const c = ink(name); return c.replace(/^rgb\(/, "rgba(").replace(/\)$/, `, ${part})`); };
    const looks = [
      { label: "partitions under-replicated", stroke: () => ink("paused"), fill: fill("paused", 0.15), paths: stepped, points: { show: false }, width: 1.5 },
      { label: "reassigning", stroke: () => ink("quiet"), paths: stepped, points: { show: false }, width: 1, dash: [4, 3] },
      { label: "without a leader", stroke: () => ink("down"), fill: fill("down", 0.3), paths: stepped, points: { show: false }, width: 2 },
    ], [times, ...columns] = steps([under, off]), used = columns.map((values) => values.some(Boolean));  // an empty series says nothing
    chart(box, 170, looks.filter((_, n) => used[n]), [times, ...columns.filter((_, n) => used[n])], { range: (_, low, high) => [0, Math.max(high || 0, 1) * 1.08] });
  }

  // evidence

  const viewer = $("viewer");
  function look(title, lines, current) {
    $("viewer-title").textContent = title;
    $("viewer-lines").replaceChildren(...lines.map(([n, text]) => {
      const row = el("div", n === current ? "row quoted" : "row");
      row.append(el("span", "n", n === null ? "" : String(n)), el("span", "x", text));
      return row;
    }));
    viewer.showModal();
  }
  const place = ([source, line, byte]) => D.src[source] + (line !== null ? ":" + line : byte !== null ? "@" + byte : "");
  function quoted(e) {
    const near = D.c[`${e[0]}:${e[1]}`];
    look(place(e), near || [[e[1], e[3]]], e[1]);
  }
  $("viewer-close").addEventListener("click", () => viewer.close());
  viewer.addEventListener("click", (event) => { if (event.target === viewer) viewer.close(); });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.context");
    if (button) {
      const [source, line] = button.dataset.c.split(":").map(Number);
      quoted([source, line, null, ""]);
    }
    const span = event.target.closest(".track [data-v]");
    if (span) {
      const of = D.b[+span.dataset.v];
      look(span.querySelector("title").textContent, of.flatMap((e) => [[null, place(e)], ...(D.c[`${e[0]}:${e[1]}`] || [[e[1], e[3]]])]), of[of.length - 1][1]);
    }
  });

  // findings

  const list = $("list"), form = $("filters"), filters = form.elements, rest = $("rest");
  const PAGE = 40;
  let cards = all(".finding", list), room = PAGE, incident = "", chosen = null;
  if (rest) {
    cards = cards.concat(all(".finding", rest.content));
    $("more").addEventListener("click", () => { room += PAGE; filter(); });
  }
  const P = D.p, count = P.t.length;
  const name = (n) => `${P.topics[P.t[n]]}-${P.n[n]}`;
  const numbers = new Map();
  function number(text) {
    if (!numbers.size) for (let n = 0; n < count; n++) numbers.set(name(n), n);
    return numbers.get(text);
  }
  function* of(id) {
    const runs = D.f[id] || [];
    for (let i = 0; i < runs.length; i += 2) for (let n = runs[i]; n < runs[i] + runs[i + 1]; n++) yield n;
  }
  const LEVELS = ["info", "low", "medium", "high", "critical"];
  const topicsOf = new Map();
  function touches(card, test) {
    for (const n of of(card.id.slice(2))) if (test(n)) return true;
    return false;
  }
  function topics(card) {
    if (!topicsOf.has(card.id)) {
      const found = new Set(card.dataset.topic ? [card.dataset.topic] : []);
      for (const n of of(card.id.slice(2))) found.add(P.topics[P.t[n]]);
      topicsOf.set(card.id, [...found]);
    }
    return topicsOf.get(card.id);
  }
  function wanted(card) {
    const d = card.dataset, topic = filters.topic.value.trim();
    if (incident && d.incident !== incident) return false;
    if (filters.kind.value && d.kind !== filters.kind.value) return false;
    if (filters.severity.value && LEVELS.indexOf(d.sev) < LEVELS.indexOf(filters.severity.value)) return false;
    if (filters.broker.value && !d.brokers.split(" ").includes(filters.broker.value)) return false;
    if (filters.time.checked && d.s !== "" && (+d.s > shown[1] || (d.e !== "" && +d.e < shown[0]))) return false;
    if (topic && !topics(card).some((t) => t.includes(topic))) return false;
    if (filters.verdict.value && !touches(card, (n) => P.v[n] === +filters.verdict.value)) return false;
    return true;
  }
  const state = () => {
    const query = new URLSearchParams();
    for (const key of ["topic", "broker", "kind", "severity", "verdict"]) if (filters[key].value.trim()) query.set(key, filters[key].value.trim());
    if (filters.time.checked) { query.set("from", utc(shown[0])); query.set("until", utc(shown[1])); }
    if (incident) query.set("incident", incident);
    if (chosen) query.set("finding", chosen);
    return query;
  };
  function filter({ quiet = false } = {}) {
    const found = cards.filter(wanted), listed = found.slice(0, room), there = new Set(listed);
    for (const card of cards) card.hidden = !there.has(card);
    const missing = listed.filter((card) => !card.isConnected);
    for (const card of missing) list.append(document.adoptNode(card));
    if (rest) $("more").parentElement.hidden = found.length <= room;
    rows = select();
    page = 0;
    table();
    heat();
    const filtered = state().toString();
    const [f, all, p, every] = [found.length, cards.length, rows.length, count].map(thousands);
    $("count").textContent = filtered ? `${f} of ${all} findings, ${p} of ${every} partitions` : `${all} findings, ${every} partitions`;
    if (!quiet) {
      say($("count").textContent);
      history.replaceState(null, "", filtered ? "#?" + filtered : "#findings");
    }
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => filter());
  form.addEventListener("reset", () => { incident = ""; chosen = null; setTimeout(filter); });
  for (const button of all("button.own")) {
    button.addEventListener("click", () => { form.reset(); setTimeout(() => { incident = button.dataset.i; filter(); $("findings").scrollIntoView(); }); });
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.those");
    if (button) { chosen = button.dataset.f; filter(); $("partitions").scrollIntoView(); }
    const copy = event.target.closest("button.copy");
    if (copy) {
      const card = copy.closest(".finding"), words = copy.textContent;
      copied(card ? markdown(card) : mail()).then(() => { copy.textContent = "Copied"; say("Copied"); setTimeout(() => { copy.textContent = words; }, 2000); });
    }
  });
  async function copied(text) {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = el("textarea", "visually-hidden", text);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }
  // the first screen as plain text: what a mail says
  function mail() {
    const flat = (e) => e.textContent.replace(/\s+/g, " ").trim();
    const lines = (what, lead = () => "") => all(what, $("verdict")).map((e, n) => lead(e, n) + flat(e));
    const pairs = (what) => all(what, $("verdict")).map((e) => `${flat(e.querySelector("dt"))}: ${flat(e.querySelector("dd"))}`);
    const rows = all("table.lost tbody tr:not(.in-place)").map((r) => "- " + all("th, td", r).map((c) => (c.dataset.label === "Partition" ? flat(c.querySelector("a")) : `${c.dataset.label.toLowerCase()} ${flat(c)}`)).join(", "));
    const parts = [[...lines("h1"), ...pairs(".lead > div")], [...pairs(".strip > div"), flat($("verdict").querySelector(".about span"))], rows, lines(".because"), lines(".told li", (e) => (e.matches(".marked") ? "✗ " : "  ")), lines(".do > ol > li", (_, n) => `${n + 1}. `)];
    return parts.filter((part) => part.length).map((part) => part.join("\n")).join("\n\n") + "\n";
  }
  function markdown(card) {
    const plain = (text) => text.replace(/\s+/g, " ").trim().replace(/([\\`*_[\]<>|#@])/g, "\\$1");
    const text = (what) => { const found = card.querySelector(what); return found ? plain(found.textContent) : ""; };
    const out = [`### ${card.dataset.sev}: ${plain(card.dataset.kind)}`, "", `**${text(".f-what")}**`, "", text(".why"), ""];
    for (const fact of all(".facts div", card)) out.push(`- ${plain(fact.querySelector("dt").textContent)}: ${plain(fact.querySelector("dd").textContent)}`);
    const todo = all(".steps li", card);
    if (todo.length) out.push("", "What to do:", "", ...todo.map((li) => `- ${plain(li.textContent)}`));
    const quotes = all(".quotes li", card);
    if (quotes.length) out.push("", "Evidence:");
    for (const quote of quotes) {
      const raw = quote.querySelector("pre").textContent, fence = "`".repeat(Math.max(3, ...(raw.match(/`+/g) || []).map((run) => run.length + 1)));
      out.push("", plain(quote.querySelector("cite").textContent), "", fence, raw, fence);
    }
    return out.join("\n") + "\n";
  }

  // partitions

  const body = $("ptable").tBodies[0], model = body.rows[0] && body.rows[0].cloneNode(true);
  const grave = D.order, isGrave = new Set(grave);
  const order = [...grave, ...Array.from({ length: count }, (_, n) => n).filter((n) => !isGrave.has(n))];
  let rows = order, page = 0;
  function select() {
    const topic = filters.topic.value.trim(), verdict = filters.verdict.value, broker = filters.broker.value;
    let these = null;
    if (chosen) these = new Set(of(chosen));
    else if (incident || filters.kind.value || filters.severity.value || filters.time.checked) {
      these = new Set();
      for (const card of cards) if (wanted(card)) for (const n of of(card.id.slice(2))) these.add(n);
    }
    const held = broker ? P.lists.map((l) => l.split(",").includes(broker)) : null;
    return order.filter((n) => (!these || these.has(n)) && (!verdict || P.v[n] === +verdict) && (!topic || P.topics[P.t[n]].includes(topic)) && (!held || held[P.r[n]] || held[P.i[n]] || String(P.l[n]) === broker));
  }
  const shownValue = (value) => (value === null ? "" : String(value));
  function table() {
    if (!model) return;
    const last = Math.max(Math.ceil(rows.length / D.page) - 1, 0);
    page = Math.min(Math.max(page, 0), last);
    body.replaceChildren(...rows.slice(page * D.page, (page + 1) * D.page).map((n) => {
      const row = model.cloneNode(true), cell = row.cells;
      row.dataset.n = n;
      if (n in D.d) {
        const link = el("a", "", name(n));
        link.href = "#p-" + name(n);
        cell[0].replaceChildren(link);
        if (hasProof(name(n))) cell[0].append(" ", proofLink(name(n)));
      } else cell[0].textContent = name(n);
      const word = cell[1].firstElementChild;
      word.className = "verdict-word v-" + P.verdicts[P.v[n]];
      word.textContent = P.verdicts[P.v[n]];
      const values = [P.l[n] === -1 ? "none" : P.l[n] === null ? "?" : String(P.l[n]), shownValue(P.e[n]), P.lists[P.i[n]].replace(/,/g, ", "), P.lists[P.r[n]].replace(/,/g, ", "), shownValue(P.o[n]), shownValue(P.h[n])];
      values.forEach((value, i) => { cell[i + 2].textContent = value; });
      cell[8].replaceChildren(...zone.told(P.whys[P.w[n]]));
      return row;
    }));
    $("where").textContent = rows.length ? `${thousands(page * D.page + 1)} to ${thousands(Math.min((page + 1) * D.page, rows.length))} of ${thousands(rows.length)}` : "none";
    $("prev").disabled = page === 0;
    $("next").disabled = page === last;
  }
  $("prev").addEventListener("click", () => { page--; table(); });
  $("next").addEventListener("click", () => { page++; table(); });
  function go(n) {
    if (n in D.d) { location.hash = "#p-" + name(n); return; }
    let at = rows.indexOf(n);
    if (at < 0) { form.reset(); incident = ""; chosen = null; filter({ quiet: true }); at = rows.indexOf(n); }
    page = Math.floor(at / D.page);
    table();
    const row = [...body.rows].find((r) => +r.dataset.n === n);
    if (row) {
      row.classList.add("hit");
      row.tabIndex = -1;
      row.focus({ preventScroll: true });
      row.scrollIntoView({ block: "center" });
    }
    say(name(n));
  }

  // a cell a partition

  const canvas = $("heatmap");
  let cell = 12, across = 1, cursor = -1;
  function heat() {
    if (count < 30) return;
    $("heat").hidden = false;
    const wide = canvas.clientWidth || 300, scale = devicePixelRatio || 1;
    cell = count > 8000 ? 6 : count > 1500 ? 8 : 14;
    across = Math.max(Math.floor(wide / cell), 1);
    const high = Math.ceil(count / across) * cell;
    canvas.style.height = high + "px";
    canvas.width = wide * scale;
    canvas.height = high * scale;
    const c = canvas.getContext("2d"), colours = [ink("loss-fill"), ink("recovering"), ink("stopping"), ink("up")], faint = new Set(rows);
    c.scale(scale, scale);
    for (let n = 0; n < count; n++) {
      c.globalAlpha = faint.has(n) ? 1 : 0.15;
      c.fillStyle = colours[P.v[n]];
      c.fillRect((n % across) * cell, Math.floor(n / across) * cell, cell - 1, cell - 1);
    }
    c.globalAlpha = 1;
    if (cursor >= 0) {
      const x = (cursor % across) * cell, y = Math.floor(cursor / across) * cell;
      for (const [name, width] of [["card", 5], ["ink", 2.5]]) {
        c.strokeStyle = ink(name);
        c.lineWidth = width;
        c.strokeRect(x, y, cell - 1, cell - 1);
      }
    }
  }
  const here = (event) => {
    const box = canvas.getBoundingClientRect(), x = Math.floor((event.clientX - box.left) / cell), y = Math.floor((event.clientY - box.top) / cell);
    const n = y * across + x;
    return x < across && n >= 0 && n < count ? n : -1;
  };
  function selectCell(n) {
    cursor = Math.min(Math.max(n, 0), count - 1);
    $("heat-says").textContent = words(cursor);
    heat();
  }
  const words = (n) => (n < 0 ? "" : `${name(n)}: ${P.verdicts[P.v[n]]}`);
  canvas.addEventListener("pointermove", (event) => { $("heat-says").textContent = words(here(event)); });
  canvas.addEventListener("click", (event) => { const n = here(event); if (n >= 0) go(n); });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, PageUp: -across * 5, PageDown: across * 5, Home: -count, End: count }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      selectCell(cursor + by);
    } else if ((event.key === "Enter" || event.key === " ") && cursor >= 0) {
      event.preventDefault();
      go(cursor);
    }
  });
  canvas.addEventListener("focus", () => selectCell(cursor));
  theme.painted.push(heat);
  let wide = 0;
  new ResizeObserver(() => { if (canvas.clientWidth && canvas.clientWidth !== wide) { wide = canvas.clientWidth; heat(); } }).observe($("partitions"));

  // partitions one by one

  const rgba = (c, part) => c.replace(/^rgb\(/, "rgba(").replace(/\)$/, `, ${part})`);
  function swatch(className, words) {
    const item = el("li"), sign = el("span", "swatch " + className);
    sign.setAttribute("aria-hidden", "true");
    item.append(sign, " " + words);
    return item;
  }
  function offsets(box, d) {
    if (!d.o.length) { box.hidden = true; return; }
    const brokers = [...new Set(d.o.map((o) => o[0]))].sort((a, b) => a - b);
    const times = [...new Set([...d.o.map((o) => o[2]), ...d.r.map((r) => r[1])])].sort((a, b) => a - b), data = [times], series = [];
    brokers.forEach((b, n) => {
      for (const [what, words, dash, width] of [["e", "log end", undefined, 2], ["h", "high watermark", [5, 4], 1.25]]) {
        const own = new Map(d.o.filter((o) => o[0] === b && o[1] === what).map((o) => [o[2], o[3]]));
        if (!own.size) continue;
        for (const [of, t, start] of d.r) { // neither is beyond where the log was cut to
          const before = [...own.keys()].filter((at) => at <= t).sort((x, y) => x - y).pop();
          if (of === b && before !== undefined && own.get(before) > start) own.set(t, start);
        }
        data.push(times.map((t) => own.get(t) ?? null));
        series.push({ label: `${b} ${words}`, stroke: LINES[n % LINES.length], width, dash, spanGaps: true, paths: stepped, points: { show: false } });
      }
    });
    const values = [...d.o.map((o) => o[3]), ...d.r.flatMap((r) => [r[2], r[3]]), ...d.l.flatMap((l) => [l[2], l[3]])].filter((v) => v !== null);
    const low = Math.min(...values), high = Math.max(...values), margin = Math.max((high - low) * 0.08, 1);
    const draw = (u) => {
      const c = u.ctx, scale = devicePixelRatio || 1, { left, top, width, height } = u.bbox, red = ink("loss-fill"), cut = ink("cut");
      c.save();
      c.beginPath();
      c.rect(left, top, width, height);
      c.clip();
      for (const [kind, t, start, end] of d.l) {
        const from = t === null ? left : Math.max(u.valToPos(t, "x", true), left), roomy = left + width - from > 190 * scale;
        const y1 = u.valToPos(end === null ? high + margin : end, "y", true), y0 = u.valToPos(start, "y", true);
        const box = [from, y1, left + width - from, Math.max(y0 - y1, 2 * scale)];
        if (kind === "lost" || kind === "cut") {
          c.fillStyle = rgba(kind === "cut" ? cut : red, 0.18);
          c.fillRect(...box);
        } else {
          c.strokeStyle = red;
          c.setLineDash([6 * scale, 4 * scale]);
          c.strokeRect(...box);
          c.setLineDash([]);
        }
        c.fillStyle = kind === "cut" ? cut : ink("loss");
        c.font = `600 ${12 * scale}px system-ui, sans-serif`;
        c.textAlign = roomy ? "left" : "right";
        c.textBaseline = "alphabetic";
        c.fillText(`${D.losses[kind]}: ${end === null ? `from ${start} on` : end - 1 === start ? start : `${start}–${end - 1}`}`, from + (roomy ? 6 : -6) * scale, Math.min(Math.max(y1 + 14 * scale, top + 14 * scale), top + height - 4 * scale));
      }
      c.strokeStyle = cut;
      c.fillStyle = cut;
      for (const [, t, start, end] of d.r) {
        const x = u.valToPos(t, "x", true), y1 = u.valToPos(end, "y", true), y0 = u.valToPos(start, "y", true);
        c.lineWidth = 2 * scale;
        c.beginPath(); c.moveTo(x, y1); c.lineTo(x, y0); c.stroke();
        c.beginPath(); c.moveTo(x - 5 * scale, y0 - 8 * scale); c.lineTo(x + 5 * scale, y0 - 8 * scale); c.lineTo(x, y0); c.fill();
      }
      for (const [b, what, t, offset, bound] of d.o) {
        const x = u.valToPos(t, "x", true), y = u.valToPos(offset, "y", true), r = (what === "e" ? 3.5 : 2.5) * scale;
        c.strokeStyle = c.fillStyle = LINES[brokers.indexOf(b) % LINES.length];
        c.lineWidth = 1.5 * scale;
        c.beginPath();
        if (bound === 0) { c.arc(x, y, r, 0, 7); c.fill(); }
        else {
          const up = bound === 1 ? -1 : 1;
          c.moveTo(x - r, y - up * r * 0.3); c.lineTo(x + r, y - up * r * 0.3); c.lineTo(x, y + up * r * 1.3); c.closePath(); c.stroke();
        }
      }
      c.restore();
    };
    chart(box, 260, series, data, { plain: true, range: () => [Math.max(low - margin, -(high - low) * 0.03), high + margin], hooks: { draw: [draw] } });
    const legend = el("ul", "legend");
    for (const kind of Object.keys(D.losses)) if (d.l.some((l) => l[0] === kind)) legend.append(swatch("area-" + kind, D.losses[kind]));
    if (d.r.length) legend.append(swatch("area-removed", "a broker removed these offsets from its log"));
    box.append(legend, el("p", "quietly", "Dots are exact values, triangles are bounds. A line continues the last known value: between two marks, the log may have been longer. Drag over the chart to select a time."));
  }
  function story(box, d, of) {
    const made = el("table"), head = made.createTHead().insertRow(), into = made.createTBody();
    for (const word of ["", "epoch", "what happened", "evidence"]) { const th = el("th", word ? "" : "zone", word || zone.label()); th.scope = "col"; head.append(th); }
    d.s.forEach(([t, epoch, tone, text, repeats, quotes], i) => {
      if (d.cut && i === d.cut[0]) {
        const row = into.insertRow();
        row.className = "fold";
        row.append(el("td", "t", ""), el("td", "e", ""), el("td", "w", `${d.cut[1]} more entries; kafka-forensics timeline prints them`), el("td", "q"));
      }
      const row = into.insertRow(), at = el("td", "t");
      if (t !== null) {
        at.append(zone.time(D.t0 + t));
      }
      row.className = tone;
      row.dataset.t = t === null ? "" : t;
      const what = el("td", "w");
      what.append(...zone.told(text), repeats > 1 ? ` (${thousands(repeats)} times)` : "");
      row.append(at, el("td", "e", shownValue(epoch)), what);
      const cellOf = el("td", "q");
      for (const e of quotes) {
        const button = el("button", "quiet src", place(e));
        button.type = "button";
        button.addEventListener("click", () => quoted(e));
        cellOf.append(button);
      }
      row.append(cellOf);
    });
    const around = el("div", "scroll");
    around.tabIndex = 0;
    around.setAttribute("role", "region");
    around.setAttribute("aria-label", "Story of " + of);
    around.append(made);
    box.append(el("h3", "", "Story"), around);
  }
  for (const detail of all(".pdetail")) {
    detail.addEventListener("toggle", () => {
      if (!detail.open || detail.dataset.filled) return;
      detail.dataset.filled = "yes";
      const d = D.d[detail.dataset.n];
      story(detail.querySelector(".story"), d, detail.id.slice(2));
      offsets(detail.querySelector(".offsets"), d);
    });
    detail.addEventListener("click", (event) => {
      const rect = event.target.closest(".track rect");
      if (!rect || event.target.closest("a")) return;
      const near = all(".story tbody tr", detail).filter((r) => r.dataset.t !== "" && +r.dataset.t >= +rect.dataset.s)[0];
      all(".here", detail).forEach((r) => r.classList.remove("here"));
      if (!near) return;
      near.classList.add("here");
      near.scrollIntoView({ block: "center" });
      const quote = near.querySelector("button");
      if (quote) quote.focus({ preventScroll: true });
    });
  }

  // the proof of a partition, where it is asked for

  function proofOf(of, where) {
    const detail = $("p-" + of), proof = detail && detail.querySelector(".proof");
    if (!proof) return null;
    const copy = el("div", "in-place");
    copy.append(...[...proof.children].slice(1).map((part) => part.cloneNode(true)));
    for (const region of all("[role=region]", copy)) region.setAttribute("aria-label", `Proof of ${of}, ${where}`);
    return copy;
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.to-proof");
    if (!link) return;
    event.preventDefault();
    if (link.getAttribute("aria-expanded") === "true") {
      link.setAttribute("aria-expanded", "false");
      link.proof.remove();
      return;
    }
    const row = link.closest("tr"), table = row && row.closest("table");
    const made = proofOf(link.dataset.proof, table ? "in the table " + (table.id || table.parentElement.getAttribute("aria-label")) : "in finding " + link.closest("article").id);
    if (!made) return;
    if (row) {
      const below = el("tr", "in-place"), cell = el("td");
      cell.colSpan = row.cells.length;
      cell.append(made);
      below.append(cell);
      row.after(below);
      link.proof = below;
    } else {
      link.parentElement.after(made);
      link.proof = made;
    }
    link.setAttribute("aria-expanded", "true");
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || !event.target.matches("a.to-proof")) return;
    event.preventDefault();
    event.target.click();
  });
  for (const part of [document, ...(rest ? [rest.content] : [])]) all("a.to-proof", part).forEach(asButton);
  function asButton(link) {
    link.setAttribute("role", "button");
    link.setAttribute("aria-expanded", "false");
    return link;
  }
  function hasProof(of) { return Boolean($("p-" + of).querySelector(".proof")); }
  function proofLink(of) {
    const link = el("a", "to-proof", "proof");
    link.href = "#p-" + of;
    link.dataset.proof = of;
    link.setAttribute("aria-label", "Proof of " + of);
    return asButton(link);
  }

  // where a link leads

  function follow() {
    let hash = location.hash.slice(1);
    try { hash = decodeURIComponent(hash); } catch { /* what is no link leads nowhere */ }
    if (hash.startsWith("?")) {
      const asked = new URLSearchParams(hash.slice(1));
      for (const key of ["topic", "broker", "kind", "severity", "verdict"]) filters[key].value = asked.get(key) || "";
      incident = asked.get("incident") || "";
      chosen = asked.get("finding");
      const a = parse(asked.get("from") || ""), b = parse(asked.get("until") || "");
      filters.time.checked = false;
      if (a !== null && b !== null) { show(a, b); filters.time.checked = true; }
      filter({ quiet: true });
      $("findings").scrollIntoView();
      return;
    }
    let target = $(hash);
    if (!target && hash.startsWith("f-")) {
      const at = cards.findIndex((card) => card.id === hash);
      if (at >= 0) { room = Math.max(room, at + 1); filter({ quiet: true }); target = $(hash); }
    }
    if (!target && hash.startsWith("p-")) {
      const n = number(hash.slice(2));
      if (n !== undefined) go(n);
      return;
    }
    if (!target) return;
    if (target.hidden) { form.reset(); incident = ""; chosen = null; filter({ quiet: true }); }
    const opened = target.matches("details") ? target : target.matches("article") ? target.querySelector("details") : null;
    for (let outer = opened; outer; outer = outer.parentElement.closest("details")) outer.open = true;
    target.scrollIntoView();
    const first = target.querySelector("summary, a, button");
    if (first && !target.matches("section")) first.focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);

  // printed, the proofs of the annex are open, and everything is light

  let closed = [], before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    theme.paint();
    closed = all(".printed, .printed .proof").filter((d) => !d.open);
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => {
    closed.forEach((d) => { d.open = false; });
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    theme.paint();
  });

  const names = document.createDocumentFragment();
  for (const topic of P.topics.slice(0, 500)) { const option = el("option"); option.value = topic; names.append(option); }
  $("topics").append(names);
  zone.changed.push(() => show(...shown));
  theme.paint();
  show(...D.window);
  filter({ quiet: true });
  counts();
  if (location.hash.length > 1) follow();
})();
