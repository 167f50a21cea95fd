import { expect } from "bun:test";
import type { Delivery, MessageReport, SystemMessageReport } from "../clients/wire.ts";
import { eventually } from "../deadline.ts";
import type { Organization } from "../servers/organization.ts";

/** The figures to compare; others are ignored. */
export type Figures = Partial<Omit<SystemMessageReport["delivery"], "first_delivered_at" | "last_delivered_at">>;

/** The report of a message, which must exist. */
export async function reportOf(org: Organization, serverMid: string): Promise<MessageReport> {
  const { status, body, text } = await org.herald.admin<MessageReport>("GET", org.path("messages", serverMid));
  if (status !== 200) throw new Error(`no report of ${serverMid}: ${text}`);
  return body;
}

/** The report of a system message, which must exist. */
export async function systemReportOf(org: Organization, mid: string, sender?: string): Promise<SystemMessageReport> {
  const query = sender === undefined ? "" : `?senderId=${encodeURIComponent(sender)}`;
  const path = org.path("system-messages", mid) + query;
  const { status, body, text } = await org.herald.admin<SystemMessageReport>("GET", path);
  if (status !== 200) throw new Error(`no report of ${mid}: ${text}`);
  return body;
}

/** Waits until a report has these figures; fails with its last state. None may exceed its target on the way. */
async function becomes<Report extends { delivery: Delivery }>(
  read: () => Promise<Report>,
  figures: Figures,
): Promise<Report> {
  let last: Report | undefined;
  const wanted = Object.entries(figures);
  const hasCome = async () => {
    const report = await read();
    last = report;
    const shown = new Map<string, unknown>(Object.entries(report.delivery));
    for (const [name, value] of wanted)
      if (typeof value === "number") expect({ [name]: Number(shown.get(name)) <= value }).toEqual({ [name]: true });
    return wanted.every(([name, value]) => Bun.deepEquals(shown.get(name), value)) ? report : undefined;
  };
  return await eventually(
    hasCome,
    () => `the report to have ${JSON.stringify(figures)}; it has ${JSON.stringify(last?.delivery)}`,
  );
}

/** Waits until the report of a message has these figures. */
export function messageBecomes(org: Organization, serverMid: string, figures: Figures): Promise<MessageReport> {
  return becomes(() => reportOf(org, serverMid), figures);
}

/** Waits until the report of a system message has these figures. */
export function systemMessageBecomes(org: Organization, mid: string, figures: Figures): Promise<SystemMessageReport> {
  return becomes(() => systemReportOf(org, mid), figures);
}
