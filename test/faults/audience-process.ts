// Runs an audience in a process of its own, so that thousands of clients do not compete with the callers for one event
// loop. Orders come over Bun's channel between processes.
import { type Audience, type AudiencePlan, type Hearing, openAudience } from "./audience.ts";
import type { Past } from "./judging/verdict.ts";

type Order =
  | { method: "open"; plan: AudiencePlan }
  | { method: "heard"; ids: string[]; ms: number }
  | { method: "pause" | "resume" }
  | { method: "account"; stored: string[]; pasts: readonly Past[] };
type Answer = { id: number; value?: Hearing | undefined; error?: string };

/** Like `openAudience`, in another process. */
export async function spawnAudience(plan: AudiencePlan): Promise<Audience> {
  const waiting = new Map<number, PromiseWithResolvers<Hearing | undefined>>();
  let lastId = 0;
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc({ id, value, error }: Answer) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new Error(error));
    },
  });
  process.on("exit", () => child.kill("SIGKILL"));
  void child.exited.then((code) => {
    for (const call of waiting.values()) call.reject(new Error(`the audience's process ended with ${code}`));
  });

  function tell(order: Order): Promise<Hearing | undefined> {
    const call = Promise.withResolvers<Hearing | undefined>();
    lastId += 1;
    waiting.set(lastId, call);
    child.send({ id: lastId, ...order });
    return call.promise;
  }

  await tell({ method: "open", plan });
  return {
    heard: async (ids, ms) => void (await tell({ method: "heard", ids, ms })),
    pause: async () => void (await tell({ method: "pause" })),
    resume: async () => void (await tell({ method: "resume" })),
    async account(stored, pasts) {
      const hearing = await tell({ method: "account", stored, pasts });
      if (hearing === undefined) throw new Error("the audience's process gave no account");
      return hearing;
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

async function serve(): Promise<void> {
  let audience: Audience | undefined;

  async function obey(order: Order): Promise<Hearing | undefined> {
    if (order.method === "open") {
      audience = await openAudience(order.plan);
      return undefined;
    }
    if (audience === undefined) throw new Error("there is no audience yet");
    if (order.method === "account") return await audience.account(order.stored, order.pasts);
    if (order.method === "heard") await audience.heard(order.ids, order.ms);
    else await audience[order.method]();
    return undefined;
  }

  process.on("message", (message: { id: number } & Order) => {
    obey(message).then(
      (value) => process.send?.({ id: message.id, value } satisfies Answer),
      (error: unknown) => process.send?.({ id: message.id, error: String(error) } satisfies Answer),
    );
  });
  process.on("disconnect", () => process.exit(0)); // the parent is gone
}

if (import.meta.main) await serve();
