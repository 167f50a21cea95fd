import { once } from "node:events";
import { connect } from "node:net";
import { TEST_KEY } from "../harness/servers/herald.ts";
import type { Organization } from "../harness/servers/organization.ts";

/** Begins an upload, sends only a part of what it declares, and returns the function that cuts it. */
export async function cutUpload(org: Organization, { declared, sent }: { declared: number; sent: number }) {
  const { port } = new URL(org.herald.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined); // the server may have closed it first
  const head = [
    `POST ${org.path("files")}?name=cut HTTP/1.1`,
    ...["Host: localhost", `Admin-Api-Key: ${TEST_KEY}`, `Content-Length: ${declared}`, "", ""],
  ];
  socket.write(head.join("\r\n"));
  const piece = Buffer.alloc(65_536, "x");
  for (let left = sent; left > 0; left -= piece.length)
    if (!socket.write(piece.subarray(0, Math.min(left, piece.length)))) await once(socket, "drain");
  return () => void socket.destroy();
}
