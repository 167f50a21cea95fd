import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import { Audit } from "../pages/audit.tsx";
import { Conversation } from "../pages/conversation.tsx";
import { Conversations } from "../pages/conversations.tsx";
import { Keys } from "../pages/keys.tsx";
import { Live } from "../pages/live.tsx";
import { Overview } from "../pages/overview.tsx";
import { Scheduled } from "../pages/scheduled.tsx";
import { User } from "../pages/user.tsx";
import { Users } from "../pages/users.tsx";
import { Webhook } from "../pages/webhook.tsx";
import { Webhooks } from "../pages/webhooks.tsx";
import { useConsole } from "../state/context.ts";
import type { Organizations } from "../state/organizations.ts";
import { NoOrganization, OrganizationChoice } from "./forms/organization-choice.tsx";
import { later } from "./later.tsx";
import { Waiting } from "./states.tsx";

type Page = {
  name: string;
  title: string;
  /** The key needs one of these scopes to open the page. Without any, every key may open it. */
  scopes: readonly [Scope, ...Scope[]] | undefined;
  needsOrganization: boolean;
  Content: ComponentType;
  /** The page of a single item, if the address names one. */
  One?: ComponentType;
};

const pages: readonly Page[] = [
  { name: "overview", title: "Overview", scopes: undefined, needsOrganization: false, Content: Overview },
  {
    name: "compose",
    title: "Compose",
    scopes: ["message:send", "system:send"],
    needsOrganization: true,
    // Loaded on demand: with the contract's schemas, it is larger than all other pages together.
    Content: later("the form", async () => (await import("../pages/compose.tsx")).Compose),
  },
  {
    name: "scheduled",
    title: "Scheduled",
    scopes: ["history:read"],
    needsOrganization: true,
    Content: Scheduled,
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
  {
    name: "webhooks",
    title: "Webhooks",
    scopes: ["webhooks:manage"],
    needsOrganization: true,
    Content: Webhooks,
    One: Webhook,
  },
  { name: "keys", title: "Keys", scopes: ["keys:manage"], needsOrganization: false, Content: Keys },
  { name: "audit", title: "Audit", scopes: ["observe"], needsOrganization: false, Content: Audit },
];

/** The frame of every page: header, organization and navigation. */
export function Shell({ organizations, signOut }: { organizations: Organizations; signOut: () => void }) {
  const { me, route, can, link, org } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  const page = pages.find(({ name }) => name === route.page);
  const title = page?.title ?? "Page not found";
  const isOne = route.id !== undefined && page?.One !== undefined;
  const shown = pages.filter(({ scopes }) => scopes === undefined || scopes.some(can));

  // Focusing the heading makes screen readers announce a page change. They announce the first page anyway.
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
        Skip to content
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
      <main id="main" key={`${route.page}/${route.id ?? ""}`}>
        <h1 tabIndex={-1} ref={heading} class={isOne ? "mono" : ""}>
          {isOne && <span class="crumb">{title} / </span>}
          {isOne ? route.id : title}
        </h1>
        {/* Another organization starts a page about one anew. Other pages stay, also when the organizations arrive late. */}
        <Body key={page?.needsOrganization ? org : undefined} page={page} isOne={isOne} organizations={organizations} />
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
        The console has no page at this address. Go to the <a href={link("overview")}>overview</a>.
      </p>
    );
  }
  if (page.scopes !== undefined && !page.scopes.some(can)) {
    return (
      <div class="notice">
        <p class="notice-title">Your key does not open this page</p>
        <p>
          The page requires the scope <code>{page.scopes.join("` or `")}</code>. Ask whoever manages the keys for a key
          with this scope.
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
