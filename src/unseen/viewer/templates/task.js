// A task: one text, one key, the next text. Every answer is on disk before the next text is shown.
(async () => {
  const place = name => document.getElementById(name);
  const root = place("task"), [text, question, progress] = ["text", "question", "progress"].map(place);
  const bar = root.querySelector("progress"), answers = root.querySelector(".answers"), reference = place("reference");
  let item = null, begun = 0, busy = false;

  const offered = ({ value, caption, key }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.answer = value;
    if (key) {
      button.append(document.createElement("kbd"), " ");
      button.firstChild.textContent = key;
    }
    button.append(caption);
    button.addEventListener("click", () => answer(button));
    return button;
  };

  const show = state => {
    item = state.item;
    begun = performance.now();
    progress.textContent = `${state.done} of ${state.size} ${root.dataset.unit}`;
    bar.value = state.done / Math.max(1, state.size);
    text.textContent = item ? item.text : "All of them are read. Thank you.";
    question.textContent = item ? item.question : "";
    reference.hidden = !(item && item.original);
    reference.querySelector("blockquote").textContent = (item && item.original) || "";
    answers.replaceChildren(...state.answers.map(offered));
    place("undo").disabled = !state.done;
    text.focus({ preventScroll: true });
  };

  const tell = async work => {
    if (busy) return;
    busy = true;
    try { show(await work()); } catch (error) { progress.textContent = `Nothing was kept: ${error.message}`; } finally { busy = false; }
  };

  const answer = button => item && tell(() => askTask("answer", {
    id: item.id, answer: button.dataset.answer, seconds: Math.round(performance.now() - begun) / 1000,
  }));
  const undo = () => tell(() => askTask("undo", {}));
  place("undo").addEventListener("click", undo);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "z") return undo();
    const pressed = [...answers.children].find(button => (button.querySelector("kbd") || {}).textContent === event.key);
    if (pressed) answer(pressed);
  });
  await tell(() => askTask("next"));
})();
