import type { Server, WebSocketHandler } from "bun";
import { type Config, internalAddressOf, publicAddressOf } from "../config.ts";
import { toHeraldError } from "../contract/errors/errors.ts";
import { problemResponse } from "../contract/errors/problem.ts";
import type { SocketState } from "../gateway/websocket/socket.ts";
import type { Listener } from "../http/calls.ts";
import { type ListenAddress, urlOf } from "../lib/network/addresses.ts";
import { createHttpServer, type HttpServer, overTlsOnly } from "../lib/network/http-server.ts";
import { createId } from "../lib/text/ids.ts";
import type { Tls } from "../lib/tls/tls-files.ts";
import { ListenError } from "./listen-error.ts";

/** Answers a request, unless it becomes a socket. */
export type Handle = (request: Request, running: Server<SocketState>) => Promise<Response | undefined>;

/** What a node does with requests. */
export type Handlers = {
  upgrade: Handle;
  stream: Handle;
  /** Requests for files, by where they come in. */
  file(listener: Listener): Handle;
  /** Anything else. */
  other(listener: Listener): Handle;
  websocket: WebSocketHandler<SocketState>;
  onError(error: unknown, requestId: string): void;
};

type Options = {
  config: Config;
  tls: Tls | undefined;
  /** Whether other workers listen on the same ports. */
  reusePort: boolean;
};

/**
 * Listens on the configured address, or with `HERALD_ADMIN_PORT` on two. Throws `ListenError`; then nothing listens.
 */
export function listen({ config, tls, reusePort }: Options, handlers: Handlers): HttpServer {
  const paths = [...new Set(["", config.HERALD_BASE_PATH])];
  const serveAt =
    (listener: Listener, address: ListenAddress) => (current: Tls | undefined, taken: number | undefined) => {
      const start = () =>
        Bun.serve<SocketState>({
          hostname: address.hostname,
          port: taken ?? address.port,
          development: false,
          // Set explicitly: with `development: false`, Bun lets a second server share the port and take half the calls.
          reusePort,
          // Also limits how long a TLS handshake or a request's head may take, even if bytes trickle in (measured).
          idleTimeout: config.HERALD_LIMIT_IDLE_SECONDS,
          // Herald itself answers 413 with a problem document, so Bun's own limit must not apply first.
          maxRequestBodySize: Number.MAX_SAFE_INTEGER,
          ...(current !== undefined && {
            tls: { cert: current.cert, key: current.key, ciphers: config.HERALD_TLS_CIPHERS },
          }),
          routes: Object.fromEntries(
            paths.flatMap((path) => [
              [`${path}/ws`, overTlsOnly(handlers.upgrade, current)],
              [`${path}/sse`, overTlsOnly(handlers.stream, current)],
              [`${path}/files/*`, overTlsOnly(handlers.file(listener), current)],
            ]),
          ),
          fetch: overTlsOnly(handlers.other(listener), current),
          websocket: handlers.websocket,
          error(error) {
            const requestId = createId();
            handlers.onError(error, requestId);
            return problemResponse(toHeraldError(error), requestId);
          },
        });
      return taken === undefined ? naming(listener, address, start) : start();
    };

  const internalAddress = internalAddressOf(config);
  const serveInternally = internalAddress && serveAt("internal", internalAddress);
  const serve = serveAt(serveInternally === undefined ? "only" : "public", publicAddressOf(config));
  return createHttpServer({ serve, serveInternally }, tls);
}

/** Finds the ports that workers will share, on which nobody else listens, as settings of each. Throws `ListenError`. */
export async function findPorts(config: Config) {
  const find = async (listener: Listener, address: ListenAddress) => {
    const options = { ...address, reusePort: false, development: false, fetch: () => new Response(null) };
    const alone = naming(listener, address, () => Bun.serve(options));
    const found = { url: urlOf(alone, config.HERALD_TLS_CERT !== undefined), port: String(alone.port) };
    await alone.stop(true);
    return found;
  };
  const { url, port } = await find("public", publicAddressOf(config));
  const internalAddress = internalAddressOf(config);
  const internal = internalAddress && (await find("internal", internalAddress));
  return {
    url,
    adminUrl: internal?.url ?? url,
    ports: { HERALD_PORT: port, ...(internal && { HERALD_ADMIN_PORT: internal.port }) },
  };
}

/** Listens, and names the settings of the address if that fails. */
function naming<Result>(listener: Listener, address: ListenAddress, start: () => Result): Result {
  try {
    return start();
  } catch (error) {
    throw new ListenError(listener === "internal" ? "HERALD_ADMIN" : "HERALD", address, error);
  }
}
