// The least that an answer can cost: Bun.serve without a route, a parser or a promise. What the callers reach here is the
// most that they can measure.
import { sampleAnswer } from "../harness/house.ts";
import { sayListening } from "../harness/servers.ts";

const body = JSON.stringify(sampleAnswer);
const init = { status: 201, headers: { "Content-Type": "application/json" } };
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(body, init) });
sayListening(server.port);
