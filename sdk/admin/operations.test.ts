import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AdminClient, createAdmin } from "./admin.ts";
import type { CallOptions } from "./exchange.ts";

type Parameter = { name: string; in: "path" | "query" | "header"; description?: string };
type Operation = { operationId: string; parameters?: Parameter[]; requestBody?: object };
type Document = { paths: Record<string, Record<string, Operation>> };
type Call = (admin: AdminClient, options: CallOptions) => Promise<unknown> | AsyncGenerator<unknown, void>;

const document: Document = JSON.parse(readFileSync(join(import.meta.dir, "../../docs/reference/openapi.json"), "utf8"));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
);

const send = { organizationId: "o", senderId: "u", message: { cid: "c", body: "b" } };
const system = { organizationId: "o", senderId: "u", messageSystem: { uids: ["u"] } };
const edit = { organizationId: "o", senderId: "u", messageEdit: { id: "m", body: "b" } };
const piece = { organizationId: "o", senderId: "u", messageAppend: { id: "m", offset: 0, text: "t" } };
const systemRecall = { organizationId: "o", senderId: "u", messageSystemDelete: { ids: ["s"] } };
const typing = { organizationId: "o", senderId: "u", typing: { cid: "c", status: "start" as const } };
const recall = {
  organizationId: "o",
  senderId: "u",
  messageDelete: { cid: "c", ids: ["m"], type: "all" as const },
};
const reaction = { organizationId: "o", senderId: "u", messageReaction: { mid: "m", add: "👍" } };
const read = { organizationId: "o", senderId: "u", messageRead: { cid: "c" } };
const order = { send_at: "2026-12-01T09:00:00Z", request: send };
const page = { limit: 1, cursor: "x" };
const bytes = () => new Response("{}\n").body ?? new ReadableStream<Uint8Array>();

