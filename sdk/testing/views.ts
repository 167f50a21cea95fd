import type { View } from "../views/view.ts";
import type { FakeSocket } from "./fake-server.ts";

/** Waits until the snapshot of a view is as expected. */
export function until<Snapshot>(view: View<Snapshot>, isSo: (snapshot: Snapshot) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!isSo(view.getSnapshot())) return;
      leave();
      resolve();
    };
    const leave = view.subscribe(check);
    queueMicrotask(check);
  });
}

/** Answers the next requests, by their names. */
export async function answer(socket: FakeSocket, answers: Record<string, Record<string, unknown>>) {
  const parameters: Record<string, Record<string, unknown>> = {};
  for (let left = Object.keys(answers).length; left > 0; left -= 1) {
    const request = await socket.requests.next();
    parameters[request.name] = request.parameters;
    socket.answer(request, answers[request.name] ?? { error: { status: 400, code: "bad_request", message: "?" } });
  }
  return parameters;
}
