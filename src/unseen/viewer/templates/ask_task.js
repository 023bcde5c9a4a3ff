// What a task says: its state, or what came of an action.
const askTask = async (action, content) => {
  const options = content && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
  const answer = await fetch("task/" + action, options);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