/** How to make each operation of the document. A new one needs a method and a line here; each parameter is given once. */
const calls: Record<string, Call[]> = {
  sendMessage: [
    (a, o) => a.sendMessage(send, { ...o, wait: 1 }),
    (a, o) => a.tryMessage(send, o),
    (a, o) => a.stream(send, o),
    (a, o) => a.pipe(["x"], send, o),
  ],
  appendToMessage: [(a, o) => a.append(piece, o)],
  editMessage: [(a, o) => a.editMessage(edit, o), (a, o) => a.tryEdit(edit, o)],
  updateReactions: [(a, o) => a.react(reaction, o), (a, o) => a.tryReaction(reaction, o)],
  recallMessages: [(a, o) => a.recallMessages(recall, o), (a, o) => a.tryRecall(recall, o)],
  sendSystemMessage: [
    (a, o) => a.sendSystemMessage(system, { ...o, wait: 1 }),
    (a, o) => a.trySystemMessage(system, o),
  ],
  tellTyping: [(a, o) => a.tellTyping(typing, o)],
  markRead: [(a, o) => a.markRead(read, o), (a, o) => a.tryRead(read, o)],
  sendBatch: [
    (a, o) => a.sendBatch([send], { ...o, rate: 5, dryRun: true }),
    (a, o) => a.sendBatchLines(bytes(), { ...o, rate: 5, dryRun: true }),
  ],
  recallSystemMessages: [
    (a, o) => a.recallSystemMessages(systemRecall, o),
    (a, o) => a.trySystemRecall(systemRecall, o),
  ],
  putScheduled: [(a, o) => a.schedule("o", "s", order, o), (a, o) => a.trySchedule("o", "s", order, o)],
  getScheduled: [(a, o) => a.getScheduled("o", "s", o)],
  deleteScheduled: [(a, o) => a.cancelScheduled("o", "s", o)],
  listScheduled: [(a, o) => a.listScheduled("o", { ...page, state: "waiting" }, o)],
  putProposal: [(a, o) => a.propose("o", "p", { request: order.request, reason: "why" }, o)],
  getProposal: [(a, o) => a.getProposal("o", "p", o)],
  approveProposal: [(a, o) => a.approveProposal("o", "p", { reason: "why" }, o)],
  rejectProposal: [(a, o) => a.rejectProposal("o", "p", undefined, o)],
  listProposals: [(a, o) => a.listProposals("o", { ...page, state: "waiting" }, o)],
  putOrganization: [(a, o) => a.putOrganization("o", {}, o)],
  getOrganization: [(a, o) => a.getOrganization("o", o)],
  deleteOrganization: [(a, o) => a.deleteOrganization("o", o)],
  listOrganizations: [(a, o) => a.listOrganizations(page, o)],
  putUser: [(a, o) => a.putUser("o", "u", {}, o)],
  getUser: [(a, o) => a.getUser("o", "u", o)],
  deleteUser: [(a, o) => a.deleteUser("o", "u", { messages: "erase" }, o)],
  listUsers: [(a, o) => a.listUsers("o", { ...page, prefix: "p" }, o)],
  revokeToken: [(a, o) => a.revokeToken("o", "u", "j", o)],
  deleteSessions: [(a, o) => a.endSessions("o", "u", o)],
  createToken: [(a, o) => a.createToken("o", "u", {}, o)],
  putConversation: [(a, o) => a.putConversation("o", "c", {}, o)],
  getConversation: [(a, o) => a.getConversation("o", "c", o)],
  deleteConversation: [(a, o) => a.deleteConversation("o", "c", o)],
  listConversations: [(a, o) => a.listConversations("o", { ...page, prefix: "p" }, o)],
  putParticipant: [(a, o) => a.addParticipant("o", "c", "u", o)],
  deleteParticipant: [(a, o) => a.removeParticipant("o", "c", "u", o)],
  listParticipants: [(a, o) => a.listParticipants("o", "c", page, o)],
  listMessages: [(a, o) => a.listMessages("o", "c", { ...page, before: "m", after: "m" }, o)],
  getMessage: [(a, o) => a.getMessage("o", "m", o)],
  getSystemMessage: [(a, o) => a.getSystemMessage("o", "m", { senderId: "u" }, o)],
  listInbox: [
    (a, o) => a.listInbox("o", "u", { ...page, unread: true }, o),
    (a, o) => a.inbox("o", "u", { unread: true }, o),
  ],
  listDeliveries: [
    (a, o) => a.listDeliveries("o", "u", { ...page, after: "c", state: "missing" }, o),
    (a, o) => a.deliveries("o", "u", { state: "missing" }, o),
  ],
  listRecipients: [
    (a, o) => a.listRecipients("o", "m", { ...page, state: "missing" }, o),
    (a, o) => a.recipients("o", "m", { state: "missing" }, o),
  ],
  listSystemRecipients: [
    (a, o) => a.listSystemRecipients("o", "m", { ...page, state: "missing", senderId: "u" }, o),
    (a, o) => a.systemRecipients("o", "m", { state: "missing", senderId: "u" }, o),
  ],
  createFile: [(a, o) => a.upload("o", "f", "x", o)],
  putFile: [(a, o) => a.putFile("o", "f", "x", o)],
  getFile: [(a, o) => a.getFile("o", "f", o)],
  downloadFile: [(a, o) => a.download("f", { ...o, organization: "o" })],
  deleteFile: [(a, o) => a.deleteFile("o", "f", o)],
  importLines: [
    (a, o) => a.importLines("o", bytes(), { ...o, dryRun: true }),
    (a, o) => a.importRecords("o", [{ user: { id: "u" } }], { ...o, dryRun: true }),
  ],
  exportOrganization: [(a, o) => a.exportOrganization("o", o), (a, o) => a.exportRecords("o", o)],
  exportUser: [(a, o) => a.exportUser("o", "u", o), (a, o) => a.exportUserRecords("o", "u", o)],
  putWebhook: [(a, o) => a.putWebhook("o", "w", { url: "https://example.org/" }, o)],
  getWebhook: [(a, o) => a.getWebhook("o", "w", o)],
  listWebhooks: [(a, o) => a.listWebhooks("o", page, o)],
  deleteWebhook: [(a, o) => a.deleteWebhook("o", "w", o)],
  rotateWebhook: [(a, o) => a.rotateWebhook("o", "w", o)],
  testWebhook: [(a, o) => a.testWebhook("o", "w", o)],
  listWebhookDeliveries: [(a, o) => a.listWebhookDeliveries("o", "w", { ...page, state: "failed" }, o)],
  redeliverWebhook: [(a, o) => a.redeliverWebhook("o", "w", "d", o)],
  listOnline: [
    (a, o) => a.listOnline("o", { ...page, uids: ["u"], devices: true, last_seen: true }, o),
    (a, o) => a.countOnline("o", {}, o),
  ],
  listOnlineUsers: [(a, o) => a.listOnlineUsers({ organizationId: "o", limit: 1, offset: 1 }, o)],
  listConnections: [(a, o) => a.listConnections("o", "u", o)],
  closeConnection: [(a, o) => a.closeConnection("o", "u", "c", o)],
  listNodes: [(a, o) => a.listNodes({ history: true }, o)],
  streamEvents: [
    (a, o) => a.events("o", { ...o, kind: "message", types: ["message"], cid: "c", uid: "u", after: "1-a" }),
  ],
  createKey: [(a, o) => a.createKey({ name: "n", scopes: ["observe"] }, o)],
  listKeys: [(a, o) => a.listKeys(page, o)],
  getOwnKey: [(a, o) => a.getOwnKey(o)],
  getKey: [(a, o) => a.getKey("k", o)],
  deleteKey: [(a, o) => a.revokeKey("k", o)],
  listSessions: [(a, o) => a.listSessions(page, o)],
  endSession: [(a, o) => a.endSession("s", o)],
  rotateKey: [(a, o) => a.rotateKey("k", {}, o)],
  listAudit: [
    (a, o) =>
      a.listAudit(
        {
          ...page,
          organization: "o",
          key: "k",
          operation: "x",
          result: "done",
          status: 200,
          after: "i",
          since: "t",
          until: "t",
        },
        o,
      ),
  ],
  getHealth: [(a, o) => a.getHealth(o)],
  getReadiness: [(a, o) => a.getReadiness(o)],
  getMetrics: [(a, o) => a.getMetrics({ token: "t" }, o)],
  getOpenApi: [(a, o) => a.getOpenApi(o)],
  getAsyncApi: [(a, o) => a.getAsyncApi(o)],
};

