/** Files as a list: pictures with a preview, and a button that saves each. The bytes are read with the API key. */

import { useEffect, useState } from "preact/hooks";
import { Failure } from "../../frame/failure";
import { useDoing } from "../../state/requests";
import { isPicture, weight, type FileRef } from "./files";
import { download, save } from "./transfer";

export function FileList({ files }: { files: readonly FileRef[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label="Files">
      {files.map((file) => (
        <li key={file.file_id}>
          <FileCard file={file} />
        </li>
      ))}
    </ul>
  );
}

function FileCard({ file }: { file: FileRef }) {
  const { isBusy, failure, start } = useDoing();
  return (
    <>
      {isPicture(file) && <Picture file={file} />}
      <button
        type="button"
        class="quiet small"
        aria-label={`Save ${file.name}`}
        disabled={isBusy}
        onClick={() => start(async () => save(await download(file.file_id), file.name))}
      >
        {file.name} <span class="faint">{weight(file.size)}</span>
      </button>
      <Failure text={failure} />
    </>
  );
}

/** A picture. It is read when it is first shown, and let go with the element. */
export function Picture({ file }: { file: FileRef }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let made: string | undefined;
    let isGone = false;
    download(file.file_id).then(
      (blob) => {
        if (!isGone) setAddress((made = URL.createObjectURL(blob)));
      },
      () => undefined, // the button below tells why
    );
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [file.file_id]);
  return address ? <img src={address} alt={file.name} /> : <span class="placeholder" aria-hidden="true" />;
}
