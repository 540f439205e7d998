"use strict";
// Light and dark, on every page. `painted`: what draws again when that changes.
const theme = (() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  root.classList.add("scripted");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = (() => { try { return localStorage.getItem("kafka-forensics-theme"); } catch { return null; } })();
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const painted = [];
  function paint() {
    button.textContent = isDark() ? "Light" : "Dark";
    painted.forEach((again) => again());
  }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("kafka-forensics-theme", root.dataset.theme); } catch { /* a file may keep nothing */ }
    paint();
  });
  dark.addEventListener("change", paint);
  paint();
  return { paint, painted };
})();
