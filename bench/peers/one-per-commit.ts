// Floor of group commit: Herald's own path of a send on its own store, with one send per commit. There is no gateway,
// as nobody is connected. BENCH_BATCH_SIZE sets another number of sends per commit.
import { join } from "node:path";
import { Hono } from "hono";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import { createBind } from "../../src/http/bind.ts";
import type { Router } from "../../src/http/call/exchange.ts";
import { newCall, type Runtime } from "../../src/http/calls.ts";
import { bindMessages } from "../../src/http/routes/messages.ts";
import { createThreadScheduler } from "../../src/lib/event-loop/thread-scheduler.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { createAudit } from "../../src/services/audit.ts";
import type { AwaitedSends } from "../../src/services/delivery/awaited-sends.ts";
import { createKeyring } from "../../src/services/keys/keyring.ts";
import { createRefusals } from "../../src/services/limits/refusals.ts";
import { createMessages } from "../../src/services/messages/messages.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore, createWrites } from "../../src/store/store.ts";
import { benchOrg } from "../harness/organization.ts";
import { sayListening } from "../harness/servers.ts";

const [dataDir = "."] = process.argv.slice(2);
const batchSize = Number(process.env.BENCH_BATCH_SIZE ?? 1);
const clock = systemClock;
const driver = openSqlite(join(dataDir, "one-per-commit.db"));
await migrateStore(driver);
const announce = () => undefined;
const thread = createThreadScheduler();
const store = createStore({ reader: driver, writes: createWrites({ driver, thread, announce }), announce, batchSize });
await store.organizations.put(benchOrg.id, undefined, clock.now());
await store.conversations.put(benchOrg.id, benchOrg.quiet, { participants: [benchOrg.sender] }, clock.now());

const onError = (error: unknown) => console.error(error);
const keyring = createKeyring({
  keys: store.keys,
  bootstrap: { initial: { key: benchOrg.key, former: [] }, store: undefined },
  onKey: () => undefined,
  secret: benchOrg.key,
  clock,
  elapsed: clock,
  refusals: createRefusals({ perSecond: Number.POSITIVE_INFINITY, burst: 0, clock }),
  onError,
});
const use = {
  know: () => undefined,
  admitRequest: () => undefined,
  admitOnceKnown: () => undefined,
  chargeRequest: () => undefined,
  admitSend: async () => () => undefined,
};
const limits = { requestBytes: Number.POSITIVE_INFINITY, jsonDepth: defaultPayloadLimits.jsonDepth, idleSeconds: 30 };
const app: Router = new Hono();
const bind = createBind({
  app,
  authentication: keyring.authentication,
  rateLimit: { admit: () => undefined, charge: () => undefined },
  use,
  thread,
  audit: createAudit({ keepDays: 1, settleMs: 0, ...store, redact: (text) => text, clock, elapsed: clock, onError }),
  longAnswers: { bodyOf: (text) => text },
  clientAddress: () => "",
  limits,
  redact: (text) => text,
  onError,
});
const awaited: AwaitedSends = { follow: (_send, _wish, append) => append() };
const services = {
  messages: createMessages({ ...store, use, clock, awaited }),
  reads: { mark: neverUsed, markAs: neverUsed },
  changes: { edit: neverUsed, react: neverUsed, recall: neverUsed, recallSystem: neverUsed },
  appends: { find: neverUsed, appendTo: neverUsed, append: neverUsed },
  appendStreams: { open: neverUsed },
  dryRuns: {
    message: neverUsed,
    systemMessage: neverUsed,
    edit: neverUsed,
    react: neverUsed,
    recall: neverUsed,
    recallSystem: neverUsed,
    read: neverUsed,
  },
  typingCalls: { tell: neverUsed },
  batches: { open: neverUsed, stop: neverUsed },
  limits,
};
bindMessages(bind, createOperations(defaultPayloadLimits), services);

function neverUsed(): never {
  throw new Error("nobody tries anything out here, or asks for much");
}

const fetch = (request: Request, runtime: Runtime) => app.fetch(request, newCall(request, { from: runtime }));
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch });
sayListening(server.port);
