/** A stand-in for models: whatever is asked, it streams these words, in the formats of OpenAI and of Anthropic. */
export type ModelServer = {
  /** What leads the clients of both to it. */
  env: Record<string, string>;
  [Symbol.dispose](): void;
};

type Event = { type: string; [member: string]: unknown };

const model = "stand-in";

/** The chunks of Chat Completions. */
function chatChunks(words: readonly string[]): object[] {
  const chunk = (delta: object, finish_reason: string | null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_763_643_960,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: "assistant", content: "" }, null),
    ...words.map((content) => chunk({ content }, null)),
    chunk({}, "stop"),
  ];
}

/** The events of the Responses API. */
function responseEvents(words: readonly string[]): Event[] {
  const text = words.join("");
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] };
  const response = { id: "resp_1", object: "response", created_at: 1_763_643_960, model, service_tier: "default" };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** The events of Anthropic's messages. */
function messageEvents(words: readonly string[]): Event[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, usage };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

/** Server-sent events; each is named by its type, if it has one. */
function answerWith(events: readonly (object & { type?: string })[], end = ""): Response {
  const named = events.map((data) => `${data.type ? `event: ${data.type}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
  return new Response(named.join("") + end, { headers: { "Content-Type": "text/event-stream" } });
}

/** Starts the stand-in. With `breaksOff`, each answer of the Responses API ends with an error after its words. */
export function startModelServer(words: readonly string[], { breaksOff = false } = {}): ModelServer {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/v1/chat/completions": () => answerWith(chatChunks(words), "data: [DONE]\n\n"),
      "/v1/responses": () => {
        const events = responseEvents(words);
        if (!breaksOff) return answerWith(events);
        const error = { type: "error", code: "server_error", message: "the model has failed", param: null };
        return answerWith([...events.slice(0, 3 + words.length), { ...error, sequence_number: 9 }]);
      },
      "/v1/messages": () => answerWith(messageEvents(words)),
    },
  });
  const address = server.url.origin;
  return {
    env: {
      OPENAI_BASE_URL: `${address}/v1`,
      OPENAI_API_KEY: "none",
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: "none",
      MODEL: model,
      LANGSMITH_TRACING: "false",
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
