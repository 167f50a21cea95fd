import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Scope } from "../../src/contract/keys/scopes.ts";
import { Audit } from "../pages/audit.tsx";
import { Conversation } from "../pages/conversation.tsx";
import { Conversations } from "../pages/conversations.tsx";
import { Keys } from "../pages/keys.tsx";
import { Live } from "../pages/live.tsx";
import { FindMessage, Message, SystemMessage } from "../pages/message.tsx";
import { Organization } from "../pages/organization.tsx";
import { Organizations } from "../pages/organizations.tsx";
import { Overview } from "../pages/overview.tsx";
import { Proposals } from "../pages/proposals.tsx";
import { Scheduled } from "../pages/scheduled.tsx";
import { User } from "../pages/user.tsx";
import { Users } from "../pages/users.tsx";
import { Webhook } from "../pages/webhook.tsx";
import { Webhooks } from "../pages/webhooks.tsx";
import { useConsole } from "../state/context.ts";
import type { Organizations as Choices } from "../state/organizations.ts";
import { scrollTowards } from "../state/places.ts";
import { AtOnce } from "./at-once.tsx";
import { PageCode } from "./code/page-code.tsx";
import { NoOrganization, OrganizationChoice } from "./forms/organization-choice.tsx";
import { later } from "./later.tsx";
import { Prose } from "./prose.tsx";
import { Search } from "./search/search.tsx";
import { AsOf, Waiting } from "./states.tsx";

type Page = {
  name: string;
  title: string;
  /** The key needs one of these scopes to open the page. Without any, every key may open it. */
  scopes: readonly [Scope, ...Scope[]] | undefined;
  needsOrganization: boolean;
  Content: ComponentType;
  /** The page of a single item, if the address names one. */
  One?: ComponentType;
  /** Whether only links lead to it, and not the navigation. */
  isUnlisted?: boolean;
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
  {
    name: "proposals",
    title: "Proposals",
    scopes: ["history:read", "message:propose"],
    needsOrganization: true,
    Content: Proposals,
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
  {
    name: "messages",
    title: "Messages",
    scopes: ["history:read"],
    needsOrganization: true,
    Content: FindMessage,
    One: Message,
    isUnlisted: true,
  },
  {
    name: "system-messages",
    title: "System messages",
    scopes: ["history:read"],
    needsOrganization: true,
    Content: FindMessage,
    One: SystemMessage,
    isUnlisted: true,
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
  {
    name: "organizations",
    title: "Organizations",
    scopes: ["directory:read"],
    needsOrganization: false,
    Content: Organizations,
    One: Organization,
  },
  { name: "keys", title: "Keys", scopes: ["keys:manage"], needsOrganization: false, Content: Keys },
  { name: "audit", title: "Audit", scopes: ["observe"], needsOrganization: false, Content: Audit },
];

/** The frame of every page: header, organization and navigation. */
export function Shell({ organizations, signOut }: { organizations: Choices; signOut: () => void }) {
  const { me, route, place, can, link, org, asOf } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  const page = pages.find(({ name }) => name === route.page);
  const title = page?.title ?? "Page not found";
  const isShown = page !== undefined && (page.scopes === undefined || page.scopes.some(can));
  const isOne = route.id !== undefined && page?.One !== undefined;
  const shown = pages.filter(({ scopes, isUnlisted }) => !isUnlisted && (scopes === undefined || scopes.some(can)));
  const menu = useRef<HTMLButtonElement>(null);
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  useEffect(() => {
    if (!isMenuOpen) return;
    const close = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      menu.current?.focus();
      setIsMenuOpen(false);
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [isMenuOpen]);

  // Focusing the heading makes screen readers announce a page change. They announce the first page anyway. Before the page is shown,
  // so that it takes the focus from nothing that the reader uses at once, nor closes a menu that was just opened.
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    document.title = `${isOne ? `${route.id} · ` : ""}${title} · Herald`;
    if (!isFirst.current) heading.current?.focus({ preventScroll: true });
    isFirst.current = false;
    setIsMenuOpen(false);
  }, [route.page, route.id]);
  useEffect(() => scrollTowards(place), [place]);

  return (
    <>
      <button type="button" class="skip" onClick={() => heading.current?.focus()}>
        Skip to content
      </button>
      <header class={isMenuOpen ? "top open" : "top"}>
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
        <Search pages={shown} signOut={signOut} />
        <button
          ref={menu}
          type="button"
          class="small menu"
          aria-expanded={isMenuOpen}
          aria-controls="pages"
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <div class="account">
          <span
            class="key-name"
            title={me.session_id === null ? `API key ${me.id ?? "of the settings"}` : `Signed in as ${me.name}`}
          >
            {me.name}
          </span>
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        </div>
        <nav class="pages" id="pages" aria-label="Pages">
          {shown.map(({ name, title }) => (
            <a key={name} href={link(name)} aria-current={name === route.page ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <AsOf />
      <main id="main" class={asOf === undefined ? "" : "stale"} key={`${route.page}/${route.id ?? ""}`}>
        <div class="title-bar">
          <h1 tabIndex={-1} ref={heading} class={isOne ? "mono" : ""}>
            {isOne && (
              <span class="crumb">
                <a href={link(route.page)}>{title}</a> /{" "}
              </span>
            )}
            {isOne ? route.id : title}
          </h1>
          {isShown && <PageCode />}
        </div>
        {/* Another organization starts a page about one anew. Other pages stay, also when the organizations arrive late. */}
        <Body key={page?.needsOrganization ? org : undefined} page={page} isOne={isOne} organizations={organizations} />
      </main>
    </>
  );
}

type BodyProps = { page: Page | undefined; isOne: boolean; organizations: Choices };

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
          The page requires the scope <Prose text={`\`${page.scopes.join("` or `")}\``} />. Ask whoever manages the keys
          for a key with this scope.
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
  return (
    <AtOnce>
      <Content />
    </AtOnce>
  );
}
