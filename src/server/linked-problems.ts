import type { Handlers } from "./listen.ts";

const start = '{"type":"';

/** Makes the errors of a server that is reached below `basePath` link to the documentation there. */
export function linkProblems(handlers: Handlers, basePath: string): Handlers {
  if (basePath === "") return handlers;
  return {
    ...handlers,
    upgrade: async (...call) => await link(await handlers.upgrade(...call), basePath),
    stream: async (...call) => await link(await handlers.stream(...call), basePath),
    handle: async (...call) => await link(await handlers.handle(...call), basePath),
  };
}

async function link<Answer extends Response | undefined>(answer: Answer, basePath: string): Promise<Answer | Response> {
  if (answer?.headers.get("Content-Type") !== "application/problem+json") return answer;
  const { status, headers } = answer;
  const length = headers.get("Content-Length"); // which HEAD has without a body
  if (length !== null) headers.set("Content-Length", String(Number(length) + basePath.length));
  const text = await answer.text();
  return new Response(text === "" ? null : text.replace(start, start + basePath), { status, headers });
}
