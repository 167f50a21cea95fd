// Runs clients in a process of their own, which the soak freezes, as a computer that sleeps. Orders come over Bun's channel
// between processes.
import { type Ledger, type Listener, listen, type Place } from "./listener.ts";

type Order = { method: "listen"; places: Place[] } | { method: "account"; last: Record<string, string[]>; ms: number };
type Answer = { id: number; ledgers?: Ledger[]; error?: string };

/** A process with clients. */
export type Device = {
  /** Starts clients; resolves once all are connected. */
  listen(places: Place[]): Promise<void>;
  /** Waits until each user shows these messages, and at most `ms`. Resolves with what the clients heard. */
  account(last: Record<string, string[]>, ms: number): Promise<Ledger[]>;
  sleep(): void;
  wake(): void;
  [Symbol.dispose](): void;
};

/** Starts a process without clients. */
export function startDevice(): Device {
  const waiting = new Map<number, PromiseWithResolvers<Ledger[]>>();
  let lastId = 0;
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc({ id, ledgers = [], error }: Answer) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(ledgers);
      else call?.reject(new Error(error));
    },
  });
  process.on("exit", () => child.kill("SIGKILL"));
  void child.exited.then((code) => {
    for (const call of waiting.values()) call.reject(new Error(`a process with clients ended with ${code}`));
  });

  function tell(order: Order): Promise<Ledger[]> {
    const call = Promise.withResolvers<Ledger[]>();
    lastId += 1;
    waiting.set(lastId, call);
    child.send({ id: lastId, ...order });
    return call.promise;
  }

  return {
    listen: async (places) => void (await tell({ method: "listen", places })),
    account: (last, ms) => tell({ method: "account", last, ms }),
    sleep: () => child.kill("SIGSTOP"),
    wake: () => child.kill("SIGCONT"),
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

function serve(): void {
  const listeners = new Map<string, Listener>();

  async function obey(order: Order): Promise<Ledger[]> {
    if (order.method === "listen") {
      for (const place of order.places) listeners.set(place.uid, listen(place));
      await Promise.all([...listeners.values()].map(({ untilConnected }) => untilConnected));
      return [];
    }
    const accounts = [...listeners].map(([uid, listener]) => listener.account(order.last[uid] ?? [], order.ms));
    return await Promise.all(accounts);
  }

  process.on("message", (message: { id: number } & Order) => {
    obey(message).then(
      (ledgers) => process.send?.({ id: message.id, ledgers } satisfies Answer),
      (error: unknown) => process.send?.({ id: message.id, error: String(error) } satisfies Answer),
    );
  });
  process.on("disconnect", () => process.exit(0)); // the parent is gone
}

if (import.meta.main) serve();
