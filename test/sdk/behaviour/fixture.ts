import { z } from "zod";

/** The JSON Schema of these files is `docs/reference/sdk-behaviour/fixtures.schema.json`; `npm run generate` writes it. */
const json = z.record(z.string(), z.unknown());
const within = z
  .tuple([z.union([z.number().min(0), z.string()]), z.union([z.number().min(0), z.string()])])
  .describe("The earliest and the latest time after the previous step, in milliseconds. Without it: at once.")
  .optional();
const spread = z
  .literal(true)
  .describe(
    "The time is random. Over all `runs` of the fixture, it is in the lower half of `within` at least once, and in the upper half at least once.",
  )
  .optional();
const count = z
  .int()
  .positive()
  .describe("The step stands for so many, one after another; `<n>` in its strings is 1, 2, 3, …")
  .optional();
const socket = z
  .int()
  .positive()
  .describe("Which connection acts: 1 is the first one that the client opened. Without it, the last one.")
  .optional();
const address = z.int().positive().describe("The address among those that the app gave, from 1.").optional();
const code = z.union([z.int(), z.string()]).describe("A number, or the name of one in `each`.");

/** What the app does with the client. */
const appStep = z.union([
  z.strictObject({ app: z.literal("starts") }).describe("The app starts the client."),
  z.strictObject({ app: z.literal("stops") }).describe("The app stops the client."),
  z
    .strictObject({ app: z.literal("reloads") })
    .describe("The app ends, and starts anew with another client and the same store. Its connections are gone."),
  z
    .strictObject({
      app: z.literal("asks"),
      request: z.enum([
        "ping",
        "conversation_list",
        "message_list",
        "ack",
        "system_message_list",
        "system_message_read",
      ]),
      parameters: json.optional(),
      ids: z.int().optional().describe("For `ack`: acknowledges `m1` to `m<ids>` in one call."),
    })
    .describe("The app sends a request through the client. It later hears an `answer` or a `failure`."),
]);

/** What the server does. The runner plays it. */
const serverStep = z.union([
  z.strictObject({ server: z.literal("accepts"), socket }).describe("The WebSocket handshake succeeds."),
  z
    .strictObject({
      server: z.literal("refuses"),
      socket,
      status: code.optional(),
      code: z.string().optional(),
      retry_after: z.int().optional(),
    })
    .describe(
      "The handshake fails: the connection is refused, or is answered with this HTTP status; with `code`, by a Herald server, in an error of that code (RFC 9457), and with `retry_after` in the header.",
    ),
  z
    .strictObject({
      server: z.literal("streams"),
      socket,
      recovered: z.boolean().optional(),
      type: z.string().optional().describe("The media type. Without it, `text/event-stream`."),
    })
    .describe("The server answers a stream with 200, and with the header `Herald-Recovered` if given."),
  z
    .strictObject({
      server: z.literal("answers"),
      socket,
      request: z.string().optional().describe("Which request. Without it, the oldest one without an answer."),
      body: json.describe("The `response`, without its `id`, which the runner takes from the request."),
    })
    .describe("The server answers a request."),
  z
    .strictObject({ server: z.literal("sends"), socket, frame: json.optional(), text: z.string().optional(), count })
    .describe(
      "The server sends a frame: one object as JSON text, or this text. On a stream, an event with this data; the text is raw.",
    ),
  z
    .strictObject({ server: z.literal("closes"), socket, code, reason: z.string().optional() })
    .describe("The server closes the WebSocket with a close frame."),
  z.strictObject({ server: z.literal("ends"), socket }).describe("The server ends a stream."),
  z
    .strictObject({ server: z.literal("cuts"), socket })
    .describe("The connection ends without a close frame, which a WebSocket reports as 1006."),
]);

/** What happens to the device. */
const deviceStep = z.union([
  z
    .strictObject({ device: z.enum(["goes offline", "comes online"]) })
    .describe("The platform reports that the network is gone, or back. Only for platforms that do: see `needs`."),
  z
    .strictObject({ device: z.literal("sleeps"), ms: z.number().positive() })
    .describe("All clocks go on, but nothing runs for so long."),
]);

/** What the client must do next. */
const clientStep = z.union([
  z.strictObject({ client: z.literal("opens"), within, spread, address }).describe("It opens a WebSocket."),
  z
    .strictObject({
      client: z.literal("streams"),
      within,
      address,
      parameters: z
        .strictObject({ token: z.string().optional(), since: z.string().optional() })
        .optional()
        .describe("The token in `Authorization`, and what `Last-Event-ID` says."),
      without: z.array(z.literal("since")).optional(),
    })
    .describe("It requests `GET /sse`."),
  z
    .strictObject({
      client: z.literal("sends"),
      within,
      socket,
      request: z.string(),
      parameters: json.optional().describe("Members that the request must have, with these values."),
      without: z.array(z.string()).optional().describe("Members that the request must not have."),
      ids: z.tuple([z.int(), z.int()]).optional().describe("For `ack`: exactly the ids `m<first>` to `m<last>`."),
    })
    .describe("It sends a request with an `id` that no other pending request of this connection has."),
  z
    .strictObject({ client: z.literal("closes"), within, socket })
    .describe("It closes the WebSocket, or drops the connection. It does not wait for the server."),
]);

