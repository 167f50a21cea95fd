/** The name under which an address takes turns with organizations, whose ids contain no line feed. */
export const addressName = (address: string) => `\n${address}`;
