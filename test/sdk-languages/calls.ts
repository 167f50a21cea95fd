import { allPages } from "../docs/markdown.ts";
import { signedWebhook } from "../docs/signed-webhook.ts";
import type { Herald } from "../harness/servers/herald.ts";

/** A call that a page shows in several languages, and a name for the function that makes it. */
export type ShownCall = { name: string; text: string };

/** The calls that pages show in one of the languages. */
export function callsOf(language: "python" | "go"): ShownCall[] {
  return allPages().flatMap(({ path, blocks }) =>
    blocks
      .filter((block) => block.language === language && block.how === "call")
      .map(({ line, text }) => ({ name: `${path.replaceAll(/[^a-z]/g, "_")}_${line}`, text })),
  );
}

/** What readers of the pages with such calls have created before, besides the organization `demo`. */
export async function prepareForCalls(herald: Herald): Promise<void> {
  await herald.admin("PUT", "/admin/organizations/bakery", {});
  await herald.admin("PUT", "/admin/organizations/bakery/conversations/orders", {
    participants: ["shop", "dora", "emil"],
  });
}

/** What programs with such calls read: the server and its key, and a webhook. */
export function callVariables({ url, key }: Herald): Record<string, string> {
  const { headers, body, secret } = signedWebhook();
  const webhook = { WEBHOOK_HEADERS: JSON.stringify(headers), WEBHOOK_BODY: body, WEBHOOK_SECRET: secret };
  return { HERALD_URL: url, HERALD_ADMIN_API_KEY: key, ...webhook };
}
