/** Resolves in the next turn of the event loop, so that other work can run between reads of a synchronous database. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
