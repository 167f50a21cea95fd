import type { MessageInput, Proposal } from "../clients/wire.ts";
import { type Answer, TEST_KEY } from "./herald.ts";
import type { Organization } from "./organization.ts";

/** What tests do with the proposals of an organization. */
export function proposing({ id: org, herald, path }: Organization) {
  const call = (method: string, rest: string[], body: unknown, key = TEST_KEY): Promise<Answer<Proposal>> =>
    herald.admin<Proposal>(method, path("proposals", ...rest), body, { "Admin-Api-Key": key });
  return {
    messageOf: (senderId: string, message: MessageInput) => ({ organizationId: org, senderId, message }),
    systemOf: (senderId: string, messageSystem: MessageInput) => ({ organizationId: org, senderId, messageSystem }),
    put: (pid: string, wish: object, key?: string) => call("PUT", [pid], wish, key),
    get: (pid: string, key?: string) => call("GET", [pid], undefined, key),
    approve: (pid: string, key?: string, body?: object) => call("POST", [pid, "approve"], body, key),
    reject: (pid: string, key?: string, body?: object) => call("POST", [pid, "reject"], body, key),
  };
}
