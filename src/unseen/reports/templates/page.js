// The map of a page, and the tables that it is linked with.
(async () => {
  const data = document.getElementById("points"), root = document.getElementById("live-map");
  if (!data || !root || typeof DecompressionStream === "undefined") return;
  const points = await Points.unpack(data.textContent.trim());
  const targets = new Map(); // what stands in a table -> column and value
  for (const column of points.columns) {
    for (const name of column.names) targets.set(`${column.name}=${name}`, [column.name, name]);
    if (column.name.startsWith("part in ")) targets.set(column.name.slice(8), [column.name, "test"]);
  }
  const rows = [];
  for (const head of document.querySelectorAll("tbody tr > :first-child")) {
    const text = head.textContent.trim(), first = head.closest("table").querySelector("thead th");
    const ofLabel = first && first.textContent.trim() === "class" && points.columns[0].names.includes(text);
    const slice = text.slice(text.indexOf(": ") + 1).trim(); // "words per text: source=app"
    const target = ofLabel ? [points.columns[0].name, text] : targets.get(text) || (slice.includes("=") && targets.get(slice));
    if (!target) continue;
    const button = element("button", { type: "button", className: "link", title: "show on the map" }, ...head.childNodes);
    button.addEventListener("click", () => { panel.only(target[0], [target[1]]); root.scrollIntoView({ block: "nearest" }); });
    head.replaceChildren(button);
    rows.push([head.closest("tr"), target]);
  }
  const mark = () => {
    for (const [row, [name, value]] of rows) {
      const column = points.column(name), left = points.filters.has(name) ? points.shown(column) : [];
      row.classList.toggle("linked", left.includes(column.names.indexOf(value)));
    }
  };
  const panel = new Panel(root, points, { changed: mark });
  const picture = document.querySelector(".maps figure");
  if (picture) picture.hidden = true; // the picture of the same points, for readers without scripts
})();
