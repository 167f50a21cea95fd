import packageJson from "../../../package.json" with { type: "json" };
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { startHerald } from "../../harness/herald.ts";
import { benchOrg } from "../../harness/organization.ts";
import { idDigits, post, upgrade } from "../generator.ts";
import { type StartCompared, text } from "../peer.ts";

const cid = "hall";

/** Herald with its embedded database: everything is committed and flushed before it is answered and delivered. */
export const startHeraldCompared: StartCompared = async (folder) => {
  const peer = await startHerald(folder);
  await peer.putConversation(cid, []);
  const message = { id: idDigits, body: text, cid, x: { kind: "note" } };
  const body = JSON.stringify({ organizationId: benchOrg.id, senderId: benchOrg.sender, message });
  return {
    name: "Herald",
    durability: "flushed",
    settings: "defaults, without rate and connection limits and without pings",
    version: packageJson.version,
    port: Number(new URL(peer.url).port),
    pids: [peer.pid],
    async listeners(count) {
      const uids = Array.from({ length: count }, (_, index) => `u${index}`);
      if (count > 0) await peer.putConversation(cid, uids);
      const tokens = await peer.tokensOf(uids);
      return tokens.map((token) => [
        upgrade("/ws"),
        { bytes: maskedFrame(JSON.stringify({ request: { connect: { token }, id: 1 } })), answers: 1 },
      ]);
    },
    publisher: {
      opening: [],
      request: post("/admin/message", body, [`Admin-Api-Key: ${benchOrg.key}`]),
      answer: "http",
    },
    stop: peer.stop,
  };
};
