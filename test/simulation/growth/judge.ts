import type { Driver } from "../../../src/store/sql/driver.ts";
import type { GrowthClimate } from "./climate.ts";
import type { Device } from "./device.ts";
import { callMayTakeMs } from "./lists.ts";
import { type Draft, show } from "./sender.ts";
import type { Told, Truth } from "./truth.ts";

type Account = {
  shared: Driver;
  climate: GrowthClimate;
  truth: Truth;
  drafts: Draft[];
  devices: Device[];
  /** Whether a message is there for sure. */
  isThere(id: string): boolean;
};

/** Describes all broken promises, at a time when nothing happens any more; empty if all were kept. */
export async function judgeGrowth(account: Account): Promise<string[]> {
  const { truth, drafts, devices } = account;
  const messages = [...truth.messages.values()];
  return [
    ...messages.flatMap((told) => [...judgeMessage(account, told)]),
    ...drafts.flatMap((draft) => [...judgeDraft(account, draft)]),
    ...devices.flatMap((device) => [...judgeDevice(account, device)]),
    ...(await judgeStored(account)),
  ];
}

/** Complete in the end, with its last piece or after a silence. */
function* judgeMessage({ climate, isThere, ...account }: Account, { id, said }: Told): Iterable<string> {
  if (said.at(-1)?.isOpen && isThere(id)) yield `${id} stays open`;
  const plan = account.drafts.find((draft) => draft.id === id)?.plan ?? [];
  const end = said.findIndex(({ isOpen, isGone }) => !isOpen && !isGone);
  const [before, last] = [said[end - 1], said[end]];
  if (before === undefined || last === undefined || last.text === plan.join("")) return;
  if (before.text !== last.text) yield `${id} is complete with ${show(last.text)}`;
  if (last.at - before.at < climate.silenceMs - callMayTakeMs)
    yield `${id} is complete after a silence of ${last.at - before.at} ms`;
}

/** All that was answered is stored, as it was meant. */
function* judgeDraft({ truth }: Account, { id, plan, acknowledged, isDone }: Draft): Iterable<string> {
  const said = truth.messages.get(id)?.said.findLast(({ isEdited }) => !isEdited);
  const whole = plan.join("");
  if (said === undefined) return yield `${id} is answered, and not stored`;
  if (!whole.startsWith(said.text)) yield `${id} says ${show(said.text)}, which nobody wrote`;
  if (!said.text.startsWith(plan.slice(0, acknowledged).join(""))) yield `${id} lacks what was answered`;
  if (isDone && said.text !== whole) yield `${id} is complete, and says ${show(said.text)}`;
}

/** A device knows what everyone knows. */
function* judgeDevice({ truth, isThere }: Account, device: Device): Iterable<string> {
  const { name, org, view, isUpToDate } = device;
  if (!isUpToDate) return yield `${name} is not up to date`;
  for (const [id, { text, isOpen }] of view) {
    const last = truth.last(id);
    if (last === undefined || last.isGone) yield `${name} knows ${id}, which is gone`;
    else if (isThere(id) && text !== last.text)
      yield `${name} knows ${id} with ${show(text)}, and it says ${show(last.text)}`;
    else if (isThere(id) && isOpen) yield `${name} takes ${id} to be open`;
  }
  for (const told of truth.messages.values())
    if (told.org === org && isThere(told.id) && !view.has(told.id)) yield `${name} does not know ${told.id}`;
}

/** The bytes of each organization are counted, and nothing is left of what is gone. */
async function judgeStored({ shared, truth }: Account): Promise<string[]> {
  const broken: string[] = [];
  const count = `SELECT id, stored_bytes AS counted, (SELECT COALESCE(SUM(OCTET_LENGTH(payload)
    + COALESCE(OCTET_LENGTH(uids), 0)), 0) FROM event WHERE org = organization.id) AS stored FROM organization`;
  for (const { id, counted, stored } of await shared.all<{ id: string; counted: number; stored: number }>(count))
    if (counted !== stored) broken.push(`${counted} bytes of ${id} are counted, not ${stored}`);
  for (const { id } of await shared.all<{ id: string }>("SELECT id FROM growth"))
    if (truth.last(id)?.isGone) broken.push(`${id} is gone, and can grow`);
  const pieces = "SELECT mid FROM event WHERE kind = 'append' AND payload <> ''";
  for (const { mid } of await shared.all<{ mid: string }>(pieces)) {
    const id = mid.slice(0, mid.indexOf(":"));
    const last = truth.last(id);
    if (last?.isGone || last?.isEdited) broken.push(`pieces of ${id} are stored, which says something else`);
  }
  return broken;
}
