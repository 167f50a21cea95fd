import { useEffect, useState } from "preact/hooks";
import { HeraldApiError } from "../../../sdk/errors.ts";
import type { FileDescription, Message } from "../../../sdk/types.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import { useAction, useLoading } from "../../state/loading.ts";
import { isPicture } from "../files/kinds.ts";
import { saveFrom } from "../files/save.ts";
import { formatBytes } from "../format-bytes.ts";

type Attachment = Message["attachments"][number];

/** Larger pictures are drawn when somebody asks for them. */
const drawnAtOnceBytes = 2_000_000;
const saveTakesMs = 60_000;

/** The files of a message: small pictures as pictures, and all of them to download. */
export function AttachedFiles({ attachments }: { attachments: readonly Attachment[] }) {
  return (
    <ul class="attached" aria-label="Files">
      {attachments.map((attachment) => (
        <li key={attachment.file_id}>
          <AttachedFile attachment={attachment} />
        </li>
      ))}
    </ul>
  );
}

function AttachedFile({ attachment: { file_id: id, file_name: name } }: { attachment: Attachment }) {
  const { client } = useConsole();
  const org = useOrganization();
  const { value: file, error, reload } = useLoading(() => client.getFile(org, id), [org, id]);
  if (error !== undefined)
    return (
      <Absent
        name={name}
        what={isMissing(error) ? "was removed" : "cannot be read"}
        onAgain={isMissing(error) ? undefined : reload}
      />
    );
  if (file === undefined) return <p class="fine">{name} …</p>;
  if (file.sha256 === null) return <Absent name={name} what="is announced, but not uploaded yet" onAgain={reload} />;
  return <Kept file={file} name={name} />;
}

function Absent({ name, what, onAgain }: { name: string; what: string; onAgain: (() => void) | undefined }) {
  return (
    <p class="fine">
      <strong>{name}</strong> {what}.{" "}
      {onAgain !== undefined && (
        <button type="button" class="link" onClick={onAgain}>
          Look again<span class="visually-hidden"> for {name}</span>
        </button>
      )}
    </p>
  );
}

/** A file with bytes. The key travels in a header, so the page fetches them itself. */
function Kept({ file, name }: { file: FileDescription; name: string }) {
  const { client } = useConsole();
  const { file_id: id, size, content_type: type } = file;
  const isDrawable = isPicture(type);
  const [wantsPicture, setWantsPicture] = useState(size <= drawnAtOnceBytes);
  const fetchBytes = async () => new Blob([await (await client.download(id)).blob()], { type });
  const picture = useLoading(
    async () => (isDrawable && wantsPicture ? await fetchBytes() : undefined),
    [id, wantsPicture],
  );
  const save = useAction(async () => {
    const url = URL.createObjectURL(await fetchBytes());
    saveFrom(url, name);
    setTimeout(() => URL.revokeObjectURL(url), saveTakesMs);
  });
  const fault = save.error ?? picture.error;
  return (
    <>
      {picture.value !== undefined && <Picture bytes={picture.value} name={name} />}
      <p class="fine together">
        <span>
          <strong>{name}</strong> {formatBytes(size)} · {type}
        </span>
        {isDrawable && !wantsPicture && (
          <button type="button" class="small" onClick={() => setWantsPicture(true)}>
            Show<span class="visually-hidden"> {name}</span>
          </button>
        )}
        <button type="button" class="small" disabled={save.isBusy} onClick={() => save.run()}>
          {save.isBusy ? "Downloading…" : "Download"}
          <span class="visually-hidden"> {name}</span>
        </button>
      </p>
      {fault !== undefined && (
        <p class="field-error" role="alert">
          {isMissing(fault) ? "The file was removed." : "The file could not be downloaded."}
        </p>
      )}
    </>
  );
}

function Picture({ bytes, name }: { bytes: Blob; name: string }) {
  const [url, setUrl] = useState<string>();
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(bytes);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  if (isBroken) return null; // its type was the uploader's word
  return url === undefined ? null : <img src={url} alt={name} onError={() => setIsBroken(true)} />;
}

function isMissing(error: unknown): boolean {
  return error instanceof HeraldApiError && error.code === "file_not_found";
}
