import type { ListenAddress } from "../lib/network/addresses.ts";

/** The node cannot listen on an address. `settings` is how the names of its settings begin. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly settings: "HERALD" | "HERALD_ADMIN";
  readonly hostname: string;
  readonly port: number;
  /** As `EADDRINUSE`, if the system gave one. */
  readonly code: string | undefined;

  constructor(settings: ListenError["settings"], { hostname, port }: ListenAddress, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.settings = settings;
    this.hostname = hostname;
    this.port = port;
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}
