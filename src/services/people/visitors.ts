import type { Role } from "../../contract/people/roles.ts";

/** Who came back from the provider. Without roles, `claimed` says which values of which claims could have given some. */
export type Visitor = { subject: string; name: string; roles: Role[]; claimed: Record<string, string[]>; to: string };

/** Why somebody could not be signed in. `code`: what the provider says, if it says it. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  readonly code: string | undefined;
  constructor(message: string, options: { cause?: unknown; code?: string } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}
