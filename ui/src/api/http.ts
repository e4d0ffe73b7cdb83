/** Requests to the server this page came from. Errors are those of the server: a code, and a sentence for people. */

import { keyHeaders, refuse } from "./key";

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

const AWAY = "The server does not answer. Its runs continue; try again in a moment.";

export async function send(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = { Accept: "application/json", ...keyHeaders(), ...(options.headers as Record<string, string>) };
  let response: Response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "away", AWAY);
  }
  if (response.ok) return response;
  if (response.status === 401) {
    refuse();
    throw new Problem(401, "key_required", "Sign in to see this.");
  }
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  const told = await response.json().catch(() => ({}));
  const errors: string[] = (told.errors ?? []).map((error: { what: string }) => error.what);
  const detail = [told.detail ?? `The server answered ${response.status}.`, ...errors].join(" ");
  return new Problem(response.status, told.code ?? "unknown", detail);
}

export async function get<T>(path: string, query: Record<string, string | number | undefined> = {}): Promise<T> {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  return (await send(path + search)).json() as Promise<T>;
}

/**
 * A request that changes something. A request that creates an object has an idempotency key, so a repetition creates
 * nothing.
 */
export async function change<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = method === "POST" ? { "Idempotency-Key": newKey() } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** 128 random bits. Not `randomUUID`, which browsers have on https and localhost only. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");

export const part = encodeURIComponent;

/** What to tell a person about an error. */
export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the server said that there is no such thing, or no longer. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Problem && (error.status === 404 || error.status === 410);
