/** The bytes of files: to the server, and from it. */

import { part, send } from "../../api/http";
import type { FileRef } from "./files";

type Row = { file_id: string; name: string; type: string; size: number };

/** Upload a file of this machine. */
export async function upload(file: File): Promise<FileRef> {
  const response = await send(`/api/files?name=${part(file.name || "file")}`, {
    method: "POST",
    headers: { "Content-Type": file.type || "application/octet-stream" },
    body: file,
  });
  const { file_id, name, type, size } = (await response.json()) as Row;
  return { file_id, name, media_type: type, size };
}

export const download = async (id: string): Promise<Blob> => (await send(`/api/files/${part(id)}`)).blob();

/** Let the browser save bytes as a file. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
