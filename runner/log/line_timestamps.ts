/** Writes time and stream before each line of a log, in the format of gitlab-runner's `FF_TIMESTAMPS`. */

/** The runner's own lines, and the output of scripts. */
export type LogStream = 'runner' | 'script';

/** Number of the stream, and `O` for standard output: both outputs of a script arrive as one. */
const streamMarks: Record<LogStream, string> = { runner: '00O', script: '01O' };

const newline = 0x0a;
const lineEnd = Buffer.from([newline]);

/** Returns the chunk with a prefix before each line that begins in it. */
export type Timestamper = (chunk: Buffer, stream: LogStream) => Buffer;

/** @param now milliseconds since 1970 */
export const makeTimestamper = (now: () => number): Timestamper => {
  let current: LogStream = 'runner';
  let isLineStart = true;

  /** `2026-11-27T09:42:57.123000Z 00O `; `+` in place of the last space continues the line before. */
  const prefix = (flag: ' ' | '+'): Buffer =>
    Buffer.from(`${new Date(now()).toISOString().slice(0, -1)}000Z ${streamMarks[current]}${flag}`);

  return (chunk, stream) => {
    if (chunk.length === 0) return chunk;
    const parts: Buffer[] = [];
    const isSwitch = stream !== current && !isLineStart;
    current = stream;
    if (isSwitch) parts.push(lineEnd, prefix('+'));
    for (let from = 0; from < chunk.length;) {
      const at = chunk.indexOf(newline, from);
      const end = at === -1 ? chunk.length : at + 1;
      if (isLineStart) parts.push(prefix(' '));
      parts.push(chunk.subarray(from, end));
      isLineStart = at !== -1;
      from = end;
    }
    return Buffer.concat(parts);
  };
};

/** Parses a feature flag as gitlab-runner does. */
export const isFlagOn = (value: string | undefined): boolean => /^(?:1|t|true)$/i.test(value ?? '');
