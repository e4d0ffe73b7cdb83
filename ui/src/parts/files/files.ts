/** Files of messages and results, as the log refers to them. Pure. */

import type { Json } from "../../log/events";
import { isPlain } from "../text/words";

/** A file as the log names it. */
export type FileRef = { file_id: string; name: string; media_type: string; size: number };

/** The types that a browser shows without running anything. */
const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const isPicture = (file: FileRef): boolean => SHOWN.has(file.media_type);

/** The files that a value refers to, wherever they stand in it. */
export function filesIn(value: Json | undefined): FileRef[] {
  if (Array.isArray(value)) return value.flatMap(filesIn);
  if (value === undefined || !isPlain(value)) return [];
  const { type, file_id, name, media_type, size } = value;
  if ((type === "file" || type === "image") && typeof file_id === "string")
    return [{ file_id, name: String(name ?? "file"), media_type: String(media_type ?? ""), size: Number(size ?? 0) }];
  return Object.values(value).flatMap(filesIn);
}

/** The size of a file in words. */
export function weight(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}
