// Requests /healthz from a server repeatedly, in a process of its own, so that a busy load generator does not look like
// a pause of the server. The parent sends {url, ms}; the answer is how many milliseconds each request took.
import { connect } from "node:net";

const gapMs = 1;

async function probe(url: string, ms: number): Promise<number[]> {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.setNoDelay(true);
  const request = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const times: number[] = [];
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt) {
    const sentAt = performance.now();
    const answered = new Promise((resolve) => socket.once("data", resolve)); // the answer is small: one chunk
    socket.write(request);
    await answered;
    times.push(performance.now() - sentAt);
    await Bun.sleep(gapMs);
  }
  socket.destroy();
  return times;
}

process.on("message", ({ url, ms }: { url: string; ms: number }) => {
  probe(url, ms).then(
    (times) => process.send?.(times),
    (error: unknown) => {
      throw error;
    },
  );
});
