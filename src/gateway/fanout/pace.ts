const bytesPerTurn = 256 * 1024; // to one connection
const writtenPerTurn = 16 * 1024 * 1024; // to all together
// While somebody is slow an organization is played at 16 MB/s at most, so that who reads at that pace is not cut.
const slowTurnMs = 16;
const slowTurnBytes = bytesPerTurn / 4;

/** How much is played in one turn of the event loop, so that a healthy reader takes what was sent before more is added. */
export type Pace = {
  /** Whether these bytes may be played in this turn. An event that is alone in it always may. */
  allows(bytes: number): boolean;
  /** These bytes were played, to so many connections, and one of them may be slow to take them. */
  note(bytes: number, played: { connections: number; isSlow: boolean }): void;
};

/** Calls `onTurn` when a turn in which something was played is over, and the next one has begun. */
export function createPace(onTurn: () => void): Pace {
  let turnBytes = 0; // played in this turn
  let turnWritten = 0; // the same, times the connections that it was played to
  let isTurnEnding = false;
  let isTurnSlow = false;

  function endTurn(): void {
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(() => {
      if (isTurnSlow && turnBytes >= slowTurnBytes) setTimeout(beginTurn, slowTurnMs);
      else beginTurn();
    });
  }

  function beginTurn(): void {
    isTurnEnding = false;
    isTurnSlow = false;
    turnBytes = 0;
    turnWritten = 0;
    onTurn();
  }

  return {
    allows: (bytes) => turnBytes === 0 || (turnBytes + bytes <= bytesPerTurn && turnWritten < writtenPerTurn),
    note(bytes, { connections, isSlow }) {
      turnWritten += connections * bytes;
      turnBytes += bytes;
      isTurnSlow ||= isSlow;
      endTurn();
    },
  };
}
