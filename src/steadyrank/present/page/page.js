const page = (() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("page-data").textContent);
  const panel = byId("page-panel");
  const tip = byId("page-tip");
  const root = document.documentElement;
  root.classList.add("js");

  function made(tag, text = "", className = "") {
    const element = document.createElement(tag);
    element.textContent = text;
    element.className = className;
    return element;
  }

  /* Light and dark: the system's wish until the button is pressed; nothing is stored. */
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (systemDark.matches ? "dark" : "light")) === "dark";
  function nameTheme() {
    byId("page-theme").textContent = isDark() ? "Light theme" : "Dark theme";
  }
  byId("page-theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  systemDark.addEventListener("change", nameTheme);
  nameTheme();

  function openPanel(title, body) {
    byId("page-panel--title").textContent = title;
    panel.querySelector(".body").replaceChildren(body);
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
  }

  /* Copying: the clipboard where there is one, else the old command, else text to copy by hand. */
  async function copy(text, status) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      if (!copiedFromPanel(text)) return;
    }
    status.textContent = "Copied.";
  }

  function copiedFromPanel(text) {
    const area = made("textarea");
    area.readOnly = true;
    area.value = text;
    area.setAttribute("aria-label", "Text to copy");
    openPanel("Copy this text", area);
    area.focus();
    area.select();
    const copied = document.execCommand("copy");
    if (copied) panel.close();
    return copied;
  }

  /* Tables. Missing values stand last in either direction; equal ones keep their order. */
  function compare(a, b, direction) {
    if (a === null || b === null) return (a === null) - (b === null);
    return a === b ? 0 : a < b ? -direction : direction;
  }

  function sortKey(cell, isNumber) {
    const text = cell.dataset.v ?? cell.textContent;
    if (text === "") return null;
    return isNumber ? Number(text) : text;
  }

  function sortRows(table, th) {
    const body = table.tBodies[0];
    const column = th.cellIndex;
    const isNumber = th.classList.contains("n");
    const before = th.getAttribute("aria-sort");
    const rises = before ? before === "descending" : !isNumber;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", rises ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => [sortKey(row.cells[column], isNumber), row]);
    keyed.sort((a, b) => compare(a[0], b[0], rises ? 1 : -1));
    const sorted = document.createDocumentFragment();
    for (const [, row] of keyed) sorted.append(row);
    body.append(sorted);
  }

  function setUpTable(box) {
    const head = box.querySelector("thead");
    const body = box.querySelector("tbody");
    const rows = [...body.rows];
    const places = new Map(rows.map((row, i) => [row, i]));
    const filter = box.querySelector("input[type=search]");
    const kinds = [...box.querySelectorAll("select")];
    const columns = (box.dataset.filter ?? "").split(" ");
    const firsts = box.querySelector("input[type=checkbox]");
    const status = box.querySelector(".status");
    const all = box.querySelector(".all");
    let open = !all;

    // Rows with what was typed, of the chosen kinds; the first of each, if asked.
    function matching() {
      const typed = filter ? filter.value.trim().toLowerCase() : "";
      const met = new Set();
      const rank = [...rows].filter((row) => {
        const of = kinds.map((kind, i) => row.cells[columns[i]].textContent);
        if (kinds.some(({ value }, i) => value && of[i] !== value)) return false;
        if (firsts?.checked && (met.has(of[0]) || !met.add(of[0]))) return false;
        return [...row.cells].some((cell) =>
          `${cell.textContent} ${cell.dataset.v ?? ""}`.toLowerCase().includes(typed));
      });
      const wanted = Boolean(typed || firsts?.checked || kinds.some((kind) => kind.value));
      return { wanted, kept: new Set(rank) };
    }

    function layOut() {
      const { wanted, kept } = matching();
      let found = 0;
      let reachable = false;
      for (const row of body.rows) {
        const matches = kept.has(row);
        if (matches) found += 1;
        const folded = !open && !wanted && found > Number(box.dataset.shown);
        row.classList.toggle("out", !matches);
        row.classList.toggle("folded", folded);
        // One stop for Tab among the cells that tell more; arrows go from one to the next.
        for (const cell of row.querySelectorAll("[tabindex]")) {
          cell.tabIndex = matches && !folded && !reachable ? 0 : -1;
          reachable ||= cell.tabIndex === 0;
        }
      }
      status.textContent = wanted ? `${found} of ${rows.length} rows` : "";
      box.querySelector(".scroll").classList.toggle("open", open && Boolean(all));
    }

    // The rows that match the filter, folded or not, in the order of the moment.
    function text(form) {
      const parts = data.tables[box.id][form];
      const chosen = [...body.rows].filter((row) => !row.classList.contains("out"));
      return parts.head + chosen.map((row) => parts.rows[places.get(row)]).join("") + parts.foot;
    }

    head.addEventListener("click", (event) => {
      if (!event.target.closest("button")) return;
      sortRows(box.querySelector("table"), event.target.closest("th"));
      layOut();
    });
    body.addEventListener("keydown", (event) => {
      const next = neighbour(event.target.closest("th[tabindex], td[tabindex]"), event.key);
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    for (const control of [filter, ...kinds, firsts]) control?.addEventListener("input", layOut);
    all?.addEventListener("click", () => {
      open = !open;
      all.textContent = open ? `Show ${box.dataset.shown} rows` : `Show all ${rows.length} rows`;
      all.setAttribute("aria-expanded", String(open));
      layOut();
    });
    for (const button of box.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", () => copy(text(button.dataset.copy), status));
    }
    layOut();
  }

  function neighbour(cell, key) {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key];
    if (!cell || !step) return null;
    const alongRow = key === "ArrowLeft" || key === "ArrowRight";
    const side = step < 0 ? "previousElementSibling" : "nextElementSibling";
    let line = alongRow ? cell : cell.parentElement;
    while ((line = line[side])) {
      const found = alongRow ? line : line.cells[cell.cellIndex];
      if (found.hasAttribute("tabindex") && found.offsetParent) return found;
    }
    return null;
  }

  /* Sections fold; a link into one opens it, and opening one is a place to come back to. */
  const folds = [...document.querySelectorAll("details")];
  const place = (hash) => {
    try {
      history.replaceState(null, "", hash);
    } catch {
      // Some browsers refuse this to files; the address then keeps what it was.
    }
  };
  function unfold(target) {
    const own = target.querySelector(":scope > details");
    for (let fold = own ?? target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
  }
  function reveal() {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(target);
    target.scrollIntoView();
  }
  for (const fold of folds) {
    fold.querySelector("summary").addEventListener("click", () => {
      if (!fold.open && fold.parentElement.id) place(`#${fold.parentElement.id}`);
    });
  }

  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close();
  });
  addEventListener("hashchange", reveal);

  /* Figures: a downloaded one must stand on its own, on white paper. */
  function download(button) {
    const drawing = button.closest("figure").querySelector("svg").cloneNode(true);
    for (const element of [drawing, ...drawing.querySelectorAll("*")]) {
      for (const { name, value } of [...element.attributes]) {
        if (value.toLowerCase() === "currentcolor") element.setAttribute(name, "black");
      }
    }
    const text = new XMLSerializer().serializeToString(drawing);
    const link = made("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = button.dataset.download;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /* Hover texts, at once and for the keyboard too; the browser's own would come second. */
  let told = null;

  function hideTip() {
    told?.restore();
    told = null;
    tip.hidden = true;
  }

  function hoverOf(target) {
    for (let element = target; element instanceof Element; element = element.parentElement) {
      const text = element.getAttribute("title");
      if (text) {
        element.removeAttribute("title");
        return { element, text, restore: () => element.setAttribute("title", text) };
      }
      if (element instanceof SVGSVGElement) return null;
      const title = element instanceof SVGElement && element.querySelector(":scope > title");
      if (title) {
        title.remove();
        return { element, text: title.textContent, restore: () => element.prepend(title) };
      }
    }
    return null;
  }

  function showTip(target, point) {
    if (told?.element.contains(target)) return;
    hideTip();
    told = hoverOf(target);
    if (!told) return;
    tip.textContent = told.text;
    tip.hidden = false;
    placeTip(point);
  }

  // Below the element, or above where the window ends; in a drawing at the pointer.
  function placeTip(point) {
    const box = told.element.getBoundingClientRect();
    const inDrawing = point && told.element instanceof SVGElement;
    const left = inDrawing ? point.clientX : box.left;
    const top = (inDrawing ? point.clientY : box.top) - tip.offsetHeight - 6;
    const below = (inDrawing ? point.clientY + 12 : box.bottom) + 6;
    const fits = below + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(left, root.clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${fits ? below : Math.max(4, top)}px`;
  }

  document.addEventListener("pointerover", (event) => showTip(event.target, event));
  root.addEventListener("pointerleave", hideTip);
  document.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible")) showTip(target);
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") hideTip();
  });
  document.addEventListener("scroll", () => {
    if (told?.element.matches(":hover, :focus")) placeTip();
    else hideTip();
  }, true);

  // A name that is shown short sorts and filters by the whole of it.
  document.querySelectorAll("[data-name]").forEach((cell) => { cell.dataset.v = cell.title; });
  document.querySelectorAll(".table").forEach(setUpTable);
  document.querySelectorAll("[data-sorts]").forEach((table) => {
    table.tHead.addEventListener("click", (event) => {
      if (event.target.closest("button")) sortRows(table, event.target.closest("th"));
    });
  });
  document.querySelectorAll("[data-download]").forEach((button) => {
    button.addEventListener("click", () => download(button));
  });
  // A drawing that scrolls can be reached by the keyboard.
  const scrolling = new ResizeObserver((drawings) => {
    for (const { target } of drawings) {
      const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll(".drawing").forEach((drawing) => scrolling.observe(drawing));
  byId("page-copy-command")?.addEventListener("click", (event) => {
    const block = event.target.closest(".command");
    copy(block.querySelector("code").textContent, block.querySelector(".status"));
  });
  reveal();
  return { data, copy, made, place, unfold };
})();