/** What the app must hear next from the client. */
const hearsStep = z.union([
  z.strictObject({ hears: z.literal("message"), id: z.string(), within, count }),
  z.strictObject({ hears: z.literal("system_message"), id: z.string(), from: z.string(), within }),
  z.strictObject({ hears: z.literal("edit"), id: z.string(), body: z.string(), within }),
  z.strictObject({ hears: z.literal("recall"), ids: z.array(z.string()), within }),
  z.strictObject({ hears: z.literal("read"), ids: z.array(z.string()), from: z.string(), within }),
  z.strictObject({
    hears: z.literal("reactions"),
    id: z.string(),
    from: z.string(),
    add: z.string().optional(),
    remove: z.string().optional(),
    within,
  }),
  z.strictObject({ hears: z.literal("system_recall"), ids: z.array(z.string()), from: z.string(), within }),
  z.strictObject({ hears: z.literal("system_read"), ids: z.array(z.string()), seen: z.boolean(), within }),
  z
    .strictObject({ hears: z.literal("gap"), since: z.union([z.string(), z.null()]), within })
    .describe("Messages after `since` may be missing; `null`: of all, because the client had no `since`."),
  z
    .strictObject({
      hears: z.literal("state"),
      state: z.enum(["connecting", "connected", "reconnecting", "offline", "closed", "stopped"]),
      code: code.optional(),
      within,
    })
    .describe("The state of the client becomes this one, whatever its states before."),
  z
    .strictObject({ hears: z.literal("error"), code: z.string().optional(), within })
    .describe("An error is reported, whatever errors before; `code` is that of the server's answer."),
  z
    .strictObject({ hears: z.literal("answer"), request: z.string(), id: z.string().optional(), within })
    .describe("A request of the app has succeeded; `id` is that of the first message or conversation in the answer."),
  z
    .strictObject({ hears: z.literal("failure"), request: z.string(), code: z.string().optional(), within })
    .describe("A request of the app has failed; `code` is that of the server's answer, if there was one."),
]);

const connectsStep = z
  .strictObject({
    connects: z.strictObject({
      within,
      spread,
      parameters: json.optional(),
      without: z.array(z.string()).optional(),
      recovered: z.boolean().optional(),
      address,
    }),
  })
  .describe(
    "Short for five steps: the client opens a connection, the server accepts, the client sends `connect` with these parameters, the server answers `success` and `recovered` if given, the app hears the state `connected`.",
  );

const quietStep = z
  .strictObject({ quiet: z.union([z.number().positive(), z.string()]) })
  .describe("So many milliseconds pass, in which the client opens nothing, sends nothing and closes nothing.");

const stepSchema = z.union([appStep, serverStep, deviceStep, clientStep, hearsStep, connectsStep, quietStep]);

const tokenSchema = z.union([
  z.string(),
  z.strictObject({ fails: z.string() }).describe("The app fails to get a token."),
  z.strictObject({ hangs: z.literal(true) }).describe("The app never gets an answer."),
  z.null().describe("The app's token source succeeds, but gives no text."),
]);

const fixtureSchema = z.strictObject({
  rule: z.string().describe("The number of the rule in `sdk-behaviour.md`."),
  name: z.string(),
  needs: z
    .array(z.enum(["network events", "server-sent events", "a store"]))
    .optional()
    .describe("What the platform must have. A client on a platform without it skips the fixture."),
  runs: z.int().positive().optional().describe("How often to replay it, from the beginning; without it, once."),
  each: z
    .record(z.string(), z.array(z.unknown()))
    .optional()
    .describe(
      "Replay it for each of these values: a string `<name>` in the options and the steps stands for the value.",
    ),
  options: z
    .strictObject({
      since: z.string().optional(),
      device_id: z.string().optional(),
      addresses: z
        .int()
        .positive()
        .optional()
        .describe("How many addresses of servers the app gives. Without it, one."),
      store: z.literal(true).optional().describe("The app gives a place where the client keeps its progress."),
      fallback: z
        .literal(true)
        .optional()
        .describe("The client may use server-sent events. Without it, it uses only WebSockets."),
      tokens: z
        .array(tokenSchema)
        .optional()
        .describe('What the app\'s token source gives, in turn; the last one again and again. Without it: "token".'),
      throws: z.array(z.string()).optional().describe("The app's handler of these messages throws."),
      rejects: z
        .array(z.string())
        .optional()
        .describe("The app's handler of these messages is asynchronous, and fails after it has returned."),
    })
    .optional()
    .describe("What the app creates the client with."),
  steps: z.array(stepSchema).min(1),
});

/** A file of fixtures. */
export const fixturesSchema = z.strictObject({
  $schema: z.literal("./fixtures.schema.json"),
  topic: z.string(),
  fixtures: z.array(fixtureSchema).min(1),
});

export type Fixture = z.infer<typeof fixtureSchema>;
export type Step = z.infer<typeof stepSchema>;
export type Token = z.infer<typeof tokenSchema>;
