import type { Server } from "bun";
import type { Tls } from "../tls/tls-files.ts";
import { urlOf } from "./addresses.ts";

/** A server that can change its certificate while it runs. */
export type HttpServer = {
  readonly url: string;
  /** Requests whose responses are not complete. */
  readonly pendingRequests: number;
  /** Bun's native publish to all sockets: −1 means that some socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** The number of sockets subscribed to a topic. */
  countSubscribers(topic: string): number;
  /**
   * Switches to another certificate. Open sockets, streams and requests continue; a connection that is idle or being
   * established may be closed. Throws if the port was lost; then nothing listens.
   */
  replaceTls(tls: Tls): void;
  /** Accepts no more connections. Resolves once all open ones have ended. */
  stop(): Promise<void>;
  /** Closes all open connections. */
  cut(): Promise<void>;
};

/**
 * Starts a server with `serve`, on the port it is given or else one of its choice. Bun 1.4.5 cannot change a server's
 * certificate, so a new server takes over the port, and the old one lives on for its connections.
 */
export function createHttpServer<Data>(
  serve: (tls: Tls | undefined, port: number | undefined) => Server<Data>,
  tls: Tls | undefined,
): HttpServer {
  let current = serve(tls, undefined);
  const { port } = current;
  const url = urlOf(current, tls !== undefined);
  const former = new Set<Server<Data>>();
  const all = () => [current, ...former];

  return {
    url,
    get pendingRequests() {
      return all().reduce((sum, server) => sum + server.pendingRequests, 0);
    },
    publish(topic, frame) {
      if (former.size === 0) return current.publish(topic, frame);
      return joinResults(all().map((server) => server.publish(topic, frame)));
    },
    countSubscribers(topic) {
      let count = current.subscriberCount(topic);
      for (const server of former) count += server.subscriberCount(topic);
      return count;
    },
    replaceTls(next) {
      const old = current;
      const ended = old.stop();
      current = serve(next, port);
      former.add(old);
      void ended.finally(() => former.delete(old));
    },
    async stop() {
      await Promise.all(all().map((server) => server.stop()));
    },
    async cut() {
      await Promise.all(all().map((server) => server.stop(true)));
    },
  };
}

/** Several servers as one, whose URL is that of the first. */
export function groupServers(servers: readonly [HttpServer, ...HttpServer[]]): HttpServer {
  const [{ url }] = servers;
  const sumOf = (of: (server: HttpServer) => number) => servers.reduce((sum, server) => sum + of(server), 0);
  return {
    url,
    get pendingRequests() {
      return sumOf(({ pendingRequests }) => pendingRequests);
    },
    publish: (topic, frame) => joinResults(servers.map((server) => server.publish(topic, frame))),
    countSubscribers: (topic) => sumOf((server) => server.countSubscribers(topic)),
    replaceTls(tls) {
      for (const server of servers) server.replaceTls(tls);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
    async cut() {
      await Promise.all(servers.map((server) => server.cut()));
    },
  };
}

/** The result of a native publish over several servers. */
function joinResults(results: readonly number[]): number {
  return results.includes(-1) ? -1 : Math.max(...results);
}

type Handler<Data> = (request: Request, running: Server<Data>) => Promise<Response | undefined>;

/** Over TLS, tells browsers to use only TLS for a year (RFC 6797). */
export function overTlsOnly<Data>(handle: Handler<Data>, tls: Tls | undefined): Handler<Data> {
  if (tls === undefined) return handle;
  return async (request, running) => {
    const response = await handle(request, running);
    response?.headers.set("Strict-Transport-Security", "max-age=31536000");
    return response;
  };
}
