import type { AdminClient } from "../../sdk/admin/admin.ts";
import { createAdminClient } from "../../sdk/admin/admin.ts";

/** Where `HERALD_DEMO=1` puts its people: the organization and its conversation. */
const organization = "demo";
const conversation = "welcome";
const shownPeople = 3;

/** Somebody of the demo. */
export type Person = { id: string; name: string };

/** The demo organization, as the page's key can use it. What a backend would do, the page does with the key. */
export type Demo = {
  people: Person[];
  /** A fresh token of a user, with which the user's client connects. */
  token(uid: string): Promise<string>;
  send(from: string, body: string): Promise<void>;
  sendSystem(from: string, to: string[]): Promise<void>;
};

/** The conversation that everybody of the demo is in. */
export const demoConversation = conversation;

/** Looks whether the key can use the demo. Rejects with `HeraldApiError` where it cannot, or where there is no demo. */
export async function openDemo(key: string): Promise<Demo> {
  const admin = createAdminClient({ url: location.origin, key, retries: 2, timeoutMs: 15_000 });
  const { items } = await admin.listParticipants(organization, conversation, { limit: shownPeople });
  return demoOf(
    admin,
    items.map(({ id, name }) => ({ id, name: name ?? id })),
  );
}

function demoOf(admin: AdminClient, people: Person[]): Demo {
  return {
    people,
    token: async (uid) => (await admin.createToken(organization, uid)).token,
    async send(senderId, body) {
      await admin.sendMessage({ organizationId: organization, senderId, message: { cid: conversation, body } });
    },
    async sendSystem(senderId, uids) {
      const x = { kind: "wave", sent_with: "the demo page" };
      await admin.sendSystemMessage({ organizationId: organization, senderId, messageSystem: { uids, x } });
    },
  };
}
