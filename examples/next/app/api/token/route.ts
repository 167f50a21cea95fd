import { herald } from "../../../lib/herald";
import { currentUser } from "../../../lib/session";

/** A token for the browser of who is logged in. The client asks for a fresh one before it expires. */
export async function POST(): Promise<Response> {
  const user = await currentUser();
  if (user === undefined) return Response.json({ error: "log in first" }, { status: 401 });
  const { token } = await herald.createToken("demo", user, { ttl_seconds: 600 });
  return Response.json({ token });
}
