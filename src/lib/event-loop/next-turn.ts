/** Resolves in the next turn of the event loop, so that repeated reads of a synchronous database let others have their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
