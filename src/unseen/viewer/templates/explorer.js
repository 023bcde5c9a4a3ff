// The table of texts beside the map. What it shows comes from the page itself, or from the server that sent it.
(async () => {
  const root = document.getElementById("live-map");
  if (!root) return;
  const held = document.getElementById("points"), text = document.getElementById("all-texts");
  const unpacked = async packed => {
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  };
  const asked = async place => {
    const answer = await fetch(place);
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  };
  const points = held ? await Points.unpack(held.textContent.trim()) : new Points(await (await asked("points.bin")).arrayBuffer());
  const texts = text ? await (await unpacked(text)).json() : null;
  const kept = new Map();

  const textsOf = async rows => { // texts of some rows, or nothing where there are none
    if (texts) return rows.map(row => texts[row]);
    if (held) return null;
    const missing = rows.filter(row => !kept.has(row));
    if (missing.length) {
      const found = await (await asked("texts?rows=" + missing.join(","))).json();
      if (!found.texts) return null;
      missing.forEach((row, place) => kept.set(row, found.texts[place]));
    }
    return rows.map(row => kept.get(row));
  };

  const search = async words => {
    if (!words) return null;
    const mask = new Uint8Array(points.count), parts = words.toLowerCase().split(/\s+/);
    if (held) {
      for (let row = 0; row < points.count; row++) {
        const whole = (points.id(row) + "\n" + (texts ? texts[row] : "")).toLowerCase();
        mask[row] = parts.every(part => whole.includes(part)) ? 1 : 0;
      }
    } else for (const row of (await (await asked("search?q=" + encodeURIComponent(words))).json()).rows) mask[row] = 1;
    return mask;
  };

  const more = async row => { // what the server knows of one text; in a page by itself, its text alone
    if (held) return texts ? [element("p", { className: "text" }, texts[row])] : highlighted(points.highlights[points.id(row)]);
    const known = await (await asked("text?row=" + row)).json(), made = [];
    if (known.highlights) made.push(...highlighted(known.highlights));
    else if (known.text !== null) made.push(element("p", { className: "text" }, known.text));
    if (known.answers.length) {
      const lines = known.answers.map(({ by, probabilities }) => [by, listed(Object.entries(probabilities).sort(([, a], [, b]) => b - a))]);
      made.push(element("p", {}, "What models said that had not seen it, by what they were trained on"), described(lines));
    }
    if (known.nearest.length) {
      const items = known.nearest.map(near => {
        const button = element("button", { type: "button" }, `${near.id} (${near.label})`);
        button.addEventListener("click", () => panel.map.choose(near.row));
        return element("li", {}, button, near.text === null ? "" : element("p", { className: "text" }, near.text));
      });
      made.push(element("p", {}, "Nearest training texts"), element("ul", {}, ...items));
    }
    return made;
  };

  // -- the table
  const SIZE = 25, FIRST = ["label", "answer", "right or wrong", "sureness", "suspected label", "tested by"];
  const shown = [...FIRST.map(name => points.column(name)).filter(Boolean),
    ...points.columns.filter(({ name }) => !FIRST.includes(name) && !/^(part in|cluster of) /.test(name))];
  const [body, head] = ["tbody", "thead tr"].map(place => document.querySelector("#table " + place));
  let order = [], page = 0, sorted = null, chosen = -1, rows = [];

  const arrange = () => {
    order = [];
    for (let row = 0; row < points.count; row++) if (points.visible[row]) order.push(row);
    if (sorted) {
      const { codes } = sorted.column, sign = sorted.down ? -1 : 1;
      order.sort((a, b) => sign * (codes[a] - codes[b]) || a - b);
    }
    page = 0;
    draw();
  };

  const draw = async () => {
    const last = Math.max(0, Math.ceil(order.length / SIZE) - 1);
    page = Math.min(Math.max(0, page), last);
    rows = order.slice(page * SIZE, (page + 1) * SIZE);
    chosen = -1;
    document.getElementById("page").textContent = order.length ? `page ${page + 1} of ${last + 1}` : "no text is left";
    const known = texts || !held;
    const textHead = known ? [element("th", { scope: "col" }, "text")] : [];
    head.replaceChildren(element("th", { scope: "col" }, "id"), ...textHead, ...shown.map(column => {
      const up = sorted && sorted.column === column;
      const button = element("button", { type: "button" }, column.name + (up ? (sorted.down ? " ↓" : " ↑") : ""));
      button.addEventListener("click", () => {
        sorted = { column, down: Boolean(up && !sorted.down) };
        arrange();
      });
      const cell = element("th", { scope: "col" }, button);
      if (up) cell.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      return cell;
    }));
    const now = rows, found = await textsOf(rows);
    if (now !== rows) return; // somebody was faster
    body.replaceChildren(...rows.map((row, place) => {
      const textCell = known ? [element("td", { className: "long text" }, found ? found[place] : "–")] : [];
      const line = element("tr", {}, element("th", { scope: "row" }, points.id(row)), ...textCell,
        ...shown.map(column => element("td", {}, points.value(column, row))));
      line.addEventListener("click", () => { choose(place); panel.map.choose(row); });
      return line;
    }));
  };

  const choose = place => {
    chosen = Math.min(Math.max(0, place), rows.length - 1);
    [...body.rows].forEach((line, at) => line.classList.toggle("chosen", at === chosen));
    if (body.rows[chosen]) body.rows[chosen].scrollIntoView({ block: "nearest" });
  };

  const turn = by => { page += by; draw(); };
  document.getElementById("back").addEventListener("click", () => turn(-1));
  document.getElementById("next").addEventListener("click", () => turn(1));
  const box = document.getElementById("search");
  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => { points.found = await search(box.value.trim()); points.update(); panel.refresh(); }, 200);
  });
  box.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === "Escape") box.blur(); });
  document.addEventListener("keydown", event => {
    if (/input|select/i.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      "/": () => box.focus(), j: () => choose(chosen + 1), k: () => choose(chosen - 1), n: () => turn(1), p: () => turn(-1),
      PageDown: () => turn(1), PageUp: () => turn(-1),
    };
    if (event.key === "Enter" && event.target === document.body && rows.length) panel.map.choose(rows[Math.max(0, chosen)]);
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const panel = new Panel(root, points, { more, alone: Boolean(held), changed: arrange });
})();
