/** What one connection of a client heard, how it began and how it ended. */
export type Run = {
  /** Message ids in order of arrival, including repeats. */
  ids: string[];
  /** The message after which it was to begin. */
  since: string | undefined;
  /** When it was established, in milliseconds since the Unix epoch; `undefined` if it never was. */
  joinedAt: number | undefined;
  /** Whether the server said that it would deliver everything missed. */
  recovered: boolean | undefined;
  /** Ids that the client then read page by page, as it was told that not everything would be delivered. */
  paged: string[];
  /** The code with which the server ended it (1006: none); streams have no codes. */
  closeCode: number | undefined;
};

/** What a client remembers across all its connections. */
export type Memory = {
  readonly runs: readonly Run[];
  /** Message ids in the order in which they were first seen. */
  readonly seen: readonly string[];
  /** How often a connection repeated an id. */
  readonly repeatsWithinRun: number;
  /** How often the server said `recovered: false`. */
  readonly gapsAdmitted: number;
  /** Begins a connection, resuming after the last message heard. */
  begin(): Run;
  /** The run's connection is established. */
  join(run: Run, recovered: boolean | undefined): void;
  hear(run: Run, id: string): void;
  /** Adds what was read page by page. */
  learn(run: Run, ids: readonly string[]): void;
  /** Resolves once an id has been seen, on this connection or an earlier one. */
  waitFor(id: string): Promise<void>;
};

/** Creates an empty memory. `onFirstSeen` is called with each id when first seen. */
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
