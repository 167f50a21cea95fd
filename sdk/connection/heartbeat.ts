/** Monitors one connection. `heard()` records that something arrived; `stop()` ends the monitoring. */
export type Heartbeat = { heard(): void; stop(): void };

/** `ping` asks the server for a sign of life; `onDead` is called once if there is none. Times are in milliseconds. */
export type HeartbeatOptions = { quietMs: number; ping: () => Promise<unknown>; onDead: () => void };

/**
 * Pings when nothing has arrived for `quietMs`. Anything that arrives counts as a sign of life, so a long replay that delays the
 * response to a ping does not make the connection look dead.
 */
export function createHeartbeat({ quietMs, ping, onDead }: HeartbeatOptions): Heartbeat {
  let heardAt = performance.now();
  let stopped = false;
  let timer = setTimeout(check, quietMs);

  function check() {
    const quietForMs = performance.now() - heardAt;
    if (quietForMs < quietMs) {
      timer = setTimeout(check, quietMs - quietForMs);
      return;
    }
    const askedAt = performance.now();
    ping().then(goOn, () => (heardAt > askedAt ? goOn() : die()));
  }

  function goOn() {
    if (!stopped) timer = setTimeout(check, quietMs);
  }

  function die() {
    if (stopped) return;
    stopped = true;
    onDead();
  }

  return {
    heard() {
      heardAt = performance.now();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
