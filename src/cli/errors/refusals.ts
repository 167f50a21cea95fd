import { environmentProxyFor } from "../../../sdk/admin/environment.ts";
import type { HeraldApiError } from "../../../sdk/admin.ts";
import { errorCatalogue } from "../../contract/errors/errors.ts";
import { findingIn } from "../../contract/errors/naming.ts";
import { enteredKey, type Target } from "../access/target.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { printableLine } from "../output/printable.ts";
import { adviseOnProxy, nameProxy } from "./connection-failures.ts";

/** The commands that list what has no error code of its own. */
const listsOf = {
  "API key": "keys list",
  "scheduled send": "schedule list",
  proposal: "proposals",
  webhook: "webhooks list",
  delivery: "webhooks deliveries <webhook>",
};

/** What to do on the command line about a refusal, by its code. It replaces the server's advice, which is for callers of the API. */
const nextSteps: Record<string, (target: Target, error: HeraldApiError) => string | undefined> = {
  unauthorized: adviseOnKey,
  insufficient_scope: ({ keyFrom }) =>
    `Use a key that has this scope, with --key, --profile or HERALD_ADMIN_API_KEY. This one is from ${keyFrom}.`,
  organization_forbidden: ({ keyFrom }) =>
    `Use a key with access to this organization, or check --org. This key is from ${keyFrom}.`,
  sender_forbidden: () => "Use a key that may send as this user, or check the sender.",
  not_found: (_target, { detail }) => {
    const list = Object.entries(listsOf).find(([thing]) => detail.startsWith(`the ${thing} `))?.[1];
    if (list !== undefined) return `Run \`herald ${list}\` to see which there are.`;
    if (detail !== errorCatalogue.not_found.advice) return undefined;
    return "The server may be older than this command: compare `herald version` with `herald nodes`.";
  },
  organization_not_found: () => "Create it with `herald orgs put`, or check --org. `herald orgs list` shows all.",
  conversation_not_found: () =>
    "Create it with `herald conversations put`, or check its id. `herald conversations list` shows all.",
  user_not_found: () => "Create it with `herald users put`, or check --user. `herald users list` shows all.",
  sender_not_found: () => "Create it with `herald users put`, or check --from.",
  own_proposal: () => "Use a key that another one made, with --key or --profile.",
  sender_not_participant: () => "Add the sender with `herald participants add`, or check --from.",
  sender_not_owner: () =>
    "Give the user who sent the message with --from. A participant may `herald recall` any message.",
  message_id_conflict: () => "This --id was used for a different message. Omit --id, or send the same message again.",
  invalid_request: (_target, { errors: [first, second] }) =>
    first?.pointer === "/organization" && second === undefined ? "Give the organization with --org." : undefined,
  rate_limited: () => "Try again in a while, or less often.",
};

/** Where the key of an unauthorized call comes from tells what is wrong. */
function adviseOnKey({ keyProfile, keyFrom, url }: Target): string {
  if (keyProfile !== undefined)
    return `The key is from profile ${keyProfile}, and ${url} does not accept it, or no longer. Run \`herald login --profile ${keyProfile}\`.`;
  if (keyFrom === enteredKey) return "Check that it is complete, and that it is a key of this server.";
  return `The key is from ${keyFrom}. Give a key of this server with --key or HERALD_ADMIN_API_KEY. Unless you set one, the first start writes it to <HERALD_DATA_DIR>/admin-api-key.`;
}

/** The statuses with which a proxy says that it cannot reach the server. */
const gatewayStatuses = [502, 503, 504];

/** Explains a refusal: what the server said, each invalid value, and what to do. */
export function explainRefusal(error: HeraldApiError, target: Target): CliError {
  if (error.code === "not_herald") return explainForeignAnswer(error.status, target);
  const { status, code, requestId, errors } = error;
  const entry = Object.entries(errorCatalogue).find(([known]) => known === code)?.[1];
  const isGeneric = entry !== undefined && error.detail === entry.advice;
  const nextStep = nextSteps[code]?.(target, error) ?? (isGeneric ? entry.advice : undefined);
  const detail = isGeneric ? entry.title : nextStep === undefined ? error.detail : findingIn(error);
  const request = requestId === undefined ? "" : ` [request ${requestId}]`;
  const lines = [`the server refused the request: ${status} ${code}: ${detail}${request}`];
  // A single error is already part of the detail.
  if (errors.length > 1) for (const each of errors) lines.push(`  ${each.pointer}: ${each.detail}`);
  if (nextStep !== undefined) lines.push(nextStep);
  return new CliError(exitCodes.failed, lines.map(printableLine).join("\n"));
}

/** Explains an answer that is not Herald's, such as a web page or a proxy's error. */
function explainForeignAnswer(status: number, target: Target): CliError {
  const { url, urlFrom } = target;
  const proxy = environmentProxyFor(url);
  if (proxy !== undefined && [407, ...gatewayStatuses].includes(status))
    return new CliError(
      exitCodes.unreachable,
      `${nameProxy(proxy)} answered ${status} for ${url}, so the server was not asked.\n${adviseOnProxy(target)}`,
    );
  if (gatewayStatuses.includes(status))
    return new CliError(
      exitCodes.unreachable,
      `${url} answered ${status}, which is not from Herald: a proxy there cannot reach it.\nCheck that Herald runs, and where the proxy sends requests.`,
    );
  const isRedirect = status >= 300 && status < 400;
  const what = isRedirect
    ? `${url} redirects to another address (${status}), which commands do not follow, because the key would go there.`
    : `${url} answered ${status}, but it is not a Herald server.`;
  const next = isRedirect ? "Give the final address" : "Check the address";
  return new CliError(exitCodes.failed, `${what}\n${next} (this one is from ${urlFrom}).`);
}
