import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import { Audit } from "../pages/audit.tsx";
import { Conversation } from "../pages/conversation.tsx";
import { Conversations } from "../pages/conversations.tsx";
import { Keys } from "../pages/keys.tsx";
import { Live } from "../pages/live.tsx";
import { Overview } from "../pages/overview.tsx";
import { User } from "../pages/user.tsx";
import { Users } from "../pages/users.tsx";
import { useConsole } from "../state/context.ts";
import type { Organizations } from "../state/organizations.ts";
import { NoOrganization, OrganizationChoice } from "./forms/organization-choice.tsx";
import { later } from "./later.tsx";
import { Waiting } from "./states.tsx";

type Page = {
  name: string;
  title: string;
  /** One of these is enough; none: every key sees the page. */
  scopes: readonly [Scope, ...Scope[]] | undefined;
  needsOrganization: boolean;
  Content: ComponentType;
  /** What is shown where the address names one of them. */
  One?: ComponentType;
};

const pages: readonly Page[] = [
  { name: "overview", title: "Overview", scopes: undefined, needsOrganization: false, Content: Overview },
  {
    name: "compose",
    title: "Compose",
    scopes: ["message:send", "system:send"],
    needsOrganization: true,
    // With the schemas of the contract it is larger than all other pages together.
    Content: later("the form", async () => (await import("../pages/compose.tsx")).Compose),
  },
  { name: "live", title: "Live", scopes: ["observe"], needsOrganization: true, Content: Live },
  {
    name: "conversations",
    title: "Conversations",
    scopes: ["directory:read"],
    needsOrganization: true,
    Content: Conversations,
    One: Conversation,
  },
  { name: "users", title: "Users", scopes: ["directory:read"], needsOrganization: true, Content: Users, One: User },
  { name: "keys", title: "Keys", scopes: ["keys:manage"], needsOrganization: false, Content: Keys },
  { name: "audit", title: "Audit", scopes: ["observe"], needsOrganization: false, Content: Audit },
];

/** The frame of every page: where one is, whose it is, and the way to the other pages. */
export function Shell({ organizations, signOut }: { organizations: Organizations; signOut: () => void }) {
  const { me, route, can, link, org } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  const page = pages.find(({ name }) => name === route.page);
  const title = page?.title ?? "Nothing here";
  const isOne = route.id !== undefined && page?.One !== undefined;
  const shown = pages.filter(({ scopes }) => scopes === undefined || scopes.some(can));

  // Who does not see the page change hears its heading; the first page is read out by itself.
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${isOne ? `${route.id} · ` : ""}${title} · Herald`;
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [route.page, route.id]);

  return (
    <>
      <button type="button" class="skip" onClick={() => heading.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={link("overview")}>
          <img
            src={document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? ""}
            alt=""
            width="24"
            height="24"
          />
          Herald
        </a>
        <OrganizationChoice organizations={organizations} />
        <div class="account">
          <span class="key-name" title={`API key ${me.id ?? "of the settings"}`}>
            {me.name}
          </span>
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <nav class="pages" aria-label="Pages">
        {shown.map(({ name, title }) => (
          <a key={name} href={link(name)} aria-current={name === route.page ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <main id="main" key={`${route.page}/${route.id ?? ""}/${org ?? ""}`}>
        <h1 tabIndex={-1} ref={heading} class={isOne ? "mono" : ""}>
          {isOne && <span class="crumb">{title} / </span>}
          {isOne ? route.id : title}
        </h1>
        <Body page={page} isOne={isOne} organizations={organizations} />
      </main>
    </>
  );
}

type BodyProps = { page: Page | undefined; isOne: boolean; organizations: Organizations };

function Body({ page, isOne, organizations }: BodyProps) {
  const { can, link, org } = useConsole();
  if (page === undefined) {
    return (
      <p>
        The console has no such page. <a href={link("overview")}>Overview</a>
      </p>
    );
  }
  if (page.scopes !== undefined && !page.scopes.some(can)) {
    return (
      <div class="notice">
        <p class="notice-title">Your key does not open this page</p>
        <p>
          It needs the scope <code>{page.scopes.join("` or `")}</code>. Ask who manages the keys for one that has it.
        </p>
      </div>
    );
  }
  if (page.needsOrganization && org === undefined) {
    return organizations.isLoading ? (
      <Waiting what="organizations" />
    ) : (
      <NoOrganization organizations={organizations} />
    );
  }
  const Content = isOne ? (page.One ?? page.Content) : page.Content;
  return <Content />;
}
