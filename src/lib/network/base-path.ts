/**
 * The path of a request to a server that is reached below `basePath`: without it, whether the proxy in front removed it or not.
 * Never empty.
 */
export function pathBelow(basePath: string, path: string): string {
  if (!path.startsWith(basePath)) return path;
  const rest = path.slice(basePath.length);
  if (rest === "") return "/";
  return rest.startsWith("/") ? rest : path;
}
