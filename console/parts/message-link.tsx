import type { ComponentChildren } from "preact";
import { useConsole } from "../state/context.ts";
import { routeTo } from "../state/route.ts";

type Props = {
  /** What it is; `either` if nobody says so. */
  kind: "message" | "system_message" | "either";
  id: string;
  /** Who sent a system message, as others may have used the same id. */
  from?: string | undefined;
  /** Its organization, if it is another one than the selected one. */
  organization?: string | undefined;
  /** What stands in place of the id. */
  children?: ComponentChildren;
};

/** The id of a message or system message, which leads to its page if the key may read it. */
export function MessageLink({ kind, id, from, organization, children = <code>{id}</code> }: Props) {
  const { can, link, me } = useConsole();
  if (!can("history:read")) return <>{children}</>;
  const [page, query]: [string, { from?: string | undefined }] =
    kind === "system_message" ? ["system-messages", { from }] : ["messages", {}];
  const isElsewhere = organization !== undefined && me.organization === null;
  const href = isElsewhere ? routeTo(page, id, { ...query, org: organization }) : link(page, id, query);
  return <a href={href}>{children}</a>;
}
