import { OpenById } from "../parts/forms/open-by-id.tsx";
import { Rows } from "../parts/rows.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { basePath } from "../state/server.ts";

/** The conversations of the organization, by id. */
export function Conversations() {
  const { client } = useConsole();
  const org = useOrganization();
  const list = usePages(
    (cursor) => client.listConversations(org, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org],
  );
  return (
    <>
      <OpenById page="conversations" label="Conversation" />
      <Loaded loading={list} what="conversations">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No conversations yet">
              Create a conversation with <code>PUT /admin/organizations/{org}/conversations/…</code>, see the{" "}
              <a href={`${basePath}/docs`}>reference</a>.
            </Empty>
          ) : (
            <>
              <Rows
                page="conversations"
                items={items}
                aside={({ created_at }) => (
                  <span class="fine">
                    since <Time at={created_at} />
                  </span>
                )}
              />
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
