import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";

/** The client that Herald is at the provider. */
export const openidClient = { id: "herald", secret: "client-secret-0123456789abcdefghij" };

type Person = { groups?: string[]; email?: string; email_verified?: boolean; [claim: string]: unknown };

type Options = {
  /** What the provider says about the people who can sign in, by their subjects. */
  people?: Record<string, Person>;
  /** The addresses of servers that people may return to. */
  herald?: string[];
  port?: number;
};

/** The context that the provider calls its functions with, as far as it is used here. */
type Context = { oidc: { client: { clientId: string }; session: { accountId: string }; provider: Grants } };
type Grants = { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } };

/**
 * Starts a certified OpenID provider. Whoever comes to sign in is the person `visitor` at that time, without a form. Its access tokens
 * of the grant `client_credentials` are JWTs for Herald.
 */
export async function startOpenId({ people = {}, herald = [], port = 0 }: Options = {}) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: "k1", alg: "RS256", use: "sig" };
  const server = createServer((request, response) => answer?.(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const visitor = { subject: "alice", roles: ["workers"] };
  const redirectUris = herald.map((url) => `${url}/console/sign-in/callback`);
  const claimsOf = (subject: string) => ({ sub: subject, ...people[subject] });
  const provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key that signs the provider's cookies"] },
    clients: [
      {
        client_id: openidClient.id,
        client_secret: openidClient.secret,
        grant_types: ["authorization_code", "client_credentials"],
        redirect_uris: redirectUris.length === 0 ? [`${issuer}/nowhere`] : redirectUris,
        response_types: ["code"],
        application_type: "web",
      },
    ],
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
    scopes: ["openid", "profile", "email", "groups"],
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "https://herald.example.org/",
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "", audience: openidClient.id, accessTokenFormat: "jwt" }),
      },
    },
    extraTokenClaims: () => ({ groups: visitor.roles }),
    findAccount: (_: unknown, subject: string) => ({ accountId: subject, claims: () => claimsOf(subject) }),
    interactions: { url: () => "/interaction" },
    async loadExistingGrant({ oidc: { client, session, provider: grants } }: Context) {
      const grant = new grants.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  });
  const serve = provider.callback();
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    if (request.url?.startsWith("/interaction") !== true) return serve(request, response);
    const result = { login: { accountId: visitor.subject } };
    return void provider.interactionFinished(request, response, result);
  };
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return {
    issuer,
    /** Who comes next: a person's subject, and the groups of workloads. */
    visitor,
    /** The settings of a server at which people sign in here. */
    settings: (roles: object) => ({
      HERALD_ADMIN_OIDC_ISSUER: issuer,
      HERALD_ADMIN_OIDC_CLIENT_ID: openidClient.id,
      HERALD_ADMIN_OIDC_CLIENT_SECRET: openidClient.secret,
      HERALD_ADMIN_OIDC_ROLES: JSON.stringify(roles),
    }),
    /** The access token of a workload, by the grant `client_credentials`. */
    async workloadToken(): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { Authorization: `Basic ${btoa(`${openidClient.id}:${openidClient.secret}`)}` },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: "https://herald.example.org/" }),
      });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    /** A token with these claims, signed with the provider's key. */
    sign: (claims: object, header: object = {}) =>
      new SignJWT({ iss: issuer, aud: openidClient.id, sub: "worker", exp: inAnHour(), ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "k1", ...header })
        .sign(privateKey),
    stop,
    [Symbol.dispose]: stop,
  };
}

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}
