import { pause } from "../models/time.ts";
import { isThere, list, type World } from "./lists.ts";
import type { Node } from "./node.ts";
import { createFrameWatch, type Frame, follow, type View } from "./view.ts";

/** A device of a user, and what it knows. It is up to date once it has resumed or listed, until its connection ends. */
export type Device = {
  name: string;
  org: string;
  uid: string;
  view: View;
  isUpToDate: boolean;
  /** Whether it has listed since it was last told that it cannot resume. */
  hasListed: boolean;
  /** The messages that it was told of, in order. */
  seen: string[];
};

/** What all devices share. `endsAt`: when things stop happening. */
export type Devices = World & { cids: string[]; endsAt: number; isOver(): boolean };

type Habits = { isSlow: boolean; isStream: boolean };
type Answer = { recovered?: boolean; error?: unknown };

const healthyBytesPerMs = 1024 * 1024;
const arrivesWithinMs = 20;
const abnormalCode = 1006;

/** A device that comes and goes as long as things happen, and then stays. */
export async function runDevice(devices: Devices, device: Device): Promise<void> {
  const { random, climate, now, isOver, pickNode, endsAt } = devices;
  const habits = { isSlow: random.next() < climate.slowReaders, isStream: random.next() < climate.eventStreams };
  await pause(random.integer(0, climate.activeMs / 2));
  while (!isOver()) {
    const node = pickNode();
    if (node !== undefined) {
      const { ended, cut } = connect(devices, device, node, habits);
      const stayMs = random.integer(1, climate.stayMs);
      if (now() + stayMs < endsAt) {
        await Promise.race([ended, pause(stayMs)]);
        cut();
      }
      await ended;
      device.isUpToDate = false;
    }
    await pause(random.integer(10, 10 + climate.awayMs));
  }
}

/** The message after which a device resumes, if it does. */
function chooseSince({ random, climate }: Devices, { seen, hasListed }: Device): string | undefined {
  if (!hasListed || random.next() >= climate.comesBackWithSince) return undefined;
  return random.next() < climate.comesBackEarlier ? seen[random.integer(0, seen.length - 1)] : seen.at(-1);
}

function connect(devices: Devices, device: Device, node: Node, { isSlow, isStream }: Habits) {
  const { random, truth, broken, isActive } = devices;
  const { org, uid, name } = device;
  const since = chooseSince(devices, device);
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<void>();
  const watch = createFrameWatch(truth.offsetOf);
  const slowBytesPerMs = random.integer(2, 200);
  const arriving: string[] = [];
  const frames: Frame[] = [];
  let isEnded = false;

  /** Whether a flaw counts: what is edited, or gone, is not what the frames before say. */
  const isFlawOf = (id: string) => isThere(devices, id) && truth.last(id)?.isEdited !== true;

  function hear(text: string): void {
    const { response, ...frame }: Frame & { response?: Answer } = JSON.parse(text);
    if (response !== undefined) {
      answer(response);
      return;
    }
    for (const { id, what } of watch(text, frame))
      if (what.includes("recall") || isFlawOf(id)) broken.push(`${name}: ${id} ${what}`);
    frames.push(frame);
    if (frame.message !== undefined) device.seen.push(frame.message._id);
    const lacking = follow(device.view, frame);
    if (lacking !== undefined && isFlawOf(lacking)) broken.push(`${name}: ${lacking} has a hole`);
  }

  function answer({ recovered, error }: Answer): void {
    if (error !== undefined) return;
    if (recovered === true) device.isUpToDate = true;
    else {
      device.view.clear();
      device.seen.length = 0;
      device.hasListed = false;
      catchUp().catch((thrown: unknown) => broken.push(`the simulation itself fails: ${thrown}`));
    }
  }

  /** Lists everything, and then follows again what was heard meanwhile. */
  async function catchUp(): Promise<void> {
    const listed: View = new Map();
    for (const cid of devices.cids) {
      let page: View | undefined;
      while (page === undefined && !isEnded) {
        page = await list(devices, { org, uid, cid });
        if (page === undefined) await pause(random.integer(1, 100));
      }
      for (const [id, known] of page ?? []) listed.set(id, known);
    }
    if (isEnded) return;
    for (const frame of frames) {
      const lacking = follow(listed, frame);
      if (lacking !== undefined && isFlawOf(lacking))
        broken.push(`${name}: ${lacking} has a hole after what was listed`);
    }
    device.view = listed;
    device.hasListed = true;
    device.isUpToDate = true;
  }

  function arrive(): void {
    const text = arriving.shift();
    if (text !== undefined) hear(text);
  }

  const wire = {
    get bytesPerMs() {
      return isSlow && isActive() ? slowBytesPerMs : healthyBytesPerMs;
    },
    onText(text: string) {
      arriving.push(text);
      setTimeout(arrive, arrivesWithinMs); // all take the same time, so that they stay in order
    },
    onSubscribed: () => undefined,
    onEnd(code: number) {
      if (code === abnormalCode)
        arriving.length = 0; // what was on its way never arrives
      else while (arriving.length > 0) arrive();
      isEnded = true;
      onEnded();
    },
  };
  return { ended, cut: node.connect(wire, { org, uid, since, isStream }) };
}
