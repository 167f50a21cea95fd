import { Time } from "./time.tsx";

type Send = { silent?: true; keep_days?: number; key?: string; expires_at?: string };

/** How a send differs from others, after its other facts: silent, kept in inboxes, with a key, until when. */
export function Manner({ of }: { of: Send }) {
  const { silent, keep_days, key, expires_at } = of;
  return (
    <>
      {silent && " · silent"}
      {keep_days !== undefined && ` · kept for ${keep_days === 1 ? "1 day" : `${keep_days} days`}`}
      {key !== undefined && (
        <>
          {" · key "}
          <code>{key}</code>
        </>
      )}
      {expires_at !== undefined && (
        <>
          {" · expires "}
          <Time at={expires_at} />
        </>
      )}
    </>
  );
}
