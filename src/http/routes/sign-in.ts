import { type HeraldError, toHeraldError } from "../../contract/errors/errors.ts";
import type { ClientAddress } from "../../lib/network/client-address.ts";
import type { Audit } from "../../services/audit.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import type { People } from "../../services/people/people.ts";
import { callerOf } from "../../services/people/principals.ts";
import { SignInError, type Visitor } from "../../services/people/visitors.ts";
import { answerMessage } from "../answers/message-page.ts";
import type { PlaceOf } from "../answers/places.ts";
import { sessionCookie, signInCookie } from "../call/cookies.ts";
import type { Router } from "../call/exchange.ts";
import type { Call } from "../calls.ts";

type Services = {
  people?: People | undefined;
  audit: Pick<Audit, "record" | "note">;
  /** The path below which the server is reached. */
  basePath: string;
  placeOf: PlaceOf;
  clientAddress: ClientAddress;
  onError(error: unknown, requestId: string): void;
};

const begin = { method: "GET", path: "/console/sign-in" };
const state = { method: "GET", path: "/console/sign-in/state" };
const callback = { method: "GET", path: "/console/sign-in/callback" };
const longestTarget = 1_000;

/**
 * Binds the pages by which people sign in to the console: to the provider, and back from there to the page that they asked for. They
 * exist only with a provider, are no operations of the admin API, and appear in the audit log as `signIn`.
 */
export function bindSignIn(app: Router, { people, audit, basePath, placeOf, clientAddress, onError }: Services): void {
  if (people === undefined) return;
  const { signIn, sessions } = people;
  const consolePath = `${basePath}/console`;

  /** A page of the console of this server, whatever was asked for: nobody is sent elsewhere. */
  function targetOf(asked: string | undefined, origin: string): string {
    const url = URL.parse(asked ?? "", origin);
    const isOurs = url !== null && url.origin === new URL(origin).origin && url.pathname === consolePath;
    const target = isOurs ? consolePath + url.search + url.hash : consolePath;
    return target.length > longestTarget ? consolePath : target;
  }

  function leadTo(location: string, cookies: readonly string[], requestId: string): Response {
    const headers = new Headers({
      Location: location,
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "X-Request-Id": requestId,
    });
    for (const cookie of cookies) headers.append("Set-Cookie", cookie);
    return new Response(null, { status: 302, headers });
  }

  const entryOf = (call: Call, caller: Caller) => ({
    requestId: call.requestId,
    operation: "signIn",
    caller,
    address: call.address || undefined,
    target: { session: caller.person?.session?.id },
  });

  async function welcome({ subject, name, roles, claimed, to }: Visitor, call: Call): Promise<Response> {
    if (roles.length === 0) {
      const code = "insufficient_scope";
      call.code = code;
      const stranger = callerOf({ subject, name, roles, expiresAt: null });
      audit.note({ ...entryOf(call, stranger), status: 403, code });
      return answerMessage(strangerPage(name, claimed, consolePath), call.requestId);
    }
    const { secret, lifetimeSeconds, caller } = await sessions.begin(
      { subject, name, roles },
      call.address || undefined,
    );
    call.keyId = caller.keyId;
    await audit.record({ ...entryOf(call, caller), status: 302, code: undefined });
    return leadTo(to, [sessionCookie.set(secret, lifetimeSeconds)], call.requestId);
  }

  function refuse(thrown: unknown, call: Call): Response {
    if (thrown instanceof SignInError) {
      call.code = "bad_request";
      return answerMessage(failurePage(thrown, consolePath), call.requestId);
    }
    const error = toHeraldError(thrown);
    if (error.status === 500) onError(thrown, call.requestId);
    call.code = error.code;
    const response = answerMessage(problemPage(error, consolePath), call.requestId);
    for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value);
    return response;
  }

  app.get(begin.path, async ({ req, env: call }) => {
    call.route = begin;
    call.address = clientAddress(req.raw, call.from);
    try {
      const { url } = placeOf(req.raw, call.from);
      const to = targetOf(req.query("to"), url);
      const begun = await signIn.begin({ redirectUri: `${url}/console/sign-in/callback`, to });
      const cookie = signInCookie(begun.state).set(begun.cookie, begun.lifetimeSeconds);
      return leadTo(begun.location, [cookie], call.requestId);
    } catch (error) {
      return refuse(error, call);
    }
  });

  // The console asks before it makes a call without a credential, which would be a refusal in the audit log.
  app.get(state.path, ({ req, env: call }) => {
    call.route = state;
    const body = { has_session: sessionCookie.read(req.raw.headers) !== undefined };
    return Response.json(body, { headers: { "Cache-Control": "no-store", "X-Request-Id": call.requestId } });
  });

  app.get(callback.path, async ({ req, env: call }) => {
    call.route = callback;
    call.address = clientAddress(req.raw, call.from);
    const begun = signInCookie(req.query("state") ?? "");
    const response = await signIn
      .finish(new URL(req.url).search, begun.read(req.raw.headers), call.address)
      .then((visitor) => welcome(visitor, call))
      .catch((error: unknown) => refuse(error, call));
    response.headers.append("Set-Cookie", begun.clear()); // it serves once
    return response;
  });
}

function strangerPage(name: string, claimed: Visitor["claimed"], href: string) {
  return {
    status: 403,
    title: "You have no access to this console",
    paragraphs: [
      `The OpenID provider knows you as ${name}, but no role of this server is for you.`,
      "These are the claims that could give you one, with the values that came. To let you in, an operator adds one of the values to HERALD_ADMIN_OIDC_ROLES, or has the provider send another one.",
    ],
    facts: Object.entries(claimed).map(([claim, values]) => [claim, values.join(", ") || "(none)"] as const),
    link: { text: "Back to the console", href },
  };
}

function failurePage({ message, code }: SignInError, href: string) {
  return {
    status: 400,
    title: "You are not signed in",
    paragraphs: [`It did not work: ${message}.`],
    facts: code === undefined ? [] : [["The provider says", code] as const],
    link: { text: "Sign in again", href },
  };
}

function problemPage({ status, message }: HeraldError, href: string) {
  return {
    status,
    title: "You are not signed in",
    paragraphs: [`It did not work: ${message}.`],
    link: { text: "Sign in again", href },
  };
}
