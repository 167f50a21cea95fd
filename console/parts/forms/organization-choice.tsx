import { useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { useAction } from "../../state/loading.ts";
import type { Organizations } from "../../state/organizations.ts";
import { routeTo } from "../../state/route.ts";
import { Problem } from "../problem.tsx";
import { Empty } from "../states.tsx";
import { TextField } from "./field.tsx";

/** Navigates to the same page of another organization, without the selection on the current page. */
function useGo() {
  const { route } = useConsole();
  return (org: string) => {
    location.hash = routeTo(route.page, undefined, { org });
  };
}

/** Shows the current organization, and lets the user choose another if the key can access several. */
export function OrganizationChoice({ organizations }: { organizations: Organizations }) {
  const { org, me } = useConsole();
  const go = useGo();
  if (me.organization !== null) {
    return (
      <p class="organization">
        <span class="quiet">Organization</span> <strong title={me.organization}>{me.organization}</strong>
      </p>
    );
  }
  const { items, hasMore, isLoading } = organizations;
  if (items === undefined && isLoading) return <p class="organization quiet">Organization …</p>;
  if (items === undefined || hasMore) {
    return <TypedOrganization suggestions={items?.map(({ id }) => id) ?? []} />;
  }
  if (items.length === 0) return <p class="organization quiet">No organization yet</p>;
  const isListed = items.some(({ id }) => id === org);
  return (
    <label class="organization">
      <span class="quiet">Organization</span>
      <select value={org} onChange={({ currentTarget }) => go(currentTarget.value)}>
        {!isListed && org !== undefined && <option value={org}>{org}</option>}
        {items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name === null || name === id ? id : `${name} (${id})`}
          </option>
        ))}
      </select>
    </label>
  );
}

function TypedOrganization({ suggestions }: { suggestions: readonly string[] }) {
  const { org } = useConsole();
  const go = useGo();
  const [text, setText] = useState(org ?? "");
  return (
    <form
      class="organization"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "") go(text);
      }}
    >
      <TextField label="Organization" value={text} onChange={setText} suggestions={suggestions} isId />
      <button type="submit" class="small">
        Go
      </button>
    </form>
  );
}

/** Shown instead of an organization's page while no organization is selected. */
export function NoOrganization({ organizations }: { organizations: Organizations }) {
  const { can, client } = useConsole();
  const go = useGo();
  const [id, setId] = useState("");
  const create = useAction(async () => {
    await client.putOrganization(id);
    organizations.reload();
    go(id);
  });
  if (organizations.error !== undefined) return <Problem error={organizations.error} retry={organizations.reload} />;
  if (organizations.items === undefined) {
    return (
      <Empty title="Which organization?">
        Your key may not list organizations. Type the id of one above and press Go.
      </Empty>
    );
  }
  return (
    <Empty title="There is no organization yet">
      <p>Each organization's users, conversations and messages are isolated from all other organizations.</p>
      {can("directory:write") && (
        <form
          class="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            create.run();
          }}
        >
          <TextField label="Id of the new organization" value={id} onChange={setId} isId required />
          <button type="submit" class="primary" disabled={create.isBusy}>
            Create
          </button>
        </form>
      )}
      {create.error !== undefined && <Problem error={create.error} />}
    </Empty>
  );
}
