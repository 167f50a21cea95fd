import type { MessageInput, Problem, ScheduledSend } from "../clients/wire.ts";
import { DEADLINE_MS } from "../deadline.ts";
import { type Answer, TEST_KEY } from "./herald.ts";
import type { Organization } from "./organization.ts";

const lookAgainMs = 20;

/** What tests do with the scheduled sends of an organization. */
export function scheduling({ id: org, herald, path }: Organization) {
  const call = <T>(method: string, sid: string, body: unknown, key = TEST_KEY): Promise<Answer<T>> =>
    herald.admin<T>(method, path("scheduled", sid), body, { "Admin-Api-Key": key });
  const get = (sid: string, key?: string) => call<ScheduledSend>("GET", sid, undefined, key);
  return {
    messageOf: (senderId: string, message: MessageInput) => ({ organizationId: org, senderId, message }),
    systemOf: (senderId: string, messageSystem: MessageInput) => ({ organizationId: org, senderId, messageSystem }),
    put: (sid: string, order: object, key?: string) => call<ScheduledSend>("PUT", sid, order, key),
    get,
    cancel: (sid: string, key?: string) => call<Problem>("DELETE", sid, undefined, key),
    /** Waits until a scheduled send no longer waits, and returns it. */
    async ended(sid: string): Promise<ScheduledSend> {
      for (const end = Date.now() + DEADLINE_MS; ; ) {
        const { body } = await get(sid);
        if (body.state !== "waiting") return body;
        if (Date.now() > end) throw new Error(`${sid} still waits: ${JSON.stringify(body)}`);
        await Bun.sleep(lookAgainMs);
      }
    },
  };
}
