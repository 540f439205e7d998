// The zone of all times on a page: that of the report, UTC, or that of the reader's computer. `changed`: what draws again when it changes.
const zone = (() => {
  const select = document.getElementById("zone");
  const offsets = JSON.parse(select.dataset.offsets);
  const name = select.dataset.name;
  const computer = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const changed = [];
  const MODES = [...select.options].map((option) => option.value);
  let mode = MODES[0];

  const ofReport = (ms) => {
    let minutes = offsets[0][1];
    for (const [from, then] of offsets) if (ms >= from) minutes = then;
    return minutes;
  };
  const minutes = (ms) => (mode === "utc" ? 0 : mode === "reader" ? -new Date(ms).getTimezoneOffset() : ofReport(ms));
  const pad = (n) => String(n).padStart(2, "0");
  // 'UTC' or '+02:00' at this time
  function offset(ms) {
    if (mode === "utc" || (mode === "report" && name === "UTC")) return "UTC";
    const m = minutes(ms);
    return (m < 0 ? "-" : "+") + pad(Math.floor(Math.abs(m) / 60)) + ":" + pad(Math.abs(m) % 60);
  }
  // '2026-11-21 02:48:25.120'
  const wall = (ms) => new Date(ms + minutes(ms) * 60e3).toISOString().slice(0, 23).replace("T", " ");
  const day = () => (select.dataset.day ? wall(+select.dataset.day).slice(0, 10) : "");
  // as forensics.views.html.times writes it: without the date if it is `known`
  function face(ms, form, known) {
    if (ms === null) return "…";
    const text = wall(ms);
    if (form === "d") return text.slice(0, 10);
    return text.slice(text.startsWith(known) && known ? 11 : 0, form === "s" ? 19 : 23);
  }
  function fill(element) {
    const { word, until, form } = element.dataset, at = element.getAttribute("datetime");
    const first = at ? Date.parse(at) : null, begin = face(first, form, day());
    const end = face(until ? Date.parse(until) : null, form, first === null ? "" : wall(first).slice(0, 10));
    element.textContent = !word || (begin === end && first !== null) ? begin : begin + word + end;
    return element;
  }
  function time(ms) {
    const made = document.createElement("time");
    made.dateTime = new Date(ms).toISOString();
    return fill(made);
  }
  const label = (begin, end) => (offset(begin) === offset(end) ? offset(begin) : mode === "reader" ? computer : name);
  // milliseconds of a time as shown here, or with 'Z' or an offset; null if it is none
  function parse(text) {
    const plain = text.trim().replace(" ", "T");
    const at = Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(plain) ? plain : plain + "Z");
    if (Number.isNaN(at)) return null;
    return /(Z|[+-]\d\d:\d\d)$/.test(plain) ? at : at - minutes(at - minutes(at) * 60e3) * 60e3;
  }

  const STATED = /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})( UTC| [+-]\d\d:\d\d)?(?:( to | and )((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{3}))? (UTC|[+-]\d\d:\d\d)/g;
  const instant = (text, of) => Date.parse(text.replace(" ", "T") + (of === "UTC" ? "Z" : of));
  const short = (begin, end) => (begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end);
  // a sentence with its times, which name their zone, in the zone that is shown
  function said(text) {
    if (!/\d:\d\d\.\d{3}/.test(text)) return text;
    return text.replace(STATED, (whole, first, own, word, last, of) => {
      const a = instant(first, (own || of).trim());
      if (last === undefined) return `${wall(a)} ${offset(a)}`;
      const dated = last.length > 12, b = instant(dated ? last : `${first.slice(0, 10)} ${last}`, of);
      const zoned = own || offset(a) !== offset(b) ? " " + offset(a) : "";
      return `${wall(a)}${zoned}${word}${own && dated ? wall(b) : short(wall(a), wall(b))} ${offset(b)}`;
    });
  }

  // the parts of a sentence, its times as elements
  function told(text) {
    const parts = [];
    let done = 0;
    for (const found of text.matchAll(STATED)) {
      const [, first, own, word, last, of] = found, made = time(instant(first, (own || of).trim()));
      if (last !== undefined) {
        made.dataset.word = word;
        made.dataset.until = new Date(instant(last.length > 12 ? last : `${first.slice(0, 10)} ${last}`, of)).toISOString();
        fill(made);
      }
      parts.push(text.slice(done, found.index), made);
      done = found.index + found[0].length;
    }
    return [...parts, text.slice(done)];
  }

  const root = document.querySelector("main");
  const begin = offsets[0][0], end = +select.dataset.end;
  function retell(within) {
    for (const element of within.querySelectorAll("time[datetime], time[data-until]")) fill(element);
    for (const title of within.querySelectorAll("svg title")) title.textContent = said(title.textContent);
    for (const key of ["aria-label", "title"]) {
      for (const element of within.querySelectorAll(`[${key}]`)) {
        const before = element.getAttribute(key), next = said(before);
        if (next !== before) element.setAttribute(key, next);
      }
    }
  }
  function show() {
    select.value = mode;
    for (const element of document.querySelectorAll(".zone")) element.textContent = label(begin, end);
    for (const part of [root, ...[...document.querySelectorAll("template")].map((t) => t.content)]) retell(part);
    changed.forEach((again) => again());
  }
  select.addEventListener("change", () => {
    mode = select.value;
    try { localStorage.setItem("kafka-forensics-zone", mode); } catch { /* a file may keep nothing */ }
    show();
  });
  select.querySelector("[value=reader]").textContent = `My zone: ${computer}`;
  const kept = (() => { try { return localStorage.getItem("kafka-forensics-zone"); } catch { return null; } })();
  if (kept !== mode && MODES.includes(kept)) { mode = kept; show(); }
  return { changed, said, told, time, wall, parse, label: () => label(begin, end) };
})();
