// A task: one text, one key, the next text. Every answer is on disk before the next text is shown.
(async () => {
  const place = name => document.getElementById(name);
  const root = place("task"), [text, question, progress] = ["text", "question", "progress"].map(place);
  const bar = root.querySelector("progress"), buttons = [...root.querySelectorAll("[data-answer]")];
  let item = null, begun = 0, busy = false;

  const ask = async (what, content) => {
    const options = content && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
    const answer = await fetch("task/" + what, options);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };

  const show = state => {
    item = state.item;
    begun = performance.now();
    progress.textContent = `${state.done} of ${state.size} texts`;
    bar.value = state.done / Math.max(1, state.size);
    text.textContent = item ? item.text : "All of them are read. Thank you.";
    question.textContent = item ? item.question : "";
    for (const button of buttons) {
      button.disabled = !item;
      button.hidden = Boolean(item) && button.dataset.answer === item.hidden;
    }
    place("undo").disabled = !state.done;
    text.focus({ preventScroll: true });
  };

  const tell = async work => {
    if (busy) return;
    busy = true;
    try { show(await work()); } catch (error) { progress.textContent = `Nothing was kept: ${error.message}`; } finally { busy = false; }
  };

  const answer = button => item && tell(() => ask("answer", {
    id: item.id, answer: button.dataset.answer, seconds: Math.round(performance.now() - begun) / 1000,
  }));
  const undo = () => tell(() => ask("undo", {}));
  for (const button of buttons) button.addEventListener("click", () => answer(button));
  place("undo").addEventListener("click", undo);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "z") return undo();
    const pressed = buttons.find(button => !button.hidden && !button.disabled
      && (button.querySelector("kbd") || {}).textContent === event.key);
    if (pressed) answer(pressed);
  });
  await tell(() => ask("next"));
})();
