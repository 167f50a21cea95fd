// Runs clients in a process of their own, which the soak freezes, as a computer that sleeps. Orders come over Bun's channel
// between processes.
import { goodClaims, signToken } from "../harness/servers/tokens.ts";
import { type Listener, listen } from "./listener.ts";
import type { Ledger, Place } from "./recorder.ts";

/** A place, and the tokens that the app has for it. */
export type Seat = Place & { org: string; tokenSeconds: number };

/** What runs clients, and can be put to sleep. */
export type Device = {
  /** Starts clients; resolves once all are connected. */
  listen(seats: Seat[]): Promise<void>;
  /** Waits until each user shows these messages, and at most `ms`. Resolves with what the clients heard. */
  account(last: Record<string, string[]>, ms: number): Promise<Ledger[]>;
  sleep(): Promise<void>;
  wake(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

type Order = { method: "listen"; seats: Seat[] } | { method: "account"; last: Record<string, string[]>; ms: number };
type Answer = { id: number; ledgers?: Ledger[]; error?: string };

/** Creates a token that lives from now on. */
export function createToken({ org, uid, tokenSeconds }: Seat): Promise<string> {
  const { iat = 0, ...claims } = goodClaims(org, uid);
  return signToken({ ...claims, iat, exp: iat + tokenSeconds });
}

/** Starts a process without clients. */
export function startProcess(): Device {
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
    listen: async (seats) => void (await tell({ method: "listen", seats })),
    account: (last, ms) => tell({ method: "account", last, ms }),
    sleep: async () => child.kill("SIGSTOP"),
    wake: async () => child.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function serve(): void {
  const listeners = new Map<string, Listener>();

  async function obey(order: Order): Promise<Ledger[]> {
    if (order.method === "listen") {
      for (const seat of order.seats)
        listeners.set(
          seat.uid,
          listen(seat, () => createToken(seat)),
        );
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
