/** What one connection of a client heard, how it began and how it ended. */
export type Run = {
  /** Ids of messages in the order in which they came, repeats and all. */
  ids: string[];
  /** The message after which it was asked to begin. */
  since: string | undefined;
  /** When it was there, in milliseconds since the Unix epoch; `undefined` when it never was. */
  joinedAt: number | undefined;
  /** Whether the server said that it gives all that was missed. */
  recovered: boolean | undefined;
  /** Ids that the client then read page by page, since it was told that not all is given. */
  paged: string[];
  /** With which code the server ended it (1006: without one); streams have none. */
  closeCode: number | undefined;
};

/** What a client remembers over all of its connections. */
export type Memory = {
  readonly runs: readonly Run[];
  /** Ids of messages in the order in which they were first seen. */
  readonly seen: readonly string[];
  /** How often a connection heard an id that it had heard before. */
  readonly repeatsWithinRun: number;
  /** Times that the server said `recovered: false`. */
  readonly gapsAdmitted: number;
  /** Begins a connection, from the last message that was heard. */
  begin(): Run;
  /** The connection of the run is there. */
  join(run: Run, recovered: boolean | undefined): void;
  hear(run: Run, id: string): void;
  /** Takes in what was read page by page. */
  learn(run: Run, ids: readonly string[]): void;
  /** Resolves once an id was seen, on this connection or before. */
  waitFor(id: string): Promise<void>;
};

/** `onFirstSeen` is called with each id when it is seen for the first time. */
export function createMemory(onFirstSeen: (id: string) => void = () => undefined): Memory {
  const runs: Run[] = [];
  const seen: string[] = [];
  const known = new Set<string>();
  const heardIn = new WeakMap<Run, Set<string>>();
  const waiters = new Map<string, () => void>();
  let repeatsWithinRun = 0;
  let last: string | undefined;

  function see(id: string): void {
    if (known.has(id)) return;
    known.add(id);
    seen.push(id);
    onFirstSeen(id);
    waiters.get(id)?.();
  }

  return {
    runs,
    seen,
    get repeatsWithinRun() {
      return repeatsWithinRun;
    },
    get gapsAdmitted() {
      return runs.filter(({ recovered }) => recovered === false).length;
    },
    begin() {
      const run: Run = {
        ids: [],
        since: last,
        joinedAt: undefined,
        recovered: undefined,
        paged: [],
        closeCode: undefined,
      };
      runs.push(run);
      heardIn.set(run, new Set());
      return run;
    },
    join(run, recovered) {
      run.joinedAt = Date.now();
      run.recovered = recovered;
    },
    hear(run, id) {
      const heard = heardIn.get(run);
      if (heard?.has(id) === true) repeatsWithinRun += 1;
      heard?.add(id);
      run.ids.push(id);
      last = id;
      see(id);
    },
    learn(run, ids) {
      run.paged.push(...ids);
      for (const id of ids) see(id);
    },
    waitFor: (id) =>
      new Promise((resolve) => {
        if (known.has(id)) return resolve();
        const others = waiters.get(id);
        waiters.set(id, () => {
          others?.();
          resolve();
        });
      }),
  };
}
