import type { AdminClient } from "../../sdk/admin/admin.ts";
import { createAdmin } from "../../sdk/admin/admin.ts";
import { serverUrl } from "../state/server.ts";
import { answerQuestion, assistant } from "./assistant.ts";

/** The organization and the conversation that `HERALD_DEMO=1` creates. */
const organization = "demo";
const conversation = "welcome";
const shownPeople = 3;
const daysKept = 7;

/** A user of the demo. */
export type Person = { id: string; name: string };

/** The demo organization. With its key, the page does what a backend would do. */
export type Demo = {
  people: Person[];
  /** Issues a fresh token for the user's client. */
  token(uid: string): Promise<string>;
  send(from: string, body: string): Promise<void>;
  /** Lets the assistant answer, with a message that grows. Resolves when it is complete. */
  answer(): Promise<void>;
  /** Sends a system message. If it is kept, it waits in the inboxes of those who are offline. */
  sendSystem(from: string, to: string[] | "everyone", isKept: boolean): Promise<void>;
};

/** The conversation that all demo users participate in. */
export const demoConversation = conversation;

/** Opens the demo. Rejects with `HeraldApiError` if the key does not allow it, or if there is no demo. */
export async function openDemo(key: string): Promise<Demo> {
  const admin = createAdmin({ url: serverUrl, key, retries: 2, timeoutMs: 15_000 });
  const { items } = await admin.listParticipants(organization, conversation, { limit: shownPeople + 1 });
  const people = items.filter(({ id }) => id !== assistant.id).slice(0, shownPeople);
  return demoOf(
    admin,
    people.map(({ id, name }) => ({ id, name: name ?? id })),
  );
}

function demoOf(admin: AdminClient, people: Person[]): Demo {
  return {
    people,
    token: async (uid) => (await admin.createToken(organization, uid)).token,
    async send(senderId, body) {
      await admin.sendMessage({ organizationId: organization, senderId, message: { cid: conversation, body } });
    },
    answer: () => answerQuestion(admin, { organization, conversation }),
    async sendSystem(senderId, to, isKept) {
      const x = { kind: "wave", sent_with: "the demo page" };
      const address = to === "everyone" ? ({ everyone: true } as const) : { uids: to };
      const messageSystem = { ...address, x, ...(isKept && { keep_days: daysKept }) };
      await admin.sendSystemMessage({ organizationId: organization, senderId, messageSystem });
    },
  };
}
