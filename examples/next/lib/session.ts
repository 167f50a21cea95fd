/** Who is logged in. Read this from your session; here, everyone is Bob. */
export async function currentUser(): Promise<string | undefined> {
  return "bob";
}
