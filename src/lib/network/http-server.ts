import type { Server } from "bun";
import type { Tls } from "../tls/tls-files.ts";

/** A server that takes connections, and may go on with another certificate. */
export type HttpServer = {
  readonly url: string;
  /** Requests that are not answered to the end. */
  readonly pendingRequests: number;
  /** Bun's native publish, to all sockets: −1 when one of them has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** How many sockets follow a topic. */
  countSubscribers(topic: string): number;
  /**
   * Goes on with another certificate. Sockets, streams and requests that are open stay; a connection that is idle or just being
   * made may be closed. Throws when the port was lost, and then nothing listens.
   */
  replaceTls(tls: Tls): void;
  /** Takes no more connections. Resolves when all that are open have ended. */
  stop(): Promise<void>;
  /** Closes all that are still open. */
  cut(): Promise<void>;
};

/**
 * Starts a server by `serve`, on the port that it is given or else on one of its own choice. Bun cannot change the certificate
 * of a server (1.4.5), so another one takes the port, and the one before lives on for its connections.
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
      const results = all().map((server) => server.publish(topic, frame));
      return results.includes(-1) ? -1 : Math.max(...results);
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

type Handler<Data> = (request: Request, running: Server<Data>) => Promise<Response | undefined>;

/** Over TLS, tells browsers to come by TLS only, for a year (RFC 6797). */
export function overTlsOnly<Data>(handle: Handler<Data>, tls: Tls | undefined): Handler<Data> {
  if (tls === undefined) return handle;
  return async (request, running) => {
    const response = await handle(request, running);
    response?.headers.set("Strict-Transport-Security", "max-age=31536000");
    return response;
  };
}

/** Where a server listens. */
export function urlOf({ hostname, port }: Pick<Server<unknown>, "hostname" | "port">, isTls: boolean): string {
  const host = hostname?.includes(":") ? `[${hostname}]` : hostname;
  return `${isTls ? "https" : "http"}://${host}:${port}`;
}
