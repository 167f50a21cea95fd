import { mostOfShard } from "./socket-topics.ts";

const bytesPerTurn = 256 * 1024; // per connection
const writtenPerTurn = 16 * 1024 * 1024; // all connections together
const deliveriesPerTurn = 4_000; // to each shard of a topic, which take some 2.5 ms
// While some connection is slow, an organization is played at no more than 16 MB/s, so that a client that can read that
// fast is not cut.
const slowTurnMs = 16;
const slowTurnBytes = bytesPerTurn / 4;

/**
 * Ends a turn of an organization. Returns a promise if its next one must wait, which tells whether a socket was slow to take what
 * was written meanwhile.
 */
export type Leave = () => Promise<boolean> | undefined;

/**
 * Creates the pace of an organization: limits how much is played in one turn of the event loop, so that a healthy reader can
 * take it before more is added, and other organizations get their turn. Calls `onTurn` at the start of the turn after one in
 * which something was played.
 */
export function createPace(onTurn: () => void, leave: Leave) {
  let turnBytes = 0; // played in this turn
  let turnWritten = 0; // bytes played in this turn, times the connections they went to
  let turnDeliveries = 0;
  let isTurnEnding = false;
  let isTurnSlow = false;
  let isWaiting = false;

  function endTurn(): void {
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(leaveTurn);
  }

  function leaveTurn(): void {
    const rest = leave();
    isWaiting = rest !== undefined;
    if (rest === undefined) restIfSlow(false);
    else void rest.then(restIfSlow);
  }

  function restIfSlow(wasSlow: boolean): void {
    if ((isTurnSlow || wasSlow) && turnBytes >= slowTurnBytes) setTimeout(beginTurn, slowTurnMs);
    else beginTurn();
  }

  function beginTurn(): void {
    isTurnEnding = false;
    isTurnSlow = false;
    isWaiting = false;
    turnBytes = 0;
    turnWritten = 0;
    turnDeliveries = 0;
    onTurn();
  }

  const hasRoom = () => turnWritten < writtenPerTurn && turnDeliveries < deliveriesPerTurn;

  return {
    /**
     * Whether this many more bytes may be played in this turn. The first event of a turn always may, but none may while the
     * organization waits for its next turn.
     */
    allows: (bytes: number): boolean =>
      !isWaiting && (turnBytes === 0 || (turnBytes + bytes <= bytesPerTurn && hasRoom())),
    /** Notes bytes played, to how many connections, and whether any of those is slow. */
    note(bytes: number, { connections, isSlow }: { connections: number; isSlow: boolean }): void {
      turnWritten += connections * bytes;
      turnBytes += bytes;
      turnDeliveries += Math.min(connections, mostOfShard);
      isTurnSlow ||= isSlow;
      endTurn();
    },
  };
}
