"use strict";
(() => {
  const root = document.documentElement;
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
  });

  // Lines that come from one source line are shown together.
  const byKey = new Map();
  for (const line of document.querySelectorAll("[data-k]"))
    for (const key of line.dataset.k.split(" ")) {
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(line);
    }
  const pane = (line) => line.closest(".scroll");
  const choose = (line) => {
    for (const old of document.querySelectorAll(".chosen")) old.classList.remove("chosen");
    const shown = new Set([pane(line)]);
    for (const key of line.dataset.k.split(" "))
      for (const other of byKey.get(key)) {
        other.classList.add("chosen");
        const place = pane(other);
        if (shown.has(place) || !other.offsetParent) continue;
        shown.add(place);
        place.scrollTop += other.getBoundingClientRect().top
          - place.getBoundingClientRect().top - place.clientHeight / 3;
      }
  };
  document.addEventListener("click", (event) => {
    const line = event.target.closest("[data-k]");
    if (line) choose(line);
  });
  document.addEventListener("keydown", (event) => {
    const line = event.target.closest("[data-k]");
    if (line && (event.key === "Enter" || event.key === " ")) {
      choose(line);
      event.preventDefault();
    }
    if (line && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const lines = [...pane(line).querySelectorAll("[data-k]")].filter((l) => l.offsetParent);
      const next = lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        next.tabIndex = 0;
        next.focus();
        choose(next);
      }
      event.preventDefault();
    }
  });
  for (const link of document.querySelectorAll("a[data-goto]"))
    link.addEventListener("click", () => {
      const found = byKey.get(link.dataset.goto);
      if (found) choose(found[0]);
    });

  for (const list of document.querySelectorAll("[role=tablist]")) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const open = (tab) => {
      for (const one of tabs) {
        const is = one === tab;
        one.setAttribute("aria-selected", String(is));
        one.tabIndex = is ? 0 : -1;
        document.getElementById(one.getAttribute("aria-controls")).hidden = !is;
      }
      const chosen = document.querySelector(".chosen");
      if (chosen) choose(chosen);
    };
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) open(tab);
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
      open(next);
      next.focus();
    });
  }

  const save = document.getElementById("save");
  if (save)
    save.addEventListener("click", () => {
      const text = document.getElementById("reproducer").textContent;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/x-python" }));
      link.download = save.dataset.name;
      link.click();
      URL.revokeObjectURL(link.href);
    });
})();
