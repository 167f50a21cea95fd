import { connection } from "next/server";
import { heraldUrl } from "../lib/herald";
import { Inbox } from "./inbox";

export default async function Page() {
  await connection(); // the address is that of the running server, and not that of the build
  return <Inbox url={heraldUrl} />;
}
