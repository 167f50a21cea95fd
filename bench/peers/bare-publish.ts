// Floor of the deliveries: Bun.serve with one topic per conversation and nothing else. POST /<topic> publishes a frame
// as long as Herald's (BENCH_FRAME_BYTES) and answers 201 like Herald. POST /<topic>/loop?inFlight=16&ms=1500 publishes
// in a loop inside this process, with nothing to trigger it, and returns the number of frames.
import { sampleAnswer } from "../harness/organization.ts";
import { sayListening } from "../harness/servers.ts";

const frame = "x".repeat(Number(process.env.BENCH_FRAME_BYTES ?? 320));
const answer = JSON.stringify(sampleAnswer);
const init = { status: 201, headers: { "Content-Type": "application/json" } };
const backpressured = -1;

/** Publishes `inFlight` frames per turn of the event loop; waits while a socket is behind. */
async function publishFor(topic: string, inFlight: number, ms: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < ms) {
    let isBehind = false;
    for (let index = 0; index < inFlight; index++) {
      isBehind = server.publish(topic, frame) === backpressured || isBehind;
      count++;
    }
    if (isBehind) await Bun.sleep(1);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  return count;
}

const server = Bun.serve<{ topic: string }>({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  async fetch(request, running) {
    const { pathname, searchParams } = new URL(request.url);
    const [topic = "", action] = pathname.slice(1).split("/");
    if (request.method === "GET") {
      return running.upgrade(request, { data: { topic } }) ? undefined : new Response(null, { status: 400 });
    }
    if (action === "loop") {
      return Response.json(
        await publishFor(topic, Number(searchParams.get("inFlight")), Number(searchParams.get("ms"))),
      );
    }
    running.publish(topic, frame);
    return new Response(answer, init);
  },
  websocket: {
    data: { topic: "" },
    perMessageDeflate: false,
    sendPings: false,
    idleTimeout: 0,
    backpressureLimit: 64 * 1024 * 1024,
    open: (socket) => void socket.subscribe(socket.data.topic),
    message: (socket) => void socket.send("joined"),
  },
});
sayListening(server.port);
