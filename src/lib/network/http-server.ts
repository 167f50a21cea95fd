import type { Server } from "bun";
import type { Tls } from "../tls/tls-files.ts";
import { urlOf } from "./addresses.ts";

/** A server that can change its certificate while it runs. */
export type HttpServer = {
  readonly url: string;
  /** The URL of its internal address, if it listens on one, too. */
  readonly internalUrl: string | undefined;
  /** Requests whose responses are not complete. */
  readonly pendingRequests: number;
  /** Bun's native publish to all sockets: −1 means that some socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** The number of sockets subscribed to a topic. */
  countSubscribers(topic: string): number;
  /**
   * Switches to another certificate. Open sockets, streams and requests continue; a connection that is idle or being
   * established may be closed. Throws if a port was lost; then nothing listens there.
   */
  replaceTls(tls: Tls): void;
  /** Accepts no more connections. Resolves once all open ones have ended. */
  stop(): Promise<void>;
  /** Closes all open connections. */
  cut(): Promise<void>;
};

/** Starts one of Bun's servers, on the port it is given or else one of its choice. */
type Serve<Data> = (tls: Tls | undefined, port: number | undefined) => Server<Data>;

/**
 * Starts a server with `serve` and, for an internal address, `serveInternally`. If either throws, nothing listens. Bun 1.4.5
 * cannot change a server's certificate, so a new server takes over the port, and the old one lives on for its connections.
 */
export function createHttpServer<Data>(
  { serve, serveInternally }: { serve: Serve<Data>; serveInternally: Serve<Data> | undefined },
  tls: Tls | undefined,
): HttpServer {
  const listeners: { serve: Serve<Data>; port: number | undefined; current: Server<Data> }[] = [];
  function open(serve: Serve<Data>): string {
    const current = serve(tls, undefined);
    listeners.push({ serve, port: current.port, current });
    return urlOf(current, tls !== undefined);
  }

  const internalUrl = serveInternally && open(serveInternally);
  let url: string;
  try {
    url = open(serve);
  } catch (error) {
    void listeners[0]?.current.stop(true);
    throw error;
  }
  let servers = listeners.map(({ current }) => current); // and former ones that have connections

  return {
    url,
    internalUrl,
    get pendingRequests() {
      return servers.reduce((sum, server) => sum + server.pendingRequests, 0);
    },
    publish(topic, frame) {
      let published = 0;
      let isWaiting = false;
      for (const server of servers) {
        const result = server.publish(topic, frame);
        if (result === -1) isWaiting = true;
        else published = Math.max(published, result);
      }
      return isWaiting ? -1 : published;
    },
    countSubscribers(topic) {
      let count = 0;
      for (const server of servers) count += server.subscriberCount(topic);
      return count;
    },
    replaceTls(next) {
      for (const listener of listeners) {
        const old = listener.current;
        const ended = old.stop();
        listener.current = listener.serve(next, listener.port);
        servers = [...servers, listener.current];
        void ended.finally(() => {
          servers = servers.filter((server) => server !== old);
        });
      }
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
    async cut() {
      await Promise.all(servers.map((server) => server.stop(true)));
    },
  };
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
