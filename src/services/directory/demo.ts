import { theServer } from "../keys/permissions.ts";
import type { ConversationDirectory } from "./conversations.ts";
import type { Directory } from "./directory.ts";

/** The contents of the demo. */
export type Demo = { organization: string; users: string[]; conversation: string; isNew: boolean };

const organization = "demo";
const conversation = "welcome";
const users = { alice: "Alice", bob: "Bob", carol: "Carol" };

/** Creates a demo organization in an empty database. `undefined` if the database holds something else. */
export async function ensureDemo(
  directory: Directory,
  conversations: ConversationDirectory,
): Promise<Demo | undefined> {
  const { items } = await directory.listOrganizations({ limit: 2 }, theServer);
  const isNew = items.length === 0;
  if (!isNew && !items.some(({ id }) => id === organization)) return undefined;
  if (isNew) {
    await directory.putOrganization(organization, "Demo organization");
    for (const [uid, name] of Object.entries(users)) await directory.putUser(theServer, organization, uid, { name });
    await conversations.put(theServer, organization, conversation, {
      name: "Welcome",
      participants: Object.keys(users),
    });
  }
  return { organization, users: Object.keys(users), conversation, isNew };
}
