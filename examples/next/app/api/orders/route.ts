import { HeraldApiError } from "@herald/sdk/admin";
import { herald } from "../../../lib/herald";
import { currentUser } from "../../../lib/session";

/** Places an order, and tells the conversation about it once, however often this is called for the same order. */
export async function POST(request: Request): Promise<Response> {
  const user = await currentUser();
  if (user === undefined) return Response.json({ error: "log in first" }, { status: 401 });
  const body: unknown = await request.json().catch(() => undefined);
  const order = typeof body === "object" && body !== null && "order" in body ? body.order : undefined;
  if (typeof order !== "string" || !/^[\w-]{1,64}$/.test(order))
    return Response.json({ error: "an order has an `order`: 1 to 64 letters and digits" }, { status: 400 });
  // Store the order here, first. The id is composed of it, so the same request again sends nothing twice.
  try {
    const { ask } = await herald.sendMessage({
      organizationId: "demo",
      senderId: user,
      message: {
        id: `order-placed:${user}:${order}`,
        cid: "welcome",
        body: `${user} has placed order ${order}.`,
        x: { order },
      },
    });
    return Response.json({ order, message: ask.server_mid }, { status: 201 });
  } catch (error) {
    if (!(error instanceof HeraldApiError)) throw error;
    console.error(error.message, error.requestId ?? "");
    const isTemporary = error.status === 0 || error.status === 429 || error.status >= 500;
    if (!isTemporary) return Response.json({ error: "the message could not be sent" }, { status: 500 });
    return Response.json({ error: "try again with the same order" }, { status: 503, headers: { "Retry-After": "5" } });
  }
}
