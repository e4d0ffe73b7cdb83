/** Server-sent events out of bytes that arrive in pieces. Comments and unknown fields are left out. */

export type Frame = { id: string; event: string; data: string };

export class FrameParser {
  private rest = "";
  private frame: Frame = { id: "", event: "message", data: "" };

  /** The frames that are complete with this piece. */
  push(piece: string): Frame[] {
    const lines = (this.rest + piece).split(/\r\n|\n/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line));
  }

  private line(line: string): Frame[] {
    if (line === "") {
      const done = this.frame;
      this.frame = { id: "", event: "message", data: "" };
      return done.data ? [done] : [];
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") this.frame.data += (this.frame.data && "\n") + (value ?? "");
    else if (field === "id" || field === "event") this.frame[field] = value ?? "";
    return [];
  }
}

/** The frames of a response, as they come. `heard` is called for every piece, also for one that is a comment only. */
export async function* frames(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Frame[]> {
  const parser = new FrameParser();
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const complete = parser.push(value);
      if (complete.length > 0) yield complete;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
