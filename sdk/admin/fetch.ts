/** The part of `fetch` that the admin client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
