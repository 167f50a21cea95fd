/**
 * How long a test waits for anything before it reports what never came. Generous, as tests judge behaviour, not speed, and
 * machines are busy; less than the time limit of a test, so that the report says what it was.
 */
export const DEADLINE_MS = 40_000;

/** Resolves with the promise, or rejects after `ms` with an error that names what was awaited. */
export async function within<T>(
  promise: Promise<T>,
  what: string | (() => string),
  ms: number = DEADLINE_MS,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${typeof what === "string" ? what : what()}`)), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks repeatedly until the answer is not `undefined`. Only for states that nothing announces. */
export async function eventually<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  what: string | (() => string),
  ms: number = DEADLINE_MS,
  everyMs = 20,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`waited ${ms} ms for ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
