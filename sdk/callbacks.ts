/**
 * Calls what the app gave, which may be async. An error that it throws, or with which it rejects, goes to `onThrown`, so that it
 * neither breaks what called it nor ends the program. Never rejects.
 */
export async function callSafely(callback: () => unknown, onThrown: (error: unknown) => void): Promise<void> {
  try {
    await callback();
  } catch (error) {
    onThrown(error);
  }
}

/** Shows an error that nobody handles: in a page as an uncaught one, elsewhere on the console, as an uncaught one would end the program. */
export function reportUnheard(error: unknown): void {
  if (globalThis.document) reportError(error);
  // biome-ignore lint/suspicious/noConsole: the app has not said where else its errors go
  else console.error(error);
}