type Seen = { method: string; url: URL; headers: Headers; hasBody: boolean };

/** An admin client whose requests are seen and never answered, and end as those of `fetch` do when they are aborted. */
function createWitness() {
  const seen: Seen[] = [];
  const asked = Promise.withResolvers<void>();
  const admin = createAdmin({
    url: "http://herald.test",
    key: "k",
    retries: 0,
    fetch(url, { method = "GET", headers, body, signal }) {
      const given = body !== undefined && body !== null;
      seen.push({ method, url: new URL(url), headers: new Headers(headers), hasBody: given });
      asked.resolve();
      const { promise, reject } = Promise.withResolvers<Response>();
      const abort = () => reject(signal?.reason);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort);
      return promise;
    },
  });
  return { admin, seen, asked: asked.promise };
}

/** Runs a call to its end, and returns how it ended. */
async function outcomeOf(made: ReturnType<Call>): Promise<unknown> {
  try {
    if (!("next" in made)) await made;
    else for await (const _ of made);
    return "ended";
  } catch (error) {
    return error;
  }
}

/** What `after` is called by an `EventSource`, and what only pages have. */
const ofOtherFeeds = ["lasteventid", "limit", "last-event-id"];

describe("each operation of the OpenAPI document has a method, which takes its parameters and can be broken off", () => {
  test.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", async (id, operation) => {
    const template = new RegExp(`^${operation.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const names = new Set<string>();
    expect(calls[id]?.length ?? 0).toBeGreaterThan(0);
    for (const call of calls[id] ?? []) {
      const { admin, seen, asked } = createWitness();
      const over = new AbortController();
      const outcome = outcomeOf(call(admin, { signal: over.signal }));
      await Promise.race([asked, outcome]);
      const [{ method, url, headers, hasBody } = expect.unreachable()] = seen;
      expect(method).toBe(operation.method);
      expect(url.pathname).toMatch(template);
      expect(hasBody).toBe(operation.requestBody !== undefined);
      for (const name of [...url.searchParams.keys(), ...headers.keys()]) names.add(name.toLowerCase());
      const reason = new Error("enough");
      over.abort(reason);
      expect(await outcome).toBe(id === "streamEvents" ? "ended" : reason);
      expect(seen).toHaveLength(1);
    }
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== "path");
    const named = parameters.map(({ name }) => name.toLowerCase());
    expect(named.filter((name) => !names.has(name))).toEqual(id === "streamEvents" ? ofOtherFeeds : []);
  });
});

test("each method of the admin client makes an operation of the document", async () => {
  const { admin } = createWitness();
  const used = new Set<string>();
  const recorder = new Proxy(admin, {
    get(target, name, receiver) {
      used.add(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
  const signal = AbortSignal.abort();
  const made = operations.flatMap(({ operationId }) => calls[operationId] ?? []);
  await Promise.all(made.map((call) => outcomeOf(call(recorder, { signal }))));
  expect(Object.keys(admin).filter((name) => !used.has(name))).toEqual(["request", "fileUrl"]); // these need no operation of their own
  expect(Object.keys(calls).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
});
