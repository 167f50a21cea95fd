// The minimum cost of a response: Bun.serve without a route, a parser or a promise. The callers cannot measure more
// than they reach here.
import { sampleAnswer } from "../harness/organization.ts";
import { sayListening } from "../harness/servers.ts";

const body = JSON.stringify(sampleAnswer);
const init = { status: 201, headers: { "Content-Type": "application/json" } };
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(body, init) });
sayListening(server.port);
