import { Badge } from "../parts/badge.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { usePages } from "../state/loading.ts";

/** The webhooks of the organization, each a link to its deliveries. */
export function Webhooks() {
  const { client, link } = useConsole();
  const org = useOrganization();
  const list = usePages(
    (cursor) => client.listWebhooks(org, { limit: 50, ...(cursor !== undefined && { cursor }) }),
    [org],
  );
  return (
    <>
      <Loaded loading={list} what="webhooks">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No webhooks">
              A webhook tells your backend who was not reached, or what else it asks for. Create one with{" "}
              <code>herald webhooks put push --org {org} --post https://…</code>
            </Empty>
          ) : (
            <ul class="rows" aria-label="Webhooks">
              {items.map(({ id, url, state, wait_seconds, until }) => (
                <li key={id}>
                  <a class="row-link" href={link("webhooks", id)}>
                    <span class="row-title">{id}</span>
                    <span class="mono quiet">{url}</span>
                    <span class="spacer" />
                    <span class="quiet">
                      after {wait_seconds} s, until {until}
                    </span>
                    <Badge tone={state === "active" ? "ok" : "bad"}>{state}</Badge>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <More {...list} />
    </>
  );
}
