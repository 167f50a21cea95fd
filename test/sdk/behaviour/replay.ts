import { inSimulatedTime, type SimulatedTime } from "../../simulation/models/time.ts";
import type { Step, Token } from "./fixture.ts";
import { createNetwork, type NetworkAct, type ScriptedSocket } from "./network.ts";
import type { Script } from "./scripts.ts";
import { codeOf, createSubject, type Heard, type Subject, type SubjectOptions } from "./subject.ts";

/** The position within its bounds, from 0 to 1, of each time that the script calls random, by the number of its step. */
export type Positions = Map<number, number>;

type TimedEvent = Heard & { at: number };
/** Events of which a script names only some: a client may report more states and errors. */
const isOptional = ({ hears }: Heard) => hears === "state" || hears === "error";

/**
 * Replays a script in simulated time. Throws an error that names the step and lists what happened, as soon as the client does
 * something else than the script says.
 */
export function replay(script: Script, create: (options: SubjectOptions) => Subject = createSubject): Positions {
  const { fetch } = globalThis;
  try {
    return inSimulatedTime((time) => play(script, time, create), { simulatesDate: true });
  } finally {
    Object.assign(globalThis, { fetch });
    Reflect.deleteProperty(globalThis.navigator, "onLine");
  }
}

function play(script: Script, time: SimulatedTime, create: (options: SubjectOptions) => Subject): Positions {
  const positions: Positions = new Map();
  const story: string[] = [];
  const note = (actor: string, what: object) =>
    story.push(`${time.now().toFixed(0)} ms, ${actor}: ${JSON.stringify(what)}`);
  const network = createNetwork(time.now);
  const events: TimedEvent[] = [];
  const heard = (event: Heard) => void events.push({ ...event, at: time.now() });
  Object.assign(globalThis, { fetch: network.fetch });
  const {
    since,
    device_id: deviceId,
    addresses = 1,
    fallback = false,
    throws = [],
    rejects = [],
  } = script.options ?? {};
  const tokens = [...(script.options?.tokens ?? ["token"])];
  const hosts = Array.from({ length: addresses }, (_, index) => `address-${index + 1}.test`);
  const kept = new Map<string, string>();
  let isRunning = true;
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void (isRunning && kept.set(key, value)),
  };
  const options: SubjectOptions = {
    store: script.options?.store === true ? store : undefined,
    urls: hosts.map((host) => `http://${host}`),
    fallback,
    since,
    deviceId,
    token: () => giveToken(tokens.length > 1 ? tokens.shift() : tokens[0]),
    throwsOn: (id) => throws.includes(id),
    rejectsOn: (id) => rejects.includes(id),
    WebSocket: network.WebSocket,
    heard,
  };
  let subject = create(options);
  let number = 0;
  let lastAt = 0;

  function fail(problem: string): never {
    for (const act of network.acts) note("not expected, client", act);
    for (const event of events) note("not expected, app", event);
    throw new Error(`${script.title}, step ${number}: ${problem}\n${story.join("\n")}`);
  }

  function checkTime(at: number, [from, to]: [number, number], isRandom: boolean) {
    const elapsed = at - lastAt;
    // What happened while the script waited for something else has happened before the previous step was over.
    if (elapsed < from && from > 0) fail(`after ${elapsed} ms, which is too early`);
    if (elapsed > to) fail(`after ${elapsed} ms, which is too late`);
    if (isRandom) positions.set(number, (elapsed - from) / (to - from));
    lastAt = Math.max(at, lastAt);
  }

  function expectAct(step: Extract<Step, { client: string }>) {
    const [from, to] = boundsOf(step.within);
    if (!time.passUntil(to + 1, () => network.acts.length > 0)) fail(`the client does not do this within ${to} ms`);
    const [act] = network.acts;
    if (act === undefined || !isExpected(act, step)) fail("the client does something else");
    network.acts.shift();
    note("client", act);
    checkTime(act.at, [from, to], "spread" in step && step.spread === true);
  }

  function isExpected(act: NetworkAct, step: Extract<Step, { client: string }>): boolean {
    if (act.client !== step.client || act.socket !== numberOf(step)) return false;
    if ("url" in act && "address" in step && step.address !== undefined)
      if (new URL(act.url).host !== hosts[step.address - 1]) return false;
    if (act.client === "opens" || act.client === "closes") return true;
    if (step.client !== "sends" && step.client !== "streams") return false;
    const { parameters = {}, without = [] } = step;
    const isWellFormed =
      Object.entries(parameters).every(([name, value]) => Bun.deepEquals(act.parameters[name], value)) &&
      without.every((name) => !(name in act.parameters));
    if (step.client !== "sends" || act.client !== "sends") return isWellFormed;
    const { ids } = step;
    return (
      isWellFormed &&
      act.request === step.request &&
      (ids === undefined || Bun.deepEquals(act.parameters.ids, idsBetween(...ids))) &&
      socketOf(step).unanswered.every((other) => other === act || String(other.id) !== String(act.id))
    );
  }

  function expectEvent({ within, ...step }: Extract<Step, { hears: string }>) {
    const [from, to] = boundsOf(within);
    const matches = (event: Heard) => Object.entries(step).every(([name, value]) => Bun.deepEquals(event[name], value));
    const mayMatch = isOptional(step) ? matches : (event: Heard) => !isOptional(event);
    if (!time.passUntil(to + 1, () => events.some(mayMatch))) fail(`the app does not hear this within ${to} ms`);
    const index = events.findIndex(mayMatch);
    const event = events[index];
    if (event === undefined || !matches(event)) fail("the app hears something else");
    events.splice(index, 1);
    if (step.hears === "state") forgetStatesBefore(index);
    note("app", event);
    checkTime(event.at, [from, to], false);
  }

  function forgetStatesBefore(index: number) {
    const kept = events.filter((event, position) => position >= index || event.hears !== "state");
    events.splice(0, events.length, ...kept);
  }

  const numberOf = (step: Step) => ("socket" in step ? step.socket : undefined) ?? network.sockets.length;
  const socketOf = (step: Step): ScriptedSocket =>
    network.sockets[numberOf(step) - 1] ?? fail("there is no such connection");

  function serve(step: Extract<Step, { server: string }>) {
    const socket = socketOf(step);
    switch (step.server) {
      case "accepts":
        return socket.accept();
      case "streams":
        return socket.accept(step.recovered, step.type);
      case "refuses": {
        const status = step.status === undefined ? undefined : Number(step.status);
        return socket.refuse({ status, code: step.code, retryAfter: step.retry_after });
      }
      case "sends":
        return socket.send(step.frame, step.text ?? "");
      case "closes":
        return socket.close(Number(step.code), step.reason ?? "");
      case "ends":
        return socket.close(1006, "");
      case "cuts":
        return socket.cut();
      case "answers": {
        const { unanswered } = socket;
        const index = unanswered.findIndex(({ request }) => step.request === undefined || request === step.request);
        const [request] = index < 0 ? [] : unanswered.splice(index, 1);
        if (request === undefined) return fail("there is no request to answer");
        return socket.send({ response: { id: request.id, ...step.body } }, "");
      }
    }
  }

  function reload() {
    if (network.acts.length > 0 || !events.every(isOptional)) fail("the client does more than the script says");
    isRunning = false; // it has no time for last words
    subject.stop();
    time.pass(0);
    isRunning = true;
    network.acts.splice(0);
    events.splice(0);
    subject = create(options);
    subject.start();
  }

  function act(step: Extract<Step, { app: string }>) {
    if (step.app === "starts") return subject.start();
    if (step.app === "stops") return subject.stop();
    if (step.app === "reloads") return reload();
    const { request, parameters = {}, ids = 0 } = step;
    subject.ask(request, parameters, idsBetween(1, ids)).then(
      (id) => heard({ hears: "answer", request, ...(id !== undefined && { id }) }),
      (error: unknown) => heard({ hears: "failure", request, ...codeOf(error) }),
    );
  }

  function disturb(step: Extract<Step, { device: string }>) {
    if (step.device === "sleeps") time.sleep(step.ms);
    else report(step.device);
  }

  function perform(step: Step) {
    if ("client" in step) return expectAct(step);
    if ("hears" in step) return expectEvent(step);
    lastAt = time.now();
    if ("quiet" in step) {
      time.pass(Number(step.quiet));
      if (network.acts.length > 0) fail("the client does something");
      lastAt = time.now();
    } else {
      note("script", step);
      if ("app" in step) act(step);
      else if ("server" in step) serve(step);
      else if ("device" in step) disturb(step);
      time.pass(0);
      lastAt = time.now();
    }
  }

  for (const step of script.steps) {
    number += 1;
    perform(step);
  }
  number += 1;
  if (network.acts.length > 0 || !events.every(isOptional)) fail("the client does more than the script says");
  subject.stop();
  time.pass(0);
  return positions;
}

/** Reports as browsers do. */
function report(change: "goes offline" | "comes online") {
  const onLine = change === "comes online";
  Object.defineProperty(globalThis.navigator, "onLine", { value: onLine, configurable: true });
  globalThis.dispatchEvent(new Event(onLine ? "online" : "offline"));
}

const idsBetween = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `m${first + index}`);

const boundsOf = (within: readonly [number | string, number | string] | undefined): [number, number] => [
  Number(within?.[0] ?? 0),
  Number(within?.[1] ?? 0),
];

function giveToken(token: Token | undefined): string | null | Promise<string> {
  if (typeof token === "string" || token === null) return token;
  if (token === undefined || "fails" in token) return Promise.reject(new Error(token?.fails ?? "no token"));
  return new Promise(() => undefined);
}
