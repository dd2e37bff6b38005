/** Writes the log of a job to a file. Masks secrets and limits the size. */
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { type LogStream, type Timestamper, makeTimestamper } from './line_timestamps.ts';
import { makeMasker } from './mask_secrets.ts';
import { type Output, makeOutput } from './script_output.ts';

export type JobLog = {
  /** Creates the filter for the output of one script. */
  output: () => Output;
  /** Writes one line of the runner's own. */
  say: (line: string, color?: Color) => void;
  /** Runs `work` and puts all output of that time into one foldable section. */
  section: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  size: () => number;
  crc: () => number;
  read: (offset: number, most: number) => Buffer;
  /** Writes the bytes that the masker still holds. Call it after the last output. */
  end: () => void;
  close: () => void;
};

export type Color = 'plain' | 'green' | 'yellow' | 'red' | 'blue';

const codes: Record<Color, string> = {
  plain: '',
  green: '\u001B[32;1m',
  yellow: '\u001B[0;33m',
  red: '\u001B[31;1m',
  blue: '\u001B[0K\u001B[36;1m',
};
const reset = '\u001B[0;m';
const erase = '\r\u001B[0K';

export type TraceParts = {
  file: string;
  secrets: readonly string[];
  prefixes?: readonly string[] | undefined;
  /** Largest size in bytes. */
  limit: number;
  /** Write time and stream before each line. */
  hasTimestamps: boolean;
  /** Called after each write. */
  onGrowth?: () => void;
};

const makeStamp = (hasTimestamps: boolean): Timestamper =>
  hasTimestamps ? makeTimestamper(Date.now) : (chunk) => chunk;

/** Creates or empties the log file. */
export const openJobLog = (parts: TraceParts): JobLog => {
  const { file, secrets, prefixes, limit, hasTimestamps, onGrowth } = parts;
  const stamp = makeStamp(hasTimestamps);
  const descriptor = openSync(file, 'w+', 0o600);
  const masker = makeMasker(secrets, prefixes);
  let size = 0;
  let crc = 0;
  let isFull = false;

  const append = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    writeSync(descriptor, bytes, 0, bytes.length, size);
    crc = crc32(bytes, crc);
    size += bytes.length;
    onGrowth?.();
  };
  /** Appends up to the size limit. At the limit, cuts the output and adds a notice. */
  const appendLimited = (bytes: Buffer): void => {
    if (isFull) return;
    if (size + bytes.length <= limit) return append(bytes);
    append(bytes.subarray(0, limit - size));
    isFull = true;
    const text = `Job's log exceeded limit of ${limit} bytes.`;
    const notice = `${codes.red}${text}\nJob execution will continue but no more output will be collected.${reset}\n`;
    append(Buffer.from('\n'));
    append(makeStamp(hasTimestamps)(Buffer.from(notice), 'runner'));
  };
  const write = (chunk: Buffer, stream: LogStream = 'runner'): void => {
    if (!isFull) appendLimited(stamp(masker.feed(chunk), stream));
  };
  const seconds = (): number => Math.floor(Date.now() / 1000);
  return {
    output: () => makeOutput((bytes) => write(bytes, 'script')),
    say: (line, color = 'plain') =>
      write(Buffer.from(`${codes[color]}${line}${color === 'plain' ? '' : reset}\n`)),
    section: async (name, work) => {
      write(Buffer.from(`section_start:${seconds()}:${name}${erase}`));
      try {
        return await work();
      } finally {
        write(Buffer.from(`section_end:${seconds()}:${name}${erase}`));
      }
    },
    size: () => size,
    crc: () => crc,
    read: (offset, most) => {
      const bytes = Buffer.alloc(Math.max(0, Math.min(most, size - offset)));
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset));
    },
    end: () => {
      appendLimited(stamp(masker.end(), 'runner'));
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
};
