// A session of attacks: what the mode shows, a try, what the model says of it, and in the end ratings.
(async () => {
  const place = name => document.getElementById(name);
  const made = (name, attributes = {}, ...children) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };
  const MODES = {
    auto: "A program wrote this text. Read it and rate it.",
    manual: "Write it so that people still read the same, and the model does not. You are told what the model says of each try.",
    select: "Change some of these words, five at most. You are told what the model says, and how sure it is.",
    saliency: "The stronger the colour of a word, the more the model holds on to it; the map is made anew for every try. Change what you like.",
  };
  const text = place("text"), feedback = place("feedback");
  let item = null, busy = false;

  const percent = share => `${Math.round(100 * share)} %`;
  const verdict = attempt => (attempt.flipped ? "It errs: " : "Not yet: ") + `the model says “${attempt.predicted}”`
    + (attempt.p === undefined ? "" : ` (${percent(attempt.p)}${attempt.flipped ? `; right label ${percent(attempt.p_label)}` : ""})`) + ".";

  const keyword = ({ place, word, candidates }, chosen) => {
    const label = made("label", { htmlFor: `word-${place}` }, word);
    const list = made("select", { ariaLabel: `Words for ${word}` }, made("option", { value: "" }, "as it is"));
    for (const candidate of candidates) list.append(made("option", { value: candidate }, candidate));
    const typed = made("input", { type: "text", id: `word-${place}`, maxLength: 200, placeholder: "or your own word" });
    if (candidates.includes(chosen)) list.value = chosen; else typed.value = chosen || "";
    list.addEventListener("change", () => { typed.value = ""; });
    const row = made("div", { className: "keyword" }, label, ...(candidates.length ? [list] : []), typed);
    row.chosen = () => [String(place), typed.value.trim() || list.value];
    return row;
  };

  const rating = ([name, question]) => made("fieldset", { className: "rating" }, made("legend", {}, question),
    ...[1, 2, 3, 4, 5].map(value => made("label", {}, made("input", { type: "radio", name, value, required: true }), ` ${value}`)));

  const drawMap = () => {
    const most = Math.max(1e-9, ...item.scores), map = place("map");
    map.replaceChildren(item.gaps[0]);
    item.words.forEach((word, at) => {
      const mark = made("mark", { title: item.scores[at].toFixed(3) }, word);
      mark.style.setProperty("--share", Math.min(1, Math.max(0, item.scores[at] / most)).toFixed(3));
      map.append(mark, item.gaps[at + 1]);
    });
  };

  const show = state => {
    const before = item, writes = state.item && ["manual", "saliency"].includes(state.item.mode);
    item = state.item;
    const fresh = !before || !item || before.turn !== item.turn, attempts = (item && item.attempts) || [];
    place("progress").textContent = `${state.done} of ${state.size} texts`;
    document.querySelector("#task progress").value = state.done / Math.max(1, state.size);
    place("mode").textContent = item ? MODES[item.mode] : "That was all. Thank you.";
    if (item && item.mode === "select" && !item.offers_words) place("mode").textContent += " This attack changes letters, so it has no words to offer: type your own.";
    place("reference").hidden = !(item && item.original);
    place("original").textContent = (item && item.original) || "";
    place("label").textContent = item && item.label ? item.label + (item.p === undefined ? "" : ` (${percent(item.p)})`) : "";
    place("made").hidden = !item || item.mode !== "auto";
    place("made").textContent = item && item.mode === "auto" ? item.text : "";
    place("keywords").hidden = !item || item.mode !== "select";
    if (fresh) place("keywords").replaceChildren(...((item && item.keywords) || []).map(one => keyword(one)));
    place("map").hidden = !item || item.mode !== "saliency";
    if (item && item.mode === "saliency") drawMap();
    text.hidden = !writes;
    if (writes && fresh) text.value = item.text;
    place("trying").hidden = !item || item.mode === "auto";
    place("skip").hidden = !item;
    feedback.textContent = attempts.length ? verdict(attempts[attempts.length - 1]) : "";
    place("tries").replaceChildren(...attempts.map((attempt, at) => made("li", {}, made("label", {},
      made("input", { type: "radio", name: "n", value: attempt.n, checked: at === attempts.length - 1 }),
      ` ${attempt.n}. ${attempt.flipped ? "✓" : "·"} ${attempt.predicted}: ${attempt.text}`))));
    place("rating").hidden = !item || (item.mode !== "auto" && !attempts.length);
    if (fresh) place("ratings").replaceChildren(...Object.entries((item && item.ratings) || {}).map(rating));
  };

  const tell = async work => {
    if (busy) return;
    busy = true;
    try { show(await work()); } catch (error) { feedback.textContent = `Nothing was kept: ${error.message}`; } finally { busy = false; }
  };

  place("attempt").addEventListener("click", () => tell(() => askTask("attempt", item.mode === "select"
    ? { turn: item.turn, changes: Object.fromEntries([...place("keywords").children].map(row => row.chosen()).filter(pair => pair[1])) }
    : { turn: item.turn, text: text.value })));
  place("anew").addEventListener("click", () => {
    text.value = item.original;
    place("keywords").replaceChildren(...(item.keywords || []).map(one => keyword(one)));
  });
  place("skip").addEventListener("click", () => tell(() => askTask("skip", { turn: item.turn })));
  place("rating").addEventListener("submit", event => {
    event.preventDefault();
    const ratings = Object.fromEntries(Object.keys(item.ratings).map(name => [name, Number(new FormData(event.target).get(name))]));
    const chosen = document.querySelector("input[name=n]:checked");
    tell(() => askTask("submit", { turn: item.turn, ratings, ...(chosen ? { n: Number(chosen.value) } : {}) }));
  });
  await tell(() => askTask("next"));
})();
