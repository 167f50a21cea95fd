/** Resolves in the next turn of the event loop: who reads a synchronous database again and again lets others have their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
