// Unauthenticated clients, in a process of its own, so that they use no file descriptors and no turns of the load
// generator: half handshakes that say nothing more, and uploads that trickle. Closed connections are reopened. The
// parent sends {url, halves, uploads}; the answer, once all are open, is their number.
import { connect, type Socket } from "node:net";

const trickleMs = 1_000;
const trickleBytes = 4_096; // below 16 KiB a second, the server ends such a body in time
const uploadBytes = 1_000_000;
const atOnce = 250;

type Order = { url: string; key: string; halves: number; uploads: number };

function start({ url, key, halves, uploads }: Order): void {
  const { host, hostname, port } = new URL(url);
  const half = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
  const upload = `POST /admin/message HTTP/1.1\r\nHost: ${host}\r\nAdmin-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${uploadBytes}\r\n\r\n`;
  const trickle = " ".repeat(trickleBytes);
  const uploading = new Set<Socket>();

  function hold(isUpload: boolean, onOpen: () => void): void {
    const socket = connect(Number(port), hostname, () => {
      socket.write(isUpload ? upload : half);
      if (isUpload) uploading.add(socket);
      onOpen();
    });
    socket.resume();
    socket.on("error", () => undefined); // `close` follows
    socket.on("close", () => {
      uploading.delete(socket);
      setTimeout(() => hold(isUpload, () => undefined), Math.random() * trickleMs);
    });
  }

  let [begun, open] = [0, 0];
  const total = halves + uploads;
  const onOpen = () => {
    open++;
    if (open === total) process.send?.(open);
    next();
  };
  const next = () => {
    if (begun < total) hold(begun++ < uploads, onOpen);
  };
  for (let count = 0; count < atOnce; count++) next();
  setInterval(() => {
    for (const socket of uploading) socket.write(trickle);
  }, trickleMs);
}

process.on("message", start);
