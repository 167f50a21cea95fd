import type { Organization } from "../servers/organization.ts";
import { openSocket, type Socket } from "./socket.ts";
import type { SocketError, SocketResponse } from "./wire.ts";

/** What a request came to: the member of the response that the caller waits for, or the error it was rejected with. */
export type Outcome<Key extends keyof SocketResponse> = NonNullable<SocketResponse[Key]>;

/** A client that speaks as the JavaScript SDK of SAMA does, written from its requests on the wire. */
export type SamaClient = {
  readonly socket: Socket;
  /**
   * Sends `{request:{[operation]:data,id:"<uuid>:<operation>"}}`, and resolves with the member `key` of the response; rejects
   * with a `SamaError` for an error, and for a response without that member.
   */
  request<Key extends keyof SocketResponse>(operation: string, data: unknown, key: Key): Promise<Outcome<Key>>;
  [Symbol.dispose](): void;
};

/** The error of a response. */
class SamaError extends Error {
  readonly status: number;
  readonly code: string;
  constructor({ status, code, message }: SocketError) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Connects as a user; `deviceId` is what the SDK has for the device, which is `null` at first. */
export async function openSamaClient(
  org: Organization,
  uid: string,
  deviceId: string | number | null = null,
): Promise<SamaClient> {
  const socket = await openSocket(org.herald.url, { uid });
  const request: SamaClient["request"] = async (operation, data, key) => {
    const response = await socket.request(operation, data, `${crypto.randomUUID()}:${operation}`);
    if (response.error !== undefined) throw new SamaError(response.error);
    const found = response[key];
    if (found === undefined || found === null) throw new Error(`the response to ${operation} has no ${key}`);
    return found;
  };
  await request("connect", { token: await org.token(uid), device_id: deviceId }, "success");
  return { socket, request, [Symbol.dispose]: () => socket.close() };
}
