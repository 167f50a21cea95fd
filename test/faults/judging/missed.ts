import { openSocket } from "../../harness/clients/socket.ts";

const pageSize = 100;

/**
 * Does what a client does about a gap: reads each of its conversations, newest first, until it finds a known message.
 * Resolves with the ids that were new.
 */
export async function readMissed(url: string, token: string, known: ReadonlySet<string>): Promise<string[]> {
  using socket = await openSocket(url);
  const ask = async (op: string, payload: object) => {
    const response = await socket.request(op, payload);
    if (response.error !== undefined) throw new Error(`${op} was answered with ${JSON.stringify(response.error)}`);
    return response;
  };
  await ask("connect", { token });
  const { conversations = [], cursor } = await ask("conversation_list", { limit: pageSize });
  if (cursor) throw new Error(`these clients have ${pageSize} conversations at most`);
  const missed: string[] = [];
  for (const { _id: cid } of conversations) {
    for (let before: string | undefined; ; ) {
      const page = await ask("message_list", { cid, limit: pageSize, ...(before !== undefined && { before }) });
      const ids = (page.messages ?? []).map((message) => message._id);
      const end = ids.findIndex((id) => known.has(id));
      missed.push(...ids.slice(0, end < 0 ? ids.length : end));
      before = ids.at(-1);
      if (end >= 0 || ids.length < pageSize) break;
    }
  }
  return missed;
}
