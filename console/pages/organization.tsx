import { useState } from "preact/hooks";
import { EditOrganization } from "../parts/directory/edit-organization.tsx";
import { DeleteButton } from "../parts/forms/delete.tsx";
import { UseOfLimits } from "../parts/organization-use.tsx";
import { Loaded } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole } from "../state/context.ts";
import { useLoading, useRepeating } from "../state/loading.ts";
import { routeTo } from "../state/route.ts";

const lookEveryMs = 5_000;

/** One organization: its name, its limits and what it uses of them. */
export function Organization() {
  const { client, can, route, reloadOrganizations } = useConsole();
  const org = route.id ?? "";
  const organization = useLoading(() => client.getOrganization(org), [org]);
  useRepeating(async () => organization.reload(), lookEveryMs, [org]);
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Loaded loading={organization} what="the organization">
      {(shown) => (
        <>
          <p class="lead">
            {shown.name !== null && <strong>{shown.name}, </strong>}created <Time at={shown.created_at} />
          </p>
          {can("directory:write") && (
            <div class="feed-bar">
              <button type="button" class="small" onClick={() => setIsEditing(true)}>
                Change name and limits
              </button>
              <DeleteButton
                id={org}
                isTyped
                act={() => client.deleteOrganization(org)}
                onDeleted={() => {
                  reloadOrganizations();
                  location.hash = routeTo("organizations");
                }}
              >
                <p>
                  Everything in it is deleted: its users, conversations, messages, files, webhooks and keys. Its
                  connections are closed. You cannot undo this.
                </p>
              </DeleteButton>
            </div>
          )}
          <section aria-labelledby="use">
            <h2 id="use">Limits and use</h2>
            <UseOfLimits organization={shown} />
          </section>
          {isEditing && (
            <EditOrganization
              organization={shown}
              onChange={() => {
                organization.reload();
                reloadOrganizations();
              }}
              onClose={() => setIsEditing(false)}
            />
          )}
        </>
      )}
    </Loaded>
  );
}
